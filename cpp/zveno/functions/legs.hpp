// Legs in lanes: the leg kernels as functions, one set for each structure and motion of the base.
#pragma once

#include <cstddef>

#include <zveno/kernel/leg/leg.hpp>
#include <zveno/scalar/scalars.hpp>

namespace zveno {

// still: base at rest, no gravity. free: its acceleration is unknown too.
enum class BaseKind { still, moving, free };

// what a leg is told of ring and base: r (3), R (9), u (6), and for a base that moves [a_0 - g; Omega; Omega'] (9)
constexpr int kInput = 27;

struct alignas(64) CacheLine {
  char bytes[64];
};

template <class T>
struct LegFunctions {
  // params: kSlots apart; held: `lines` of memory from the first half to the second; share: without kRight; sum: null, or
  // where kMatrix of the share is added instead
  void (*first)(const double* params, const T* input, void* held, T* share, T* measure, T* sum);
  // of packs, the same for a free base in two steps: what its motion does not matter for, and kBaseRight of the share
  void (*place)(const double* params, const T* input, void* held, T* share, T* measure);
  void (*move)(const double* params, const T* input, void* held, T* share);
  // what forces may answer to; the forces: kRight of the share, added to what is there or written
  void (*driven)(const void* held, T& position, T* rate);
  void (*drive)(const T* tau, void* held, T* right, bool add);
  // x: [v'; w'] in base axes, after [a_0; Omega'] of a free base
  void (*second)(const double* params, const void* held, const T* x, const leg::Places<T>& out, bool coordinates);
  // leg::momenta, 9 numbers
  void (*momenta)(const double* params, const void* held, T* out);
  // of packs on a base that is not free: coordinates in the order of the joints
  void (*coordinates)(const void* held, T* position);
  std::size_t lines;
};
using LegCalls = LegFunctions<Packed>;

template <LegType kType, class T = Packed>
LegFunctions<T> leg_calls(bool symmetric, BaseKind base);

// joint coordinates, rates, row of the Jacobian, measures; the base does not matter
template <LegType kType, class T = Packed>
void leg_kinematics(const double* params, const T* input, T* position, T* rate, T* row, T* measure);

}  // namespace zveno
