// zveno behind engine.hpp. Built once for each instruction set that the wheel carries.
#include "engine.hpp"

#include <zveno/zveno.hpp>

namespace {

using bench::Function;
using bench::Mechanism;

zveno::Vec3<double> vector(const std::array<double, 3>& a) { return {a[0], a[1], a[2]}; }

zveno::Mat3<double> matrix(const std::array<double, 9>& a) {  // row major
  zveno::Mat3<double> r;
  for (int i = 0; i < 9; ++i) r(i / 3, i % 3) = a[i];
  return r;
}

zveno::Chain build(const Mechanism& mechanism) {
  std::vector<zveno::LinkSpec> links;
  for (std::size_t k = 0; k < mechanism.joints.size(); ++k) {
    const bench::Joint& j = mechanism.joints[k];
    zveno::LinkSpec link;
    link.name = "l" + std::to_string(k);
    link.joint_name = "j" + std::to_string(k);
    link.parent = j.parent < 0 ? "base" : "l" + std::to_string(j.parent);
    link.kind = j.kind == 'r' ? zveno::LinkKind::revolute : zveno::LinkKind::prismatic;
    link.axis = vector(j.axis);
    link.position = vector(j.position);
    link.rotation = matrix(j.rotation);
    link.body.mass = j.mass;
    link.body.com = vector(j.com);
    link.body.inertia = matrix(j.inertia);
    links.push_back(link);
  }
  return {mechanism.name, "base", vector(mechanism.gravity), std::move(links)};
}

class ZvenoEngine final : public bench::Engine {
 public:
  explicit ZvenoEngine(const Mechanism& mechanism) : chain_(build(mechanism)) {}

  std::vector<std::string> variants(Function) const override { return {"run-time kernels"}; }

  const double* run(Function f, int, const double* q, const double* qd, const double* x) override {
    return run_batch(f, 1, q, qd, x);
  }

  const double* run_batch(Function f, int states, const double* q, const double* qd, const double* x) override {
    const Row& row = kRows[int(f)];
    const int n = chain_.n();
    zveno::Rows rows;
    rows[zveno::Param::q] = {q, n};
    if (row.x != zveno::Param::q) rows[zveno::Param::qd] = {qd, n}, rows[row.x] = {x, n};
    const std::size_t size = std::size_t(zveno::result_size(chain_, row.function)) * std::size_t(states);
    if (result_.size() < row.results * size) result_.resize(row.results * size);
    for (std::size_t k = 0; k < row.results; ++k) rows.out[k] = result_.data() + k * size;
    rows.count = states;
    zveno::evaluate(zveno::Job{&chain_, row.function, row.method}, rows);
    return result_.data();
  }

  std::size_t regressor_place(int n, int row, int link, int parameter) const override {
    return std::size_t((row * n + link) * 10 + parameter);
  }

 private:
  // by Function
  struct Row {
    zveno::Function function;
    zveno::Method method;
    zveno::Param x;  // q: of the position alone
    std::size_t results;
  };
  static constexpr Row kRows[] = {
      {zveno::Function::inverse_dynamics, zveno::Method::none, zveno::Param::qdd, 1},
      {zveno::Function::mass_matrix, zveno::Method::crba, zveno::Param::q, 1},
      {zveno::Function::forward_dynamics, zveno::Method::aba, zveno::Param::tau, 1},
      {zveno::Function::derivatives, zveno::Method::sweep, zveno::Param::qdd, 3},
      {zveno::Function::forward_derivatives, zveno::Method::none, zveno::Param::tau, 3},
      {zveno::Function::regressor, zveno::Method::none, zveno::Param::qdd, 1},
  };

  zveno::Chain chain_;
  std::vector<double> result_;
};

}  // namespace

extern "C" bench::Engine* make_engine(const bench::Mechanism& mechanism) { return new ZvenoEngine(mechanism); }
