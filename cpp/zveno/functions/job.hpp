// What is to be computed: one function of one chain for many states. Plain data, shared by all instruction sets.
#pragma once

#include <cstddef>
#include <memory>

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
  crba_walk,
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
  cholesky_walk,
};

// Machine code made for one job. One state: the numbers of every argument, row by row. Packs: kLanes states, each number
// repeated for every lane, aligned.
struct Program {
  using Call = void (*)(const double* const* in, double* const* out);
  Call one = nullptr;
  Call packs = nullptr;
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
  // Computes instead of the kernels. In: the n-vectors, each external wrench, the inertial parameters if there are any.
  // Out: the results, and n pivots of forward dynamics.
  const Program* program = nullptr;
  int parameters = 0;                   // inertial parameters that the program is given
  const double* base_motion = nullptr;  // [a_0 - g; Omega; Omega'], 9 numbers in base axes; absent: the base is at rest
};

// d tau / d qdd of derivatives: for short chains the walk is faster
inline Method mass_method_of_derivatives(int n) { return n <= 8 ? Method::crba_walk : Method::crba; }

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
  RowData parameters;                 // of a program: Job::parameters numbers a row
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

class Hexapod;
struct HexJob;
struct HexRows;
struct HexFailure;
class HexMotion;

// Sines and cosines of n angles; angles of n sines and cosines. What they write has room for whole packs.
struct Transcendental {
  void (*sincos)(const double* x, double* s, double* c, int n);
  void (*angle)(const double* s, const double* c, double* x, int n);
  // of n aligned packs
  void (*sincos_packs)(const double* x, double* s, double* c, int n);
  void (*angle_packs)(const double* s, const double* c, double* x, int n);
};

// one instruction set's build of the computation
struct KernelTable {
  const char* name;
  int lanes;
  Failure (*run)(const Job&, const Rows&, std::ptrdiff_t begin, std::ptrdiff_t end);
  HexFailure (*run_hexapod)(const HexJob&, const HexRows&, std::ptrdiff_t begin, std::ptrdiff_t end);
  std::unique_ptr<HexMotion> (*make_motion)(const Hexapod&, const double* base);
  void (*sincos)(const double*, double*, double*, int);
  Transcendental trig, fused_trig;
};

}  // namespace zveno
