#include <zveno/run/hexapod_opcount.hpp>

#include <stdexcept>

#include <zveno/run/hexapod_system.hpp>

namespace zveno {
namespace {

// the numbers do not matter: kernels do not look at them
const Counted kState[24] = {0.4, 0.1, 0.2, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0,
                            0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};

template <class S, bool kFree, class B>
void count_leg(const double* params, const B& base) {
  const auto ring = make_ring<Counted>(kState, kState + 3, kState + 12, base);
  Counted share[leg::kFreeShare], measure[4];
  leg::Outcome<Counted> out;
  Counted::reset();
  const leg::Evaluation<S, Counted, decltype(ring)> evaluation{{params}, ring};
  alignas(leg::Held<S, Counted>) unsigned char memory[sizeof(leg::Held<S, Counted>)];
  auto& held = *reinterpret_cast<leg::Held<S, Counted>*>(memory);
  const auto flow = evaluation.template first<kFree>(kState, share, measure, held);
  if constexpr (kFree)
    leg::second({params}, held, flow, kState, out,
                leg::Motion{Vec3T<Counted>{1.0, 1.0, 1.0}, Vec3T<Counted>{1.0, 1.0, 1.0}});
  else
    leg::second({params}, held, flow, kState, out);
}

template <LegType kType>
void count_type(const double* params, bool lean, bool moving, bool free) {
  using Lean = leg::Structure<kType, true>;
  using Full = leg::Structure<kType, false>;
  const MovingBase<Counted> base{{1.0, 1.0, 1.0}, {1.0, 1.0, 1.0}, {1.0, 1.0, 1.0}};
  if (free) return count_leg<Full, true>(params, base);
  if (moving) return lean ? count_leg<Lean, false>(params, base) : count_leg<Full, false>(params, base);
  return lean ? count_leg<Lean, false>(params, StillBase()) : count_leg<Full, false>(params, StillBase());
}

template <class B>
void count_ring(const Hexapod& hexapod, const B& base) {
  State<Counted> s{};
  Sums<Counted> sums{};
  Counted share[kLegs][leg::kFixedShare + 6], x[6];
  for (auto& row : share)
    for (Counted& a : row) a = 1.0;
  Counted::reset();
  enter_stage<Counted>(Stage::ring);
  const auto ring = make_ring<Counted>(kState, kState + 3, kState + 12, base);
  // sums over the legs, loads on the base among them
  for (int k = 1; k < kLegs; ++k)
    for (int i = 0; i < leg::kFixedShare + 6; ++i) share[0][i] += share[k][i];
  HexJob job;
  job.hexapod = &hexapod;
  job.function = HexFunction::forward_dynamics;
  accelerations(job, s, ring, sums, x);
  ring.R.undo(Vec3T<Counted>{x[3], x[4], x[5]});
}

}  // namespace

std::vector<std::pair<const char*, Counts>> count_leg_operations(const Hexapod& hexapod, int leg, bool moving, bool free) {
  if (leg >= kLegs || leg < -1) throw std::out_of_range("leg " + std::to_string(leg) + ", expected 0 to 5");
  const auto stage = [](Stage s) { return Counted::stages()[static_cast<int>(s)]; };
  if (leg < 0) {
    const MovingBase<Counted> base{{1.0, 1.0, 1.0}, {1.0, 1.0, 1.0}, {1.0, 1.0, 1.0}};
    if (moving || free)
      count_ring(hexapod, base);
    else
      count_ring(hexapod, StillBase());
    return {{"ring", stage(Stage::ring)}, {"solve", stage(Stage::solve)}};
  }
  for (const LegGroup& g : hexapod.groups())
    for (int k = 0; k < g.count; ++k) {
      if (g.legs[k] != leg) continue;
      const double* p = g.params.number + k;
      switch (g.type) {
        case LegType::spu: count_type<LegType::spu>(p, g.lean, moving, free); break;
        case LegType::ucu: count_type<LegType::ucu>(p, g.lean, moving, free); break;
        case LegType::rus: count_type<LegType::rus>(p, g.lean, moving, free); break;
        case LegType::rsu: count_type<LegType::rsu>(p, g.lean, moving, free); break;
        default: count_type<LegType::ups>(p, g.lean, moving, free);
      }
    }
  if (hexapod.leg(leg).type == LegType::custom)
    throw std::invalid_argument("leg '" + hexapod.leg(leg).name + "' is closed by iteration: its operations are not fixed");
  return {{"closure", stage(Stage::closure)},  {"jacobian", stage(Stage::jacobian)}, {"drift", stage(Stage::drift)},
          {"inertia", stage(Stage::inertia)},  {"bias", stage(Stage::bias)},         {"reduction", stage(Stage::reduction)},
          {"reaction", stage(Stage::reaction)}};
}

}  // namespace zveno
