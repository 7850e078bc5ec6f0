// The functions of zveno.hpp, with the kernels this library was compiled with.
#include <algorithm>

#include <zveno/batch/compute.hpp>
#include <zveno/batch/rows.hpp>
#include <zveno/functions/failure.hpp>
#include <zveno/support/instruction_sets.hpp>
#include <zveno/zveno.hpp>

#if !defined(ZVENO_LIBRARY_ISA)
#define ZVENO_LIBRARY_ISA "baseline"
#endif

namespace zveno {

std::ptrdiff_t result_size(const Chain& chain, Function function) { return output_size(Job{&chain, function}); }
std::ptrdiff_t result_size(const HexJob& job) { return output_size(job); }

namespace {

// what both kinds of mechanism have in common
void throw_common(const Failure& failure) {
  const std::string where = " in row " + std::to_string(failure.row);
  switch (failure.cause) {
    case Cause::input: throw std::invalid_argument("argument is not finite" + where);
    case Cause::rotation:
      throw std::invalid_argument("R is not a rotation" + where + ": expected R'R = 1 within 1e-9 and determinant +1");
    case Cause::overflow: throw std::overflow_error("result is not finite" + where);
    default: return;
  }
}

Rows one_row(std::initializer_list<std::pair<Param, const double*>> in, double* out) {
  Rows rows;
  for (const auto& [param, data] : in) rows[param].data = data;
  rows.out[0] = out;
  rows.count = 1;
  return rows;
}

// a program that was carried to a lesser processor says so instead of ending by a signal
const KernelTable& kernels() {
  static const KernelTable& table = []() -> const KernelTable& {
    const std::vector<std::string> levels = cpu_levels();
    if (std::find(levels.begin(), levels.end(), ZVENO_LIBRARY_ISA) == levels.end())
      throw std::runtime_error("this zveno was compiled for processors with " ZVENO_LIBRARY_ISA
                               ", which this one has not; for programs that go elsewhere build it with ZVENO_ALL_ISAS=ON");
    return offered_kernels();
  }();
  return table;
}

}  // namespace

void evaluate(const Job& job, const Rows& rows, int threads) {
  if (serial_only(job.method) && !job.chain->topology().serial)
    throw std::invalid_argument("this method exists only for serial chains, and model '" + job.chain->name() + "' branches");
  if (job.function == Function::section_load && !job.section) throw std::invalid_argument("section_load needs a section");
  const Failure failure = compute(kernels(), job, rows, threads);
  if (!failure || rows.status) return;
  throw_common(failure);
  throw SingularityError(job.chain->joint_names()[failure.part], failure.row, failure_text(*job.chain, failure, true));
}

void evaluate(const HexJob& job, const Rows& rows, int threads) {
  const Failure failure = compute(kernels(), job, rows, threads);
  if (!failure || rows.status) return;
  throw_common(failure);
  throw LegError(*job.hexapod, failure, failure_text(*job.hexapod, failure, true));
}

void inverse_dynamics(const Chain& chain, const double* q, const double* qd, const double* qdd, double* tau) {
  evaluate(Job{&chain, Function::inverse_dynamics}, one_row({{Param::q, q}, {Param::qd, qd}, {Param::qdd, qdd}}, tau));
}
void forward_dynamics(const Chain& chain, const double* q, const double* qd, const double* tau, double* qdd, Method method) {
  evaluate(Job{&chain, Function::forward_dynamics, method},
           one_row({{Param::q, q}, {Param::qd, qd}, {Param::tau, tau}}, qdd));
}
void mass_matrix(const Chain& chain, const double* q, double* M, Method method) {
  evaluate(Job{&chain, Function::mass_matrix, method}, one_row({{Param::q, q}}, M));
}
void bias(const Chain& chain, const double* q, const double* qd, double* b) {
  evaluate(Job{&chain, Function::bias, Method::rnea}, one_row({{Param::q, q}, {Param::qd, qd}}, b));
}

void closure(const Hexapod& hexapod, const double* r, const double* R, double* p) {
  evaluate(HexJob{&hexapod, HexFunction::closure}, one_row({{Param::r, r}, {Param::R, R}}, p));
}
void forward_dynamics(const Hexapod& hexapod, const double* r, const double* R, const double* u, const double* wrench,
                      const double* tau, double* out) {
  HexJob job{&hexapod, HexFunction::forward_dynamics};
  job.actuated_only = true;
  evaluate(job, one_row({{Param::r, r}, {Param::R, R}, {Param::u, u}, {Param::wrench, wrench}, {Param::leg_tau, tau}}, out));
}

}  // namespace zveno
