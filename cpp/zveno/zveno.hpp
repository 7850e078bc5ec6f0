// zveno for C++: build a Chain or a Hexapod, call a function. Arrays are plain pointers to doubles: of a chain n() of them
// in the order of the moving links given; matrices are row major. Functions are thread-safe and allocate nothing after a
// thread's first call, unless they throw. Worst case: no loop depends on the data, except that angles of chains beyond
// 1e5 rad go to the C library's sine, and that custom legs of hexapods are closed by iteration (60 steps at most).
#pragma once

#include <stdexcept>
#include <string>

#include <zveno/functions/job.hpp>
#include <zveno/model/chain.hpp>

namespace zveno {

// ---- chains

// a joint that moves no mass has no acceleration
class SingularityError : public std::runtime_error {
 public:
  SingularityError(std::string joint, std::ptrdiff_t row, const std::string& text)
      : std::runtime_error(text), joint(std::move(joint)), row(row) {}
  std::string joint;
  std::ptrdiff_t row;
};

// tau = M qdd + bias
void inverse_dynamics(const Chain& chain, const double* q, const double* qd, const double* qdd, double* tau);

// qdd = M^-1 (tau - bias); Method::aba, Method::cholesky or Method::cholesky_walk
void forward_dynamics(const Chain& chain, const double* q, const double* qd, const double* tau, double* qdd,
                      Method method = Method::aba);

// M(q); any of the mass-matrix methods of job.hpp
void mass_matrix(const Chain& chain, const double* q, double* M, Method method = Method::crba);

// M qdd + bias = tau
void bias(const Chain& chain, const double* q, const double* qd, double* bias);

// doubles per row of a function's first result
std::ptrdiff_t result_size(const Chain& chain, Function function);

// Everything else, and batches: any function of functions/chain_functions.hpp over rows of states. threads: 0 is as
// many as this process may use. With Rows::status set, rows that fail hold NaN and nothing is thrown; without, the first of
// them is SingularityError or std::overflow_error. Arguments that are not finite give std::overflow_error, as do results too
// large; with Rows::check_inputs set, std::invalid_argument and no computation.
void evaluate(const Job& job, const Rows& rows, int threads = 1);

// ---- hexapods

// A pose that a leg cannot take (reach, hook_reach, newton), or in which a leg or the mechanism is singular.
class LegError : public std::runtime_error {
 public:
  LegError(const Hexapod& hexapod, const Failure& failure, const std::string& text)
      : std::runtime_error(text),
        leg(failure.part < 0 ? std::string() : hexapod.leg(failure.part).name),
        index(failure.part),
        cause(failure.cause),
        margin(failure.margin),
        row(failure.row) {}
  std::string leg;  // its name; empty, and index -1: the mechanism as a whole
  int index;
  Cause cause;
  double margin;  // the factor that vanished, or how far the reach is exceeded
  std::ptrdiff_t row;
};

// The ring's centre of mass stands at r (3, base axes), R (3 x 3) maps ring to base axes, u (6) is [v base axes; w ring
// axes], wrench (6) the external load on the ring [f base axes; m ring axes] at its centre of mass.

// p (6 x joints()): coordinates of the legs
void closure(const Hexapod& hexapod, const double* r, const double* R, double* p);

// tau (6): forces of the actuated joints. out: DynamicsLayout(hexapod.joints(), false).size() numbers: u', the wrench on the
// base about its origin, and for each leg coordinates, rates, accelerations and reaction
void forward_dynamics(const Hexapod& hexapod, const double* r, const double* R, const double* u, const double* wrench,
                      const double* tau, double* out);

// doubles per row of a function's result
std::ptrdiff_t result_size(const HexJob& job);

// Everything else, and batches: moving and free bases, forces of all joints, Newton's method, rows of states. threads: 0 is
// as many as this process may use. With Rows::status set, rows that fail hold NaN and nothing is thrown; without, the first
// of them is LegError, std::invalid_argument (a number that is not finite, R not a rotation) or std::overflow_error (a
// result that is not finite).
void evaluate(const HexJob& job, const Rows& rows, int threads = 1);

}  // namespace zveno
