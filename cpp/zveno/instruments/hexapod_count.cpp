#include <zveno/instruments/count.hpp>

#include <memory>
#include <stdexcept>

#include <zveno/functions/hexapod_evaluation.hpp>

namespace zveno {
namespace {

// the numbers do not matter: kernels do not look at them
const Counted kState[24] = {0.4, 0.1, 0.2, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0,
                            0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};

void count_leg(const LegGroup& group, int k, BaseKind base) {
  const LegFunctions<Counted> calls = calls_of<Counted>(group.type, group.symmetric, base);
  Counted input[kInput], share[leg::kFreeShare], measure[4], x[12];
  for (int i = 0; i < kInput; ++i) input[i] = i < 24 ? kState[i] : Counted(1.0);
  for (Counted& a : x) a = 1.0;
  leg::Outcome<Counted> out;
  const std::unique_ptr<CacheLine[]> held = std::make_unique<CacheLine[]>(calls.lines);
  Counted::reset();
  calls.first(group.params.number + k, input, held.get(), share, measure, nullptr);
  calls.drive(kState, held.get(), share + leg::kRight, false);
  calls.second(group.params.number + k, held.get(), x, out.places(), true);
}

template <class B>
void count_ring(const Hexapod& hexapod, const B& base) {
  HexState<Counted> s{};
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
  ring.R.undo(AnyVec<Counted>{x[3], x[4], x[5]});
}

}  // namespace

std::vector<StageCounts> count_operations(const Hexapod& hexapod, int leg, bool moving, bool free) {
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
      count_leg(g, k, free ? BaseKind::free : moving ? BaseKind::moving : BaseKind::still);
    }
  if (hexapod.leg(leg).type == LegType::custom)
    throw std::invalid_argument("leg '" + hexapod.leg(leg).name + "' is closed by iteration: its operations are not fixed");
  return {{"closure", stage(Stage::closure)},  {"jacobian", stage(Stage::jacobian)}, {"drift", stage(Stage::drift)},
          {"inertia", stage(Stage::inertia)},  {"bias", stage(Stage::bias)},         {"reduction", stage(Stage::reduction)},
          {"reaction", stage(Stage::reaction)}};
}

}  // namespace zveno
