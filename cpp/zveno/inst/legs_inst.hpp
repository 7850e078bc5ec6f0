// Definitions, for the files that instantiate them.
#pragma once

#include <new>

#include <zveno/inst/legs.hpp>

namespace zveno {

template <class S, class R, bool kFree>
struct LegCode {
  using Of = leg::Evaluation<S, Packed, R>;
  using Held = decltype(std::declval<const Of&>().template first<kFree>(nullptr, nullptr, nullptr));

  static void first(const double* params, const void* ring, const Packed* tau, void* held, Packed* share, Packed* measure) {
    const Of evaluation{{params}, *static_cast<const R*>(ring)};
    ::new (held) Held(evaluation.template first<kFree>(tau, share, measure));
  }
  static void second(const double* params, const void* held, const Packed* x, leg::Outcome<Packed>& out) {
    const Held& h = *static_cast<const Held*>(held);
    if constexpr (kFree)
      leg::second({params}, h, x + 6, out, leg::Motion{Vec3T<Packed>{x[0], x[1], x[2]}, Vec3T<Packed>{x[3], x[4], x[5]}});
    else
      leg::second({params}, h, x, out);
  }
  static LegCalls calls() { return {&first, &second, sizeof(Held)}; }
};

template <LegType kType>
LegCalls leg_calls(bool lean, BaseKind base) {
  using Lean = leg::Structure<kType, true>;
  using Full = leg::Structure<kType, false>;
  if (base == BaseKind::free) return LegCode<Full, MovingRing<Packed>, true>::calls();
  if (base == BaseKind::moving)
    return lean ? LegCode<Lean, MovingRing<Packed>, false>::calls() : LegCode<Full, MovingRing<Packed>, false>::calls();
  return lean ? LegCode<Lean, StillRing<Packed>, false>::calls() : LegCode<Full, StillRing<Packed>, false>::calls();
}

template <LegType kType>
void leg_kinematics(const double* params, const StillRing<Packed>& ring, Packed* position, Packed* rate, Packed* row,
                    Packed* measure) {
  using S = leg::Structure<kType, false>;
  leg::Evaluation<S, Packed, StillRing<Packed>>{{params}, ring}.kinematics(position, rate, row, measure);
}

}  // namespace zveno
