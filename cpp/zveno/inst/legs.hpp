// Legs in lanes: the leg kernels as functions, one set for each structure and motion of the base.
#pragma once

#include <cstddef>

#include <zveno/kernel/leg.hpp>
#include <zveno/scalar/scalars.hpp>

namespace zveno {

// still: base at rest, no gravity. free: its acceleration is unknown too.
enum class BaseKind { still, moving, free };

template <class T>
using StillRing = decltype(make_ring<T>(nullptr, nullptr, nullptr, StillBase()));
template <class T>
using MovingRing = decltype(make_ring<T>(nullptr, nullptr, nullptr, MovingBase<T>()));

struct LegCalls {
  // params: kSlots apart; ring: StillRing or MovingRing; held: `size` bytes aligned to 64
  void (*first)(const double* params, const void* ring, const Packed* tau, void* held, Packed* share, Packed* measure);
  // x: [v'; w'] in base axes, after [a_0; Omega'] of a free base
  void (*second)(const double* params, const void* held, const Packed* x, leg::Outcome<Packed>& out);
  std::size_t size;
};

template <LegType kType>
LegCalls leg_calls(bool lean, BaseKind base);

// joint coordinates, rates, row of the Jacobian, measures; the base does not matter
template <LegType kType>
void leg_kinematics(const double* params, const StillRing<Packed>& ring, Packed* position, Packed* rate, Packed* row,
                    Packed* measure);

}  // namespace zveno
