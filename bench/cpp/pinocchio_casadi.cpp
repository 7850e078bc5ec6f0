// Pinocchio's algorithms run on CasADi expressions, written out as C: what pinocchio.casadi does, without its Python module.
//   pinocchio_casadi <mechanism.txt> <folder>      writes <folder>/casadi.c; matrices are stored row by row
#include <casadi/casadi.hpp>
#include <pinocchio/autodiff/casadi.hpp>

#include "mechanism.hpp"
#include "pinocchio_model.hpp"
#include "program.hpp"

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/cholesky.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

namespace {

using casadi::SX;
using Vec = Eigen::Matrix<SX, Eigen::Dynamic, 1>;
using pinocchio::Convention;

struct Symbol {
  SX expression;
  Vec elements;
  Symbol(const char* name, int n) : expression(SX::sym(name, n)), elements(n) {
    for (int k = 0; k < n; ++k) elements[k] = expression(k);
  }
};

// CasADi stores by columns: transposed, so that the C function writes rows
template <class Matrix>
SX rows(const Matrix& m) {
  SX result = SX::zeros(m.cols(), m.rows());
  for (int i = 0; i < m.rows(); ++i)
    for (int j = 0; j < m.cols(); ++j) result(j, i) = m(i, j);
  return SX::densify(result);
}

// Pinocchio fills the upper triangle
template <class Matrix>
SX symmetric(Matrix m) {
  for (int i = 0; i < m.rows(); ++i)
    for (int j = 0; j < i; ++j) m(i, j) = m(j, i);
  return rows(m);
}

void generate(const bench::Mechanism& mechanism, const std::string& folder) {
  const auto model = bench::pinocchio_model<SX>(mechanism);
  const int n = model.nv;
  const Symbol q("q", n), qd("qd", n), x("x", n);
  casadi::CodeGenerator code("casadi");
  const auto add = [&](const char* name, const std::vector<SX>& inputs, const std::vector<SX>& outputs) {
    code.add(casadi::Function(name, inputs, outputs, {{"cse", true}}));
  };
  const std::vector<SX> state{q.expression, qd.expression, x.expression};
  const auto data = [&] { return bench::Data<SX>(model); };

  auto d = data();
  const SX tau = rows(pinocchio::rnea(model, d, q.elements, qd.elements, x.elements));
  add("rnea", state, {tau});

  for (const auto convention : {Convention::LOCAL, Convention::WORLD}) {
    const std::string suffix = convention == Convention::LOCAL ? "_local" : "_world";
    d = data();
    add(("crba" + suffix).c_str(), {q.expression}, {symmetric(pinocchio::crba(model, d, q.elements, convention))});
    d = data();
    add(("aba" + suffix).c_str(), state, {rows(pinocchio::aba(model, d, q.elements, qd.elements, x.elements, convention))});
  }

  d = data();
  pinocchio::crba(model, d, q.elements, Convention::WORLD);
  pinocchio::cholesky::decompose(model, d);
  Vec qdd = x.elements - pinocchio::nonLinearEffects(model, d, q.elements, qd.elements);
  pinocchio::cholesky::solve(model, d, qdd);
  add("aba_cholesky", state, {rows(qdd)});

  d = data();
  pinocchio::computeRNEADerivatives(model, d, q.elements, qd.elements, x.elements);
  add("drnea_analytic", state, {rows(d.dtau_dq), rows(d.dtau_dv), symmetric(d.M)});
  const auto by = [&](const Symbol& v) { return SX::densify(SX::jacobian(tau.T(), v.expression).T()); };
  add("drnea_jacobian", state, {by(q), by(qd), by(x)});

  code.generate(folder + "/");
}

}  // namespace

int main(int argc, char** argv) {
  return bench::program(argc, argv, 2, "<mechanism.txt> <folder>",
                        [&] { generate(bench::read_mechanism(argv[1]), argv[2]); });
}
