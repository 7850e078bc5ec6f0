// Definitions, for the files that instantiate them.
#pragma once

#include <new>

#include <zveno/inst/legs.hpp>

namespace zveno {

struct StillRing {
  ZVENO_INLINE auto operator()(const Packed* in) const { return make_ring<Packed>(in, in + 3, in + 12, StillBase()); }
};

struct MovingRing {
  ZVENO_INLINE auto operator()(const Packed* in) const {
    const Packed* b = in + 18;
    const MovingBase<Packed> base{{b[0], b[1], b[2]}, {b[3], b[4], b[5]}, {b[6], b[7], b[8]}};
    return make_ring<Packed>(in, in + 3, in + 12, base);
  }
};

template <class S, class MakeRing, bool kFree>
struct LegCode {
  using Of = leg::Evaluation<S, Packed, decltype(MakeRing()(nullptr))>;
  using Flow = decltype(std::declval<const Of&>().template first<kFree>(nullptr, nullptr, nullptr,
                                                                        std::declval<leg::Held<S, Packed>&>()));
  struct Held {
    leg::Held<S, Packed> own;
    Flow flow;
  };

  static void first(const double* params, const Packed* input, const Packed* tau, void* memory, Packed* share,
                    Packed* measure) {
    // made again for every leg: cheaper than reading it back when the legs are in lanes
    const auto ring = MakeRing()(input);
    const Of evaluation{{params}, ring};
    Held& held = *static_cast<Held*>(memory);
    ::new (&held.flow) Flow(evaluation.template first<kFree>(tau, share, measure, held.own));
  }
  static void second(const double* params, const void* memory, const Packed* x, leg::Outcome<Packed>& out) {
    const Held& h = *static_cast<const Held*>(memory);
    if constexpr (kFree)
      leg::second({params}, h.own, h.flow, x + 6, out,
                  leg::Motion{Vec3T<Packed>{x[0], x[1], x[2]}, Vec3T<Packed>{x[3], x[4], x[5]}});
    else
      leg::second({params}, h.own, h.flow, x, out);
  }
  static LegCalls calls() { return {&first, &second, sizeof(Held)}; }
};

template <LegType kType>
LegCalls leg_calls(bool lean, BaseKind base) {
  using Lean = leg::Structure<kType, true>;
  using Full = leg::Structure<kType, false>;
  if (base == BaseKind::free) return LegCode<Full, MovingRing, true>::calls();
  if (base == BaseKind::moving)
    return lean ? LegCode<Lean, MovingRing, false>::calls() : LegCode<Full, MovingRing, false>::calls();
  return lean ? LegCode<Lean, StillRing, false>::calls() : LegCode<Full, StillRing, false>::calls();
}

template <LegType kType>
void leg_kinematics(const double* params, const Packed* input, Packed* position, Packed* rate, Packed* row,
                    Packed* measure) {
  const auto ring = StillRing()(input);
  using S = leg::Structure<kType, false>;
  leg::Evaluation<S, Packed, decltype(StillRing()(input))>{{params}, ring}.kinematics(position, rate, row, measure);
}

}  // namespace zveno
