// What machines of chains and of hexapods have in common.
#pragma once

#include <utility>

#include <zveno/rig/machine.hpp>
#include <zveno/sim/periods.hpp>

namespace zveno {

inline Mat3<double> matrix_of(const double* R) {
  Mat3<double> m;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) m(i, j) = R[3 * i + j];
  return m;
}

template <class System>
class Stepping : public Machine {
 public:
  bool advance() override {
    own_ = {};
    return periods_->advance();
  }
  const Failure& failure() const override { return own_ ? own_ : periods_->system().failure(); }
  double time() const override { return periods_->time(); }
  std::size_t size() const override { return periods_->size(); }
  void save(double* to) const override { periods_->save(to); }
  void restore(const double* from) override { periods_->restore(from); }

 protected:
  // brief: of the end of a period no output needs accelerations or forces
  template <class Setup>
  void set_up(Setup setup, const Description& d, bool brief) {
    periods_ = std::make_unique<Periods<System>>(System(std::move(setup)), d.semi_implicit, d.period / d.substeps,
                                                 d.substeps, brief);
  }

  // the laws, and servos whose references are the input that was added last
  std::vector<JointLaw> laws_of(const Description& d) const {
    if (!d.servo) return d.laws;
    std::vector<JointLaw> laws;
    for (std::size_t k = 0; k < d.laws.size(); ++k) {
      std::vector<Term> terms = d.laws[k].terms();
      terms.emplace_back(Servo{d.gains, Given{in.data() + inputs.back().offset + static_cast<int>(k)}});
      laws.emplace_back(std::move(terms));
    }
    return laws;
  }

  std::unique_ptr<Periods<System>> periods_;
  Failure own_;  // of what is worked out here
};

}  // namespace zveno
