#include <zveno/instruments/trace.hpp>

#include <stdexcept>

#include <zveno/functions/chain_evaluation.hpp>
#include <zveno/scalar/dual.hpp>
#include <zveno/scalar/trace.hpp>

namespace zveno {
namespace {

// mass, first and second moments of a body
template <class T>
struct Moments {
  T m;
  Vec3<T> mc;
  Sym3<T> S;
};

// S' = R S R' + p (R mc)' + (R mc) p' + m p p' in axes that R maps to, about an origin from which the old one stands at p
template <class T>
Moments<T> moved(const Mat3<double>& R_, const Vec3<double>& p_, const Moments<T>& x) {
  const Mat3<T> R = cast<T>(R_);
  const Vec3<T> p = cast<T>(p_), c = times(R, x.mc), c1 = c + p * x.m;
  const T rows[3][3] = {{x.S.xx, x.S.xy, x.S.xz}, {x.S.xy, x.S.yy, x.S.yz}, {x.S.xz, x.S.yz, x.S.zz}};
  T half[3][3];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) half[i][j] = R(i, 0) * rows[0][j] + R(i, 1) * rows[1][j] + R(i, 2) * rows[2][j];
  const auto entry = [&](int i, int j) {
    return half[i][0] * R(j, 0) + half[i][1] * R(j, 1) + half[i][2] * R(j, 2) + p[i] * c1[j] + c[i] * p[j];
  };
  return {x.m, c1, {entry(0, 0), entry(0, 1), entry(0, 2), entry(1, 1), entry(1, 2), entry(2, 2)}};
}

template <class T>
Sym3<T> inertia_of(const Sym3<T>& S) {
  return {S.yy + S.zz, -S.xy, -S.xz, S.xx + S.zz, -S.yz, S.xx + S.yy};
}

template <class T>
void set_moments(BodyParams<T>& body, const Moments<T>& x) {
  body.m = x.m;
  body.mc_B = x.mc;
  body.S_BBo_B = x.S;
  body.I_BBo_B = inertia_of(x.S);
}

template <class T>
Moments<T> moments_of(const T* p) {
  const T half = (p[4] + p[7] + p[9]) * T(0.5);
  return {p[0], {p[1], p[2], p[3]}, {half - p[4], -p[5], -p[6], half - p[7], -p[8], half - p[9]}};
}

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
      : job_(job), chain_(*job.chain), n_(chain_.n()), graph_(graph) {
    const Sizes sizes = sizes_of(job);
    int argument = 0;
    for (const Param p : row_of(job.function).params)
      if (is_array(p) && (options.given >> index_of(p) & 1))
        read(argument++, static_cast<int>(input_size(p, sizes)), x_[index_of(p)]);
    for (int k = 0; k < job.external_count; ++k) read(argument++, 6, external_);
    std::vector<Traced> inertial;
    if (!options.symbolic.empty()) read(argument++, kInertial * static_cast<int>(options.symbolic.size()), inertial);

    const std::vector<BodyParams<double>> bodies = options.regroup ? regrouped(chain_) : own_bodies();
    for (const BodyParams<double>& b : bodies) bodies_.push_back(traced(b));
    for (std::size_t k = 0; k < options.symbolic.size(); ++k) {
      const int b = options.symbolic[k];
      const LinkFrame& frame = chain_.joint_frame(b);
      set_moments(bodies_[b], moved(frame.R_BU, frame.p_BoUo_B, moments_of(inertial.data() + kInertial * k)));
    }
  }

  void run() {
    if (job_.function == Function::derivatives) return derivatives();
    const FunctionRow& row = row_of(job_.function);
    std::vector<Traced> out[kMostOutputs], pivot(n_);
    Traced* to[kMostOutputs] = {};
    for (int k = 0; k < row.outputs.count; ++k) {
      if (!(job_.outputs >> k & 1)) continue;
      out[k].resize(output_size(job_, k));
      to[k] = out[k].data();
    }
    evaluate(job_, to, pivot.data());
    for (const auto& x : out)
      if (!x.empty()) give(x);
    if (row.has(kSolves)) give(pivot);
  }

 private:
  std::vector<BodyParams<double>> own_bodies() const {
    std::vector<BodyParams<double>> bodies;
    for (int b = 0; b < n_; ++b) bodies.push_back(chain_.body(b));
    return bodies;
  }
  void read(int argument, int count, std::vector<Traced>& to) {
    for (int i = 0; i < count; ++i) to.push_back(Traced::node(graph_.input(argument, i)));
  }
  void give(const std::vector<Traced>& x) {
    graph_.outputs.emplace_back();
    for (const Traced& t : x) graph_.outputs.back().push_back(t.id());
  }
  ModelView<Traced> model() const { return {&chain_.topology(), bodies_.data()}; }

