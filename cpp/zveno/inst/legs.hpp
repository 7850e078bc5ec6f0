// Legs in lanes: the leg kernels as functions, one set for each structure and motion of the base.
#pragma once

#include <cstddef>

#include <zveno/kernel/leg.hpp>
#include <zveno/scalar/scalars.hpp>

namespace zveno {

// still: base at rest, no gravity. free: its acceleration is unknown too.
enum class BaseKind { still, moving, free };

// what a leg is told of ring and base: r (3), R (9), u (6), and for a base that moves its flow [a_0 - g; Omega'; Omega] (9)
constexpr int kInput = 27;

struct LegCalls {
  // params: kSlots apart; held: `size` bytes aligned to 64
  void (*first)(const double* params, const Packed* input, const Packed* tau, void* held, Packed* share, Packed* measure);
  // x: [v'; w'] in base axes, after [a_0; Omega'] of a free base
  void (*second)(const double* params, const void* held, const Packed* x, leg::Outcome<Packed>& out);
  std::size_t size;
};

template <LegType kType>
LegCalls leg_calls(bool lean, BaseKind base);

// joint coordinates, rates, row of the Jacobian, measures; the base does not matter
template <LegType kType>
void leg_kinematics(const double* params, const Packed* input, Packed* position, Packed* rate, Packed* row, Packed* measure);

}  // namespace zveno
