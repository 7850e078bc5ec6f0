// What is to be computed: one function of one chain for many states. Plain data, shared by all instruction sets.
#pragma once

#include <cstddef>

#include <zveno/model/chain.hpp>

namespace zveno {

enum class Function {
  mass_matrix,
  bias,
  inverse_dynamics,
  forward_dynamics,
  reactions,
  base_wrench,
  kinetic_energy,
  potential_energy,
  pose,
  jacobian,
  jacobian_rate,
  derivatives,
};

enum class Method {
  none,
  crba,
  crba_columns,
  kane,
  kane_triangular,
  kane_recurrent,
  kane_collapsed,
  kosynka,
  rnea,
  kane_bias,
  aba,
  cholesky,
};

struct Job {
  const Chain* chain;
  Function function;
  Method method = Method::none;
  // pose, Jacobians: where the point of interest stands, and in which axes the result is wanted
  LinkFrame frame{kWorld, diagonal(1.0), {0, 0, 0}};
  bool link_axes = false;
  // external wrenches [f; m] at the origins of these frames, base axes
  const LinkFrame* external_frames = nullptr;
  int external_count = 0;
  const double* base_motion = nullptr;  // [a_0 - g; Omega; Omega'], 9 numbers in base axes; absent: the base is at rest
};

// how many n-vectors a function takes: q, (q, qd) or (q, qd, third)
inline int input_count(Function f) {
  switch (f) {
    case Function::mass_matrix:
    case Function::potential_energy:
    case Function::pose:
    case Function::jacobian: return 1;
    case Function::bias:
    case Function::kinetic_energy:
    case Function::jacobian_rate: return 2;
    default: return 3;
  }
}

// numbers of one state's result (each of the three of derivatives)
inline std::ptrdiff_t output_size(Function f, std::ptrdiff_t n) {
  switch (f) {
    case Function::mass_matrix:
    case Function::derivatives: return n * n;
    case Function::reactions:
    case Function::jacobian:
    case Function::jacobian_rate: return 6 * n;
    case Function::base_wrench: return 6;
    case Function::pose: return 16;
    case Function::kinetic_energy:
    case Function::potential_energy: return 1;
    default: return n;
  }
}

// row-major numbers of many states; a stride of 0 repeats one row
struct RowData {
  const double* data = nullptr;
  std::ptrdiff_t stride = 0;

  const double* row(std::ptrdiff_t i) const { return data + stride * i; }
};

struct Rows {
  RowData in[3];                      // q, qd, third: n numbers a row
  const RowData* external = nullptr;  // one for each of the job's external frames: 6 numbers a row
  double* out[3] = {};                // output_size numbers a row
  std::ptrdiff_t count = 0;
  bool check_inputs = false;  // refuse rows that are not finite; off: the result is refused instead
};

// what went wrong in the lowest offending row
struct Failure {
  enum Kind { none, singular, overflow, input } kind = none;  // input: not finite
  std::ptrdiff_t row = -1;
  int body = -1;  // of a singular pivot
};

struct HexJob;
struct HexRows;
struct HexFailure;

// one instruction set's build of the computation
struct KernelTable {
  const char* name;
  int lanes;
  Failure (*run)(const Job&, const Rows&, std::ptrdiff_t begin, std::ptrdiff_t end);
  HexFailure (*run_hexapod)(const HexJob&, const HexRows&, std::ptrdiff_t begin, std::ptrdiff_t end);
  bool (*all_finite)(const double*, std::ptrdiff_t);
  void (*sincos)(const double*, double*, double*, int);
};

}  // namespace zveno