  template <class T>
  static Inputs<T> inputs(const std::vector<T> (&x)[kInputs], const std::vector<T>& external) {
    Inputs<T> in;
    for (int k = 0; k < kInputs; ++k) in.x[k] = x[k].empty() ? nullptr : x[k].data();
    in.external = external.data();
    return in;
  }
  void evaluate(const Job& job, Traced* const* out, Traced* pivot) {
    Scratch scratch;
    Evaluation<Traced, Traced>(job, model(), inputs(x_, external_), scratch)(out, pivot);
  }

  // direction by direction; what the directions have in common is stored once
  void derivatives() {
    std::vector<Traced> dtau[3];
    for (int k = 0; k < 3; ++k)
      if (job_.outputs >> k & 1) dtau[k].resize(static_cast<std::size_t>(n_) * n_);
    const std::vector<Derived> external(external_.begin(), external_.end());
    std::vector<Derived> tau(n_);
    for (int which = 0; which < 2; ++which)
      for (int j = 0; j < n_ && !dtau[which].empty(); ++j) {
        std::vector<Derived> x[kInputs];
        for (int k = 0; k < kInputs; ++k) x[k] = std::vector<Derived>(x_[k].begin(), x_[k].end());
        x[index_of(which ? Param::qd : Param::q)][j].g = Traced(1.0);
        Scratch scratch;
        Evaluation<Derived, Traced>(job_, model(), inputs(x, external), scratch).inverse_dynamics(tau.data());
        for (int i = 0; i < n_; ++i) dtau[which][static_cast<std::size_t>(i) * n_ + j] = tau[i].g;
      }
    if (!dtau[2].empty()) {
      Job mass = job_;
      mass.function = Function::mass_matrix;
      mass.method = mass_method_of_derivatives(n_);
      Traced* out = dtau[2].data();
      evaluate(mass, &out, nullptr);
    }
    for (const auto& d : dtau)
      if (!d.empty()) give(d);
  }

  const Job& job_;
  const Chain& chain_;
  const int n_;
  Graph& graph_;
  std::vector<Traced> x_[kInputs], external_;
  std::vector<BodyParams<Traced>> bodies_;
};

}  // namespace

Graph trace(const Job& job, const TraceOptions& options) {
  Graph graph(options.limit);
  const Traced::Recording recording(graph);
  Tracer(job, options, graph).run();
  return graph.pruned();
}

void inertial_parameters(const Chain& chain, int b, double* p) {
  const BodyParams<double>& body = chain.body(b);
  const LinkFrame& frame = chain.joint_frame(b);
  Mat3<double> R_UB;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) R_UB(i, j) = frame.R_BU(j, i);
  const Moments<double> x = moved(R_UB, -times(R_UB, frame.p_BoUo_B), Moments<double>{body.m, body.mc_B, body.S_BBo_B});
  const Sym3<double> I = inertia_of(x.S);
  const double all[kInertial] = {x.m, x.mc.x(), x.mc.y(), x.mc.z(), I.xx, I.xy, I.xz, I.yy, I.yz, I.zz};
  for (int i = 0; i < kInertial; ++i) p[i] = all[i];
}

std::vector<BodyParams<double>> regrouped(const Chain& chain) {
  const int n = chain.n();
  std::vector<BodyParams<double>> body;
  for (int b = 0; b < n; ++b) body.push_back(chain.body(b));
  for (int b = n; b-- > 0;) {
    const int parent = chain.topology().parent[b];
    BodyParams<double>& own = body[b];
    Moments<double> left{own.m, own.mc_B, own.S_BBo_B}, given{0, {0, 0, 0}, {0, 0, 0, 0, 0, 0}};
    // the frame in which what is given away stands still: theta = q + offset of a revolute joint does not matter there
    Turn<double> theta{0, 1};
    if (chain.view().revolute(b)) {
      given.m = left.m, given.mc.z() = left.mc.z(), given.S.zz = left.S.zz;
      left.m = left.mc.z() = left.S.zz = 0;
    } else {
      given.S = left.S;
      left.S = {0, 0, 0, 0, 0, 0};
      theta = chain.fixed_turn()[b];
    }
    if (parent != kWorld) {
      JointFrame<double> X{theta, own.alpha, own.phi, chain.topology().turned[b] != 0, own.p_PJ};
      const Moments<double> x = moved(X.after(diagonal(1.0)), own.p_PJ, given);
      const BodyParams<double>& p = body[parent];
      set_moments(body[parent], Moments<double>{p.m + x.m, p.mc_B + x.mc, p.S_BBo_B + x.S});
    }
    set_moments(own, left);
  }
  return body;
}

}  // namespace zveno
