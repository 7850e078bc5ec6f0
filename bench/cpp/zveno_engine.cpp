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
  explicit ZvenoEngine(const Mechanism& mechanism)
      : chain_(build(mechanism)), result_(std::size_t(chain_.n()) * chain_.n()) {}

  std::vector<std::string> variants(Function) const override { return {"run-time kernels"}; }

  const double* run(Function f, int, const double* q, const double* qd, const double* x) override {
    switch (f) {
      case Function::rnea: zveno::inverse_dynamics(chain_, q, qd, x, result_.data()); break;
      case Function::crba: zveno::mass_matrix(chain_, q, result_.data()); break;
      case Function::aba: zveno::forward_dynamics(chain_, q, qd, x, result_.data()); break;
    }
    return result_.data();
  }

 private:
  zveno::Chain chain_;
  std::vector<double> result_;
};

}  // namespace

extern "C" bench::Engine* make_engine(const bench::Mechanism& mechanism) { return new ZvenoEngine(mechanism); }
