// The functions of zveno.hpp, with the kernels this library was compiled with.
#include <zveno/batch/compute.hpp>
#include <zveno/batch/rows.hpp>
#include <zveno/functions/hexapod_causes.hpp>
#include <zveno/zveno.hpp>

namespace zveno {

std::ptrdiff_t result_size(const Chain& chain, Function function) { return output_size(function, chain.n()); }

void evaluate(const Job& job, const Rows& rows, int threads) {
  const bool serial_only = job.method == Method::kane_recurrent || job.method == Method::kosynka;
  if (serial_only && !job.chain->topology().serial)
    throw std::invalid_argument("this method exists only for serial chains, and model '" + job.chain->name() + "' branches");
  const Failure failure = compute(kernel_table(), job, rows, threads);
  if (failure.kind == Failure::none) return;
  const std::string where = " in row " + std::to_string(failure.row);
  if (failure.kind == Failure::singular) {
    const std::string& joint = job.chain->joint_names()[job.chain->user_index()[failure.body]];
    throw SingularityError(joint, failure.row, "joint '" + joint + "' moves no mass" + where);
  }
  if (failure.kind == Failure::input) throw std::invalid_argument("argument is not finite" + where);
  throw std::overflow_error("result is not finite" + where);
}

namespace {

void one_row(const Chain& chain, Function function, Method method, const double* q, const double* qd, const double* third,
             double* out) {
  Rows rows;
  rows.in[0].data = q, rows.in[1].data = qd, rows.in[2].data = third;
  rows.out[0] = out;
  rows.count = 1;
  evaluate(Job{&chain, function, method}, rows);
}

}  // namespace

void inverse_dynamics(const Chain& chain, const double* q, const double* qd, const double* qdd, double* tau) {
  one_row(chain, Function::inverse_dynamics, Method::rnea, q, qd, qdd, tau);
}
void forward_dynamics(const Chain& chain, const double* q, const double* qd, const double* tau, double* qdd, Method method) {
  one_row(chain, Function::forward_dynamics, method, q, qd, tau, qdd);
}
void mass_matrix(const Chain& chain, const double* q, double* M, Method method) {
  one_row(chain, Function::mass_matrix, method, q, nullptr, nullptr, M);
}
void bias(const Chain& chain, const double* q, const double* qd, double* b) {
  one_row(chain, Function::bias, Method::rnea, q, qd, nullptr, b);
}

namespace {

HexRows one_row(const double* r, const double* R, double* out) {
  HexRows rows;
  rows.r.data = r, rows.R.data = R;
  rows.out = out;
  rows.count = 1;
  return rows;
}

}  // namespace

std::ptrdiff_t result_size(const HexJob& job) { return hex_output_size(job); }

void evaluate(const HexJob& job, const HexRows& rows, int threads) {
  const HexFailure failure = compute_hexapod(kernel_table(), job, rows, threads);
  if (failure.cause == HexFailure::none || rows.status) return;
  const std::string where = " in row " + std::to_string(failure.row);
  switch (failure.cause) {
    case HexFailure::input: throw std::invalid_argument("argument is not finite" + where);
    case HexFailure::rotation:
      throw std::invalid_argument("R is not a rotation" + where + ": expected R'R = 1 within 1e-9 and determinant +1");
    case HexFailure::overflow: throw std::overflow_error("result is not finite" + where);
    default: throw LegError(*job.hexapod, failure, failure_text(*job.hexapod, failure, true));
  }
}

void closure(const Hexapod& hexapod, const double* r, const double* R, double* p) {
  evaluate(HexJob{&hexapod, HexFunction::closure}, one_row(r, R, p));
}
void forward_dynamics(const Hexapod& hexapod, const double* r, const double* R, const double* u, const double* wrench,
                      const double* tau, double* out) {
  HexJob job{&hexapod, HexFunction::forward_dynamics};
  job.actuated_only = true;
  HexRows rows = one_row(r, R, out);
  rows.u.data = u, rows.wrench.data = wrench, rows.tau.data = tau;
  evaluate(job, rows);
}

}  // namespace zveno
