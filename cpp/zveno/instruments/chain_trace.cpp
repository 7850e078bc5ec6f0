#include <zveno/instruments/trace.hpp>

#include <algorithm>
#include <stdexcept>

#include <zveno/functions/chain_analysis.hpp>
#include <zveno/instruments/give.hpp>
#include <zveno/scalar/dual.hpp>

namespace zveno {
namespace {

BodyParams<Traced> traced(const BodyParams<double>& b) {
  return {{Traced(b.phi.s), Traced(b.phi.c)},
          {Traced(b.alpha.s), Traced(b.alpha.c)},
          cast<Traced>(b.p_PJ),
          cast<Traced>(b.axis_P),
          Traced(b.m),
          cast<Traced>(b.mc_B),
          cast<Traced>(b.I_BBo_B),
          cast<Traced>(b.S_BBo_B)};
}

using Derived = Dual<Traced, Traced>;

class Tracer {
 public:
  Tracer(const Job& job, const TraceOptions& options, Graph& graph)
      : job_(job), chain_(*job.chain), topology_(chain_.topology().without_hinges()), n_(chain_.n()), graph_(graph) {
    int argument = 0;
    for (const Param p : row_of(job.function).params)
      if (is_array(p) && (options.given >> index_of(p) & 1)) read(argument++, input_size(job, p), x_[index_of(p)]);
    for (int k = 0; k < job.external_count; ++k) read(argument++, 6, external_);
    const std::vector<Traced> inertial = parameters(options, argument);

    const std::vector<BodyParams<double>> bodies = options.regroup ? regrouped(chain_) : own_bodies();
    for (const BodyParams<double>& b : bodies) bodies_.push_back(traced(b));
    for (std::size_t k = 0; k < options.symbolic.size(); ++k) {
      const int b = options.symbolic[k];
      const LinkFrame& frame = chain_.joint_frame(b);
      const Traced* p = inertial.data() + kInertial * k;
      const bool base = !options.pattern.empty() || !options.numbers.empty();
      const Moments<Traced> given = base ? Moments<Traced>{p[9], {p[6], p[7], p[8]}, {p[0], p[1], p[2], p[3], p[4], p[5]}}
                                         : moments_of(inertia_from(p));
      set_moments(bodies_[b], moved(cast<Traced>(frame.R_BU), cast<Traced>(frame.p_BoUo_B), given));
    }
  }

  void run() {
    std::vector<Traced> out[kMostOutputs], pivot(n_);
    Traced* to[kMostOutputs] = {};
    for (int k = 0; k < output_count(job_); ++k) {
      if (!(job_.outputs >> k & 1)) continue;
      out[k].resize(output_size(job_, k));
      to[k] = out[k].data();
    }
    if (job_.function == Function::derivatives && job_.method == Method::dual)
      derivatives(to);
    else
      evaluate(job_, to, pivot.data());
    give(graph_, pieces_of(job_), to, pivot.data());
  }

 private:
  std::vector<BodyParams<double>> own_bodies() const {
    std::vector<BodyParams<double>> bodies;
    for (int b = 0; b < n_; ++b) bodies.push_back(chain_.body(b));
    return bodies;
  }
  // kInertial numbers of each of the symbolic bodies
  std::vector<Traced> parameters(const TraceOptions& options, int argument) {
    const int count = kInertial * static_cast<int>(options.symbolic.size());
    if (!options.numbers.empty()) return {options.numbers.begin(), options.numbers.end()};
    std::vector<Traced> given;
    if (options.pattern.empty()) {
      read(argument, count, given);
      return given;
    }
    int most = 0;
    for (const int place : options.pattern) most = std::max(most, place + 1);
    read(argument, most, given);
    std::vector<Traced> all(count, Traced(0.0));
    for (int i = 0; i < count; ++i)
      if (options.pattern[i] >= 0) all[i] = given[options.pattern[i]];
    return all;
  }
  void read(int argument, int count, std::vector<Traced>& to) {
    for (int i = 0; i < count; ++i) to.push_back(Traced::node(graph_.input(argument, i)));
  }
  ModelView<Traced> model() const { return {&topology_, bodies_.data()}; }

  template <class T>
  static Inputs<T> inputs(const std::vector<T> (&x)[kChainInputs], const std::vector<T>& external) {
    Inputs<T> in;
    for (int k = 0; k < kChainInputs; ++k) in.x[k] = x[k].empty() ? nullptr : x[k].data();
    in.external = external.data();
    return in;
  }
  void evaluate(const Job& job, Traced* const* out, Traced* pivot) {
    Scratch scratch;
    ChainEvaluation<Traced, Traced>(job, model(), inputs(x_, external_), scratch)(out, pivot);
  }

  // direction by direction; what the directions have in common is stored once
  void derivatives(Traced* const* dtau) {
    const std::vector<Derived> external(external_.begin(), external_.end());
    std::vector<Derived> tau(n_);
    for (int which = 0; which < 2; ++which)
      for (int j = 0; dtau[which] && j < n_; ++j) {
        std::vector<Derived> x[kChainInputs];
        for (int k = 0; k < kChainInputs; ++k) x[k] = std::vector<Derived>(x_[k].begin(), x_[k].end());
        x[index_of(which ? Param::qd : Param::q)][j].g = Traced(1.0);
        Scratch scratch;
        ChainEvaluation<Derived, Traced>(job_, model(), inputs(x, external), scratch).inverse_dynamics(tau.data());
        for (int i = 0; i < n_; ++i) dtau[which][static_cast<std::size_t>(i) * n_ + j] = tau[i].g;
      }
    if (dtau[2]) {
      Job mass = job_;
      mass.function = Function::mass_matrix;
      mass.method = mass_method_of_derivatives(n_);
      evaluate(mass, dtau + 2, nullptr);
    }
  }

  const Job& job_;
  const Chain& chain_;
  const Topology topology_;  // hinges may have mass, regrouped or symbolic; where they have none the graph drops the zeros
  const int n_;
  Graph& graph_;
  std::vector<Traced> x_[kChainInputs], external_;
  std::vector<BodyParams<Traced>> bodies_;
};

}  // namespace

Graph trace(const Job& job, const TraceOptions& options) {
  Graph graph(options.limit);
  const Traced::Recording recording(graph);
  Tracer(job, options, graph).run();
  return graph.pruned();
}

}  // namespace zveno
