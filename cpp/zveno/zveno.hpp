// zveno for C++: build a Chain, call a function. Arrays are plain pointers to chain.n() doubles in the order of the
// moving links given; matrices are row major, n x n. Functions are thread-safe and allocate nothing after a thread's
// first call. Worst case: no loop depends on the data, except that angles beyond 1e5 rad go to the C library's sine.
#pragma once

#include <stdexcept>
#include <string>

#include <zveno/model/chain.hpp>
#include <zveno/run/job.hpp>

namespace zveno {

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

// qdd = M^-1 (tau - bias); Method::aba or Method::cholesky
void forward_dynamics(const Chain& chain, const double* q, const double* qd, const double* tau, double* qdd,
                      Method method = Method::aba);

// M(q); any of the mass-matrix methods of job.hpp
void mass_matrix(const Chain& chain, const double* q, double* M, Method method = Method::crba);

// M qdd + bias = tau
void bias(const Chain& chain, const double* q, const double* qd, double* bias);

// doubles per row of a function's result
std::ptrdiff_t result_size(const Chain& chain, Function function);

// Arguments that are not finite give std::overflow_error, as do results too large; with Rows::check_inputs set,
// std::invalid_argument and no computation.
// Everything else, and batches: any function over rows of states. threads: 0 is one per core.
// Throws SingularityError, or std::overflow_error if a result is not finite.
void evaluate(const Job& job, const Rows& rows, int threads = 1);

}  // namespace zveno
