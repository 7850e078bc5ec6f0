// Definitions, for the files that instantiate them.
#pragma once

#include <new>

#include <zveno/functions/legs.hpp>
#include <zveno/kernel/leg/leg.hpp>

namespace zveno {

template <class T>
struct StillRing {
  ZVENO_INLINE auto operator()(const T* in) const { return make_ring<T>(in, in + 3, in + 12, StillBase()); }
};

template <class T>
struct MovingRing {
  ZVENO_INLINE auto operator()(const T* in) const { return make_ring<T>(in, in + 3, in + 12, moving_base(in + 18)); }
};

template <class T, class S, class MakeRing, bool kFree>
struct LegCode {
  using Of = leg::LegEvaluation<S, T, decltype(MakeRing()(nullptr))>;
  using Own = leg::FirstHalf<S, T>;
  using Closing = leg::Closing<T, S::kSymmetric>;
  using Flow = decltype(std::declval<const Of&>().template first<kFree>(nullptr, nullptr, std::declval<Own&>()));
  struct Still {};
  struct Placed {
    T inertia[Of::kInertiaNumbers];
    Closing closing;
    T column[4][6];
  };
  struct Memory {
    Flow flow;
    Own own;
    std::conditional_t<kFree && std::is_same_v<T, Packed>, Placed, Still> placed;
  };

  static constexpr std::size_t kLines = (sizeof(Memory) + sizeof(CacheLine) - 1) / sizeof(CacheLine);

  static constexpr bool kSteps = kFree && std::is_same_v<T, Packed>;

  // the ring is made again for every leg: cheaper than reading it back when the legs are in lanes
  static void first(const double* params, const T* input, void* memory, T* share, T* measure, T* sum) {
    const auto ring = MakeRing()(input);
    const Of evaluation{{params}, ring};
    Memory& held = *static_cast<Memory*>(memory);
    ::new (&held.flow) Flow(evaluation.template first<kFree>(share, measure, held.own, sum));
  }
  template <class Bodies>
  ZVENO_APART static void place(const double* params, const T* input, void* memory, T* share, T* measure) {
    const auto ring = MakeRing()(input);
    const Of evaluation{{params}, ring};
    Memory& held = *static_cast<Memory*>(memory);
    auto& to = held.placed;
    Of::keep(evaluation.template place<Bodies>(share, measure, held.own, to.closing, to.column), to.inertia);
  }
  ZVENO_APART static void move(const double* params, const T* input, void* memory, T* share) {
    const auto ring = MakeRing()(input);
    const Of evaluation{{params}, ring};
    Memory& held = *static_cast<Memory*>(memory);
    const auto& from = held.placed;
    ::new (&held.flow) Flow(evaluation.move(Of::kept_inertia(from.inertia), from.closing, from.column, held.own, share));
  }
  static void driven(const void* memory, T& position, T* rate) {
    leg::driven(static_cast<const Memory*>(memory)->own, position, rate);
  }
  static void drive(const T* tau, void* memory, T* right, bool add) {
    leg::drive(tau, static_cast<Memory*>(memory)->own, right, add);
  }
  static void second(const double* params, const void* memory, const T* x, const leg::Places<T>& out, bool coordinates) {
    const Memory& h = *static_cast<const Memory*>(memory);
    if constexpr (kFree)
      leg::second({params}, h.own, h.flow, x + 6, out, coordinates,
                  leg::Motion{AnyVec<T>{x[0], x[1], x[2]}, AnyVec<T>{x[3], x[4], x[5]}});
    else
      leg::second({params}, h.own, h.flow, x, out, coordinates);
  }
  static void momenta(const double* params, const void* memory, T* out) {
    leg::momenta({params}, static_cast<const Memory*>(memory)->own, out);
  }
  static void coordinates(const void* memory, T* position) {
    static_cast<const Memory*>(memory)->own.pose.coordinates(position);
  }
  // Bodies: symmetric ones, if they are
  template <class Bodies = S>
  static LegFunctions<T> calls() {
    if constexpr (!kFree && std::is_same_v<T, Packed>)
      return {&first, nullptr, nullptr, &driven, &drive, &second, &momenta, &coordinates, kLines};
    else if constexpr (kSteps)
      return {&first, &place<Bodies>, &move, &driven, &drive, &second, nullptr, nullptr, kLines};
    else
      return {&first, nullptr, nullptr, &driven, &drive, &second, nullptr, nullptr, kLines};
  }
};

template <LegType kType, class T>
LegFunctions<T> leg_calls(bool symmetric, BaseKind base) {
  using Symmetric = leg::Structure<kType, true>;
  using Full = leg::Structure<kType, false>;
  using Still = StillRing<T>;
  using Moving = MovingRing<T>;
  if (base == BaseKind::free) {
    using Free = LegCode<T, Full, Moving, true>;
    return symmetric ? Free::template calls<Symmetric>() : Free::calls();
  }
  if (base == BaseKind::moving)
    return symmetric ? LegCode<T, Symmetric, Moving, false>::calls() : LegCode<T, Full, Moving, false>::calls();
  return symmetric ? LegCode<T, Symmetric, Still, false>::calls() : LegCode<T, Full, Still, false>::calls();
}

template <LegType kType, class T>
void leg_kinematics(const double* params, const T* input, T* position, T* rate, T* row, T* measure) {
  const auto ring = StillRing<T>()(input);
  using S = leg::Structure<kType, false>;
  leg::LegEvaluation<S, T, decltype(StillRing<T>()(input))>{{params}, ring}.kinematics(position, rate, row, measure);
}

}  // namespace zveno

#define ZVENO_LEG_INSTANCES(TYPE, SCALAR)                                              \
  template zveno::LegFunctions<SCALAR> zveno::leg_calls<TYPE, SCALAR>(bool, BaseKind); \
  template void zveno::leg_kinematics<TYPE, SCALAR>(const double*, const SCALAR*, SCALAR*, SCALAR*, SCALAR*, SCALAR*);
