// One state (or one pack of states): user's order in, user's order out. The same text serves every scalar.
// Equation numbers are those of docs/chains.md, with a D those of docs/derivatives.md.
#pragma once

#include <algorithm>
#include <type_traits>

#include <zveno/functions/job.hpp>
#include <zveno/functions/joint_angles.hpp>
#include <zveno/functions/joint_forces.hpp>
#include <zveno/kernel/chain/articulated.hpp>
#include <zveno/kernel/chain/christoffel.hpp>
#include <zveno/kernel/chain/coriolis.hpp>
#include <zveno/kernel/chain/crba.hpp>
#include <zveno/kernel/chain/derivatives.hpp>
#include <zveno/kernel/chain/kane.hpp>
#include <zveno/kernel/chain/kane_bias.hpp>
#include <zveno/kernel/chain/kosynka.hpp>
#include <zveno/kernel/chain/leskov.hpp>
#include <zveno/kernel/chain/ltl.hpp>
#include <zveno/kernel/chain/recurrent.hpp>
#include <zveno/kernel/chain/regressor.hpp>
#include <zveno/kernel/chain/second_derivatives.hpp>
#include <zveno/kernel/chain/section.hpp>
#include <zveno/kernel/chain/zaremba.hpp>
#include <zveno/scalar/both.hpp>

namespace zveno {

template <class T>
struct Inputs {
  const T* x[kChainInputs] = {};  // by Param; null: not given
  const T* external = nullptr;    // 6 per external frame

  const T*& operator[](Param p) { return x[index_of(p)]; }
  const T* operator[](Param p) const { return x[index_of(p)]; }
};

// mass matrix in the order of bodies, rotors included
template <class T, class P>
void mass_matrix_of_bodies(const Chain& chain, const ModelView<P>& model, Method method, const JointPosition<T>& at, T* M,
                           Scratch& scratch) {
  switch (method) {
    case Method::crba_walk: crba_walk(model, at, M, scratch); break;
    case Method::crba_columns: crba_columns(model, at, M, scratch); break;
    case Method::kane: kane_dense(model, at, M, scratch); break;
    case Method::kane_triangular: kane_triangular(model, at, M, scratch); break;
    case Method::kane_recurrent: kane_recurrent(model, at, M, scratch); break;
    case Method::kane_collapsed: kane_collapsed(model, at, M, scratch); break;
    case Method::kosynka: kosynka(model, at, M, scratch); break;
    case Method::leskov: leskov<false>(model, at, M, scratch); break;
    case Method::leskov_link: leskov<true>(model, at, M, scratch); break;
    default: crba(model, at, M, scratch);
  }
  enter_stage<T>(Stage::assembly);
  JointForces<T>(chain).add_rotors(M);
}

// `model` has the numbers of the job's chain, or others for the same topology
template <class T, class P = double>
class ChainEvaluation {
 public:
  ChainEvaluation(const Job& job, const ModelView<P>& model, const Inputs<T>& in, Scratch& scratch)
      : job_(job), chain_(*job.chain), forces_(chain_), model_(model), n_(chain_.n()), in_(in), scratch_(scratch) {
    enter_stage<T>(Stage::kinematics);
    T* s = scratch.take<T>(padded(n_));
    T* c = scratch.take<T>(padded(n_));
    const T* q = ordered(in[Param::q]);
    at_ = {s, c, q};
    turn_joints(chain_, q, s, c, scratch);
  }
  // sines and cosines are there
  ChainEvaluation(const Job& job, const ModelView<P>& model, const Inputs<T>& in, const JointPosition<T>& at,
                  Scratch& scratch)
      : job_(job), chain_(*job.chain), forces_(chain_), model_(model), n_(chain_.n()), in_(in), scratch_(scratch), at_(at) {}

  // out: one array for each result; pivot: n, written by forward dynamics
  void operator()(T* const* out, T* pivot) {
    switch (job_.function) {
      case Function::mass_matrix: return mass_matrix(out[0]);
      case Function::bias: return bias(out[0]);
      case Function::inverse_dynamics: return inverse_dynamics(out[0]);
      case Function::forward_dynamics: return forward_dynamics(out[0], pivot);
      case Function::reactions: return reactions(out[0]);
      case Function::base_wrench: return base_wrench(out[0]);
      case Function::kinetic_energy: return kinetic(out[0]);
      case Function::potential_energy: return potential(out[0]);
      case Function::pose: return pose(out[0]);
      case Function::jacobian: return jacobian(out[0]);
      case Function::jacobian_rate: return jacobian_rate(out[0]);
      case Function::velocity: return velocity(out[0]);
      case Function::acceleration: return acceleration(out[0]);
      case Function::com: return com(out[0]);
      case Function::momentum: return momentum(out[0]);
      case Function::momentum_matrix: return momentum_matrix(out[0]);
      case Function::coriolis_matrix: return coriolis(out[0]);
      case Function::regressor: return regressor(out[0]);
      case Function::section_load:
      case Function::derivatives:
      case Function::forward_derivatives:
      case Function::inverse_mass_matrix:
      case Function::mass_matrix_derivatives:
      case Function::mass_matrix_second_derivatives:
      case Function::christoffel:
      case Function::gravity_stiffness:
      case Function::kinematic_derivative:
      case Function::effective_inertia:
      case Function::mass_matrix_derivative:
      case Function::second_derivatives:
      case Function::packed_regressor:
      case Function::energy_regressor:
      case Function::power_regressor:
      case Function::momentum_regressor:
      case Function::base_wrench_regressor: return analyse(out, pivot);
    }
  }

  // functions of chain_analysis.hpp, compiled apart: in one unit with the others they would take from them what the
  // compiler may inline
  void analyse(T* const* out, T* pivot);

  void inverse_dynamics(T* out) {
    const T *qd = ordered(in_[Param::qd]), *qdd = ordered(in_[Param::qdd]);
    T* tau = unordered(out);
    newton_euler(qd, qdd, tau);
    forces_.add_efforts(at_.q, qd, qdd, tau);
    deliver(tau, out);
  }

  // forward dynamics by articulated bodies with the factors of this position, see spread
  template <class Wrenches, class Numbers>
  void accelerations(const Wrenches& U, const Numbers& inverse, T* out) {
    const T* qd = ordered(in_[Param::qd]);
    T* qdd = unordered(out);
    const T* tau = effort_left(qd, ordered(in_[Param::tau]));
    for (int b = 0; b < n_; ++b) qdd[b] = tau[b];
    const Wrench<T>* ext = external(true);
    Wrench<T>* bias = scratch_.take<Wrench<T>>(n_);
    const auto solve = [&](auto stacked) {
      constexpr bool kStacked = decltype(stacked)::value;
      const T* no_acceleration = nullptr;
      body_wrenches<kStacked>(model_, at_, qd, no_acceleration, base(), ext, bias, scratch_);
      solve_motion<kStacked>(model_, at_, U, inverse, bias, ext != nullptr, qdd, scratch_);
    };
    if (chain_.topology().stacked)
      solve(std::true_type());
    else
      solve(std::false_type());
    deliver(qdd, out);
  }

 protected:
  // an n-vector of the user in the order of bodies
  const T* ordered(const T* x) {
    if (chain_.identity_order()) return x;
    T* y = scratch_.take<T>(n_);
    for (int b = 0; b < n_; ++b) y[b] = x[chain_.user_index()[b]];
    return y;
  }
  // where to compute an n-vector of bodies that goes to `out`
  T* unordered(T* out) { return chain_.identity_order() ? out : scratch_.take<T>(n_); }
  void deliver(const T* x, T* out) {
    if (x != out)
      for (int b = 0; b < n_; ++b) out[chain_.user_index()[b]] = x[b];
  }

  // a - g, Omega, Omega'
  BaseMotion<T> base() const {
    const T* b = in_[Param::base_motion];
    if (!b) return {zero3<T>(), zero3<T>(), cast<T>(-chain_.gravity()), false};
    const Vec3<T> a{b[0], b[1], b[2]};
    return {{b[3], b[4], b[5]}, {b[6], b[7], b[8]}, job_.weightless ? a : a - cast<T>(chain_.gravity()), true};
  }

  void frames() {
    R_WB_ = scratch_.take<Mat3<T>>(n_);
    p_W_ = scratch_.take<Vec3<T>>(n_);
    body_frames(model_, at_, R_WB_, p_W_);
  }

  // external wrenches on each body about its origin; in body axes, or in base axes
  const Wrench<T>* external(bool body_axes) {
    if (job_.external_count == 0) return nullptr;
    if (!R_WB_ && !(body_axes && job_.external_in_links)) frames();
    Wrench<T>* sum = scratch_.take<Wrench<T>>(n_);
    for (int b = 0; b < n_; ++b) sum[b] = {zero3<T>(), zero3<T>()};
    for (int k = 0; k < job_.external_count; ++k) {
      const LinkFrame& frame = job_.external_frames[k];
      if (frame.body == kWorld) continue;
      Vec3<T> f, m, arm = cast<T>(frame.p_BoUo_B);
      load(k, f, m);
      if (job_.external_in_links) {
        f = times(cast<T>(frame.R_BU), f);
        m = times(cast<T>(frame.R_BU), m);
        if (!body_axes) {
          f = times(R_WB_[frame.body], f);
          m = times(R_WB_[frame.body], m);
        }
      } else if (body_axes) {
        f = transposed_times(R_WB_[frame.body], f);
        m = transposed_times(R_WB_[frame.body], m);
      }
      if (!body_axes) arm = times(R_WB_[frame.body], arm);
      sum[frame.body].f += f;
      sum[frame.body].n += m + cross<T>(arm, f);
    }
    return sum;
  }
  void load(int k, Vec3<T>& f, Vec3<T>& m) const {
    const T* w = in_.external + 6 * k;
    f = {w[0], w[1], w[2]};
    m = {w[3], w[4], w[5]};
  }

  // where to compute an n x n matrix of bodies that goes to `out`, null if it is not wanted
  T* unordered_square(T* out) {
    return out && chain_.identity_order() ? out : scratch_.take<T>(static_cast<std::size_t>(n_) * n_);
  }
  void deliver_square(const T* M, T* out) { deliver_square(M, n_, out); }
  void deliver_square(const T* M, std::ptrdiff_t stride, T* out) {
    if (!out || M == out) return;
    const std::ptrdiff_t n = n_;
    const std::vector<int>& u = chain_.user_index();
    if (chain_.identity_order())
      for (std::ptrdiff_t i = 0; i < n; ++i) std::copy_n(M + i * stride, n, out + i * n);
    else
      for (std::ptrdiff_t i = 0; i < n; ++i)
        for (std::ptrdiff_t j = 0; j < n; ++j) out[u[i] * n + u[j]] = M[i * stride + j];
  }
  // make(n x n matrix of bodies) -> the user's order
  template <class Make>
  void square(T* out, const Make& make) {
    T* M = unordered_square(out);
    make(M);
    deliver_square(M, out);
  }

  void mass_matrix(T* out) {
    square(out, [&](T* M) { mass_matrix_of_bodies(chain_, model_, job_.method, at_, M, scratch_); });
  }

  void coriolis(T* out) {
    frames();
    const T* qd = ordered(in_[Param::qd]);
    enter_stage<T>(Stage::algorithm);
    square(out, [&](T* C) { coriolis_matrix(model_, R_WB_, p_W_, qd, C, scratch_); });
  }

  // joint wrenches with or without accelerations; tau in the order of bodies
  Wrench<T>* newton_euler(const T* qd, const T* qdd, T* tau) {
    const Wrench<T>* ext = external(true);
    Wrench<T>* wrench = scratch_.take<Wrench<T>>(n_);
    enter_stage<T>(Stage::algorithm);
    rnea(model_, at_, qd, qdd, base(), ext, wrench, tau, scratch_);
    return wrench;
  }

  void bias(T* out) {
    const T* qd = ordered(in_[Param::qd]);
    T* tau = unordered(out);
    if (job_.method == Method::kane_bias)
      kane_bias(model_, at_, qd, base(), external(false), tau, scratch_);
    else if (job_.method == Method::leskov_bias)
      leskov_bias<false>(model_, at_, qd, base(), external(false), tau, scratch_);
    else if (job_.method == Method::leskov_link_bias)
      leskov_bias<true>(model_, at_, qd, base(), external(true), tau, scratch_);
    else
      newton_euler(qd, nullptr, tau);
    forces_.add_efforts(at_.q, qd, nullptr, tau);
    deliver(tau, out);
  }

  // what friction and springs leave of the efforts
  const T* effort_left(const T* qd, const T* tau) {
    if (!forces_.resists()) return tau;
    T* left = scratch_.take<T>(n_);
    forces_.take_efforts(at_.q, qd, tau, left);
    return left;
  }

  // accelerations by articulated bodies, everything in the order of bodies
  void articulated(const T* qd, const T* tau, T* qdd, T* pivot) {
    tau = effort_left(qd, tau);
    const Wrench<T>* ext = external(true);
    enter_stage<T>(Stage::algorithm);
    aba(model_, at_, qd, tau, forces_.rotors(), base(), ext, qdd, pivot, scratch_);
  }

  // mass matrix -> its factors L'DL, judged by their pivots
  void factorise(T* M, T* pivot) {
    enter_stage<T>(Stage::algorithm);
    ltl(chain_.topology(), M, n_);
    for (std::ptrdiff_t b = 0; b < n_; ++b) pivot[b] = M[b * n_ + b];
  }

  void forward_dynamics(T* out, T* pivot) {
    const T *qd = ordered(in_[Param::qd]), *tau = ordered(in_[Param::tau]);
    T* qdd = unordered(out);
    if (job_.method == Method::cholesky || job_.method == Method::cholesky_walk) {
      newton_euler(qd, nullptr, qdd);
      forces_.add_efforts(at_.q, qd, nullptr, qdd);
      for (int b = 0; b < n_; ++b) qdd[b] = tau[b] - qdd[b];
      T* M = take_square<T>(n_, scratch_);
      const Method mass = job_.method == Method::cholesky_walk ? Method::crba_walk : Method::crba;
      mass_matrix_of_bodies(chain_, model_, mass, at_, M, scratch_);
      factorise(M, pivot);
      ltl_solve(chain_.topology(), M, qdd);
    } else {
      articulated(qd, tau, qdd, pivot);
    }
    deliver(qdd, out);
  }

  // matrices of bodies: those of inverse dynamics with everything that acts in the joints
  void first_order(const T* qd, const T* qdd, const FirstOrder<T>& out) {
    const Wrench<T>* fixed_in_links = job_.external_in_links ? external(true) : nullptr;
    const BaseMotion<T> motion = base();
    if (job_.method == Method::sweep_walk)
      derivatives_walk(model_, at_, qd, qdd, motion, fixed_in_links, out, scratch_);
    else
      derivatives_at_root(model_, at_, qd, qdd, motion, fixed_in_links, out, scratch_);
    forces_.add_rotors(out.M);
    forces_.add_slopes(out.dq, out.dqd);
    if (job_.external_count && !job_.external_in_links) fixed_loads(out.dq);
  }

  void fixed_loads(T* dq) {
    if (!R_WB_) frames();
    FixedLoad<T>* load = scratch_.take<FixedLoad<T>>(n_);
    for (int b = 0; b < n_; ++b) load[b] = {zero3<T>(), zero3<T>(), diagonal(T(0.0))};
    for (int k = 0; k < job_.external_count; ++k) {
      const LinkFrame& frame = job_.external_frames[k];
      if (frame.body == kWorld) continue;
      FixedLoad<T> here;
      this->load(k, here.f, here.n);
      const Vec3<T> x = p_W_[frame.body] + times(R_WB_[frame.body], cast<T>(frame.p_BoUo_B));
      FixedLoad<T>& sum = load[frame.body];
      sum.f += here.f;
      sum.n += here.n;
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) sum.G(i, j) += here.f[i] * x[j];
    }
    subtract_fixed_loads(model_, R_WB_, p_W_, load, dq);
  }

  void derivatives(T* const* out) {
    const T *qd = ordered(in_[Param::qd]), *qdd = ordered(in_[Param::qdd]);
    const FirstOrder<T> x{unordered_square(out[0]), unordered_square(out[1]), unordered_square(out[2])};
    first_order(qd, qdd, x);
    deliver_square(x.dq, out[0]);
    deliver_square(x.dqd, out[1]);
    deliver_square(x.M, out[2]);
  }

  // up to so many joints columns are multiplied by M^-1, beyond by less work solved one by one
  static constexpr int kLongestDense = 48;

  // (D4.15)
  void forward_derivatives(T* const* out, T* pivot) {
    const T *qd = ordered(in_[Param::qd]), *tau = ordered(in_[Param::tau]);
    // M gives its place to its inverse, and slopes to their products: less leaves the fastest cache
    const bool in_place = chain_.identity_order() && n_ <= kLongestDense && wide_stride<T>(n_) == n_;
    const bool slopes_too = in_place && n_ <= kProductRows;
    const auto place = [&](int k, bool here) { return here && out[k] ? out[k] : take_square<T>(n_, scratch_); };
    const FirstOrder<T> x{place(0, slopes_too), place(1, slopes_too), place(2, in_place)};
    const T* inverse = nullptr;
    // wrenches fixed in the world act, but not in the sweep
    if (n_ > kLongestDense || (job_.external_count && !job_.external_in_links)) {
      T* qdd = scratch_.take<T>(n_);
      articulated(qd, tau, qdd, pivot);
      first_order(qd, qdd, x);
      if (n_ > kLongestDense) return solve_columns(x, out, pivot);
      inverse = inverted(x.M, out[2], pivot);
    } else {
      T* left = scratch_.take<T>(n_);
      forces_.take_efforts(at_.q, qd, tau, left);
      solved_derivatives_at_root(model_, at_, qd, base(), external(true), x, scratch_, [&](const T* effort, T* qdd) {
        forces_.add_rotors(x.M);
        inverse = inverted(x.M, out[2], pivot);
        for (int b = 0; b < n_; ++b) left[b] = left[b] - effort[b];
        multiply_symmetric(inverse, left, qdd, n_);
      });
      forces_.add_slopes(x.dq, x.dqd);
    }
    const T* slope[2] = {x.dq, x.dqd};
    T *product[2], *wanted[2];
    int products = 0;
    for (int k = 0; k < 2; ++k)
      if (out[k]) slope[products] = slope[k], wanted[products] = out[k], product[products++] = unordered_square(out[k]);
    if (products == 2)
      multiply_negated<2>(inverse, slope, product, n_);
    else if (products == 1)
      multiply_negated<1>(inverse, slope, product, n_);
    for (int k = 0; k < products; ++k) deliver_square(product[k], wanted[k]);
  }

  // mass matrix from take_square, or in the place of its inverse, which is not kept -> its inverse of wide_stride, delivered
  // too
  const T* inverted(T* M, T* out, T* pivot) {
    using V = Wide<T>;
    const std::ptrdiff_t n = n_, stride = wide_stride<T>(n);
    if (stride != n) {
      const T* mass = M;
      M = take_square<T>(n, scratch_);
      for (std::ptrdiff_t i = 0; i < n; ++i)
        for (std::ptrdiff_t j = 0; j < stride; j += V::kStep) V::store(M + i * stride + j, V::load(mass + i * n + j));
    }
    enter_stage<T>(Stage::algorithm);
    T* reciprocal = scratch_.take<T>(n);
    ltl(chain_.topology(), M, stride, reciprocal);
    for (std::ptrdiff_t b = 0; b < n; ++b) pivot[b] = M[b * stride + b];
    T* inverse = out && chain_.identity_order() && stride == n ? out : take_square<T>(n, scratch_);
    ltl_inverse(chain_.topology(), M, reciprocal, inverse, scratch_);
    mirror_lower(inverse, stride);
    deliver_square(inverse, stride, out);
    return inverse;
  }

  // the same by articulated bodies: O(n) for each column; of columns that are neighbours a group at once, two groups side by
  // side
  void solve_columns(const FirstOrder<T>& x, T* const* out, T* pivot) {
    using V = Wide<T>;
    using W = typename V::type;
    constexpr int kSides = V::kStep > 1 ? 2 : 1;
    using Side = std::conditional_t<(kSides > 1), Both<W>, W>;
    Wrench<T>* U = scratch_.take<Wrench<T>>(n_);
    T* inverse = scratch_.take<T>(n_);
    T* rotor = scratch_.take<T>(n_);
    for (int b = 0; b < n_; ++b) rotor[b] = T(chain_.rotor_inertia()[b]);
    factor_inertia(model_, at_, rotor, U, inverse, pivot, scratch_);
    Side* column = scratch_.take<Side>(n_);
    // of the first n bodies: from(b, side) efforts, to(b, side, accelerations)
    const auto solve = [&](int n, const auto& from, const auto& to) {
      for (int b = 0; b < n; ++b)
        if constexpr (kSides > 1)
          column[b] = {from(b, 0), from(b, 1)};
        else
          column[b] = from(b, 0);
      solve_inertia(model_, at_, U, inverse, n, column, scratch_);
      for (int b = 0; b < n; ++b)
        if constexpr (kSides > 1)
          to(b, 0, column[b].a), to(b, 1, column[b].b);
        else
          to(b, 0, column[b]);
    };
    const std::ptrdiff_t n = n_;
    const T* slope[2] = {x.dq, x.dqd};
    T *product[2], *wanted[2];
    int matrices = 0;
    for (int k = 0; k < 2; ++k)
      if (out[k]) slope[matrices] = slope[k], wanted[matrices] = out[k], product[matrices++] = unordered_square(out[k]);
    const int groups = (n_ + V::kStep - 1) / V::kStep, all = matrices * groups;
    for (int g = 0; g < all; g += kSides) {
      const auto group = [&](int side) { return std::min(g + side, all - 1); };
      solve(
          n_,
          [&](int b, int side)
              ZVENO_INLINED { return -V::load(slope[group(side) / groups] + b * n + group(side) % groups * V::kStep); },
          [&](int b, int side, const W& y) ZVENO_INLINED {
            const int j = group(side) % groups * V::kStep;
            V::store(product[group(side) / groups] + b * n + j, n_ - j, y);
          });
    }
    for (int k = 0; k < matrices; ++k) deliver_square(product[k], wanted[k]);
    if (!out[2]) return;
    square(out[2], [&](T* M) {
      const W zero(0.0), one(1.0);
      for (int first = 0; first < n_;
           first += kSides * V::kStep) {  // unit efforts move what is inboard; the rest by symmetry
        solve(
            std::min(first + kSides * V::kStep, n_),
            [&](int b, int side) ZVENO_INLINED {
              const int own = b - first - side * V::kStep;
              return own < 0 ? zero : V::chosen(V::first(own), zero, V::chosen(V::first(own + 1), one, zero));
            },
            [&](int b, int side, const W& y) ZVENO_INLINED {
              const int j = first + side * V::kStep;
              if (j < n_) V::store(M + b * n + j, n_ - j, y);
            });
      }
      mirror_upper(M, n);
    });
  }

  void inverse_mass_matrix(T* out, T* pivot) {
    T* M = take_square<T>(n_, scratch_);
    mass_matrix_of_bodies(chain_, model_, n_ <= 8 ? Method::crba_walk : Method::crba, at_, M, scratch_);
    inverted(M, out, pivot);
  }

  // (5.4)-(5.5) in the user's link axes or base axes, about the link origin
  void reactions(T* out) {
    const T *qd = ordered(in_[Param::qd]), *qdd = ordered(in_[Param::qdd]);
    const Wrench<T>* wrench = newton_euler(qd, qdd, scratch_.take<T>(n_));
    if (!job_.link_axes && !R_WB_) frames();
    for (int b = 0; b < n_; ++b) {
      T* w = out + 6 * chain_.user_index()[b];
      Vec3<T> f, m;
      if (job_.link_axes) {
        const Mat3<T> R_BU = cast<T>(chain_.joint_frame(b).R_BU);
        f = transposed_times(R_BU, wrench[b].f);
        m = transposed_times(R_BU, wrench[b].n);
      } else {
        f = times(R_WB_[b], wrench[b].f);
        m = times(R_WB_[b], wrench[b].n);
      }
      for (int k = 0; k < 3; ++k) w[k] = f[k], w[k + 3] = m[k];
    }
  }

  // minus the wrenches through the first joints, and the loads on what is welded to the base, about the base origin
  void base_wrench(T* out) {
    const T *qd = ordered(in_[Param::qd]), *qdd = ordered(in_[Param::qdd]);
    const Wrench<T>* wrench = newton_euler(qd, qdd, scratch_.take<T>(n_));
    const Moments<double>& welded = chain_.base_moments();
    const BaseMotion<T> motion = base();
    const Vec3<T> g = -motion.a, c = cast<T>(welded.mc);
    Vec3<T> f = g * T(welded.m), m = cross<T>(c, g);
    if (motion.moving) {
      const Mat3<T> K = rotation_acceleration(motion.w, motion.dw);
      f -= times(K, c);
      m -= axial_of_product(K, cast<T>(welded.S));
    }
    for (int b = 0; b < n_; ++b) {
      if (model_.parent(b) != kWorld) continue;
      const JointFrame<T> X = joint_frame(model_, at_, b);
      const Vec3<T> force = X.to_parent(wrench[b].f);
      f -= force;
      m -= X.moment_to_parent(wrench[b].n, force);
    }
    for (int k = 0; k < job_.external_count; ++k) {
      const LinkFrame& frame = job_.external_frames[k];
      if (frame.body != kWorld) continue;
      Vec3<T> force, moment;
      load(k, force, moment);
      if (job_.external_in_links) {
        force = times(cast<T>(frame.R_BU), force);
        moment = times(cast<T>(frame.R_BU), moment);
      }
      f += force;
      m += moment + cross<T>(cast<T>(frame.p_BoUo_B), force);
    }
    for (int k = 0; k < 3; ++k) out[k] = f[k], out[k + 3] = m[k];
  }

  void kinetic(T* out) {
    const T* qd = ordered(in_[Param::qd]);
    enter_stage<T>(Stage::algorithm);
    *out = kinetic_energy(model_, at_, qd, scratch_.take<Vec3<T>>(n_), scratch_.take<Vec3<T>>(n_));
    forces_.add_kinetic_energy(qd, out);
  }

  void potential(T* out) {
    frames();
    enter_stage<T>(Stage::algorithm);
    const T welded = T(-dot(chain_.base_moments().mc, chain_.gravity()));
    *out = potential_energy(model_, R_WB_, p_W_, Vec3<T>(cast<T>(chain_.gravity()))) + welded;
    forces_.add_potential_energy(at_.q, out);
  }

  // the user's frame in base axes
  void link_frame(Mat3<T>& R_WU, Vec3<T>& p) const {
    const LinkFrame& frame = job_.frame;
    const Mat3<T> R_BU = cast<T>(frame.R_BU);
    const Vec3<T> p_B = cast<T>(frame.p_BoUo_B);
    if (frame.body == kWorld) {
      R_WU = R_BU;
      p = p_B;
    } else {
      R_WU = times(R_WB_[frame.body], R_BU);
      p = p_W_[frame.body] + times(R_WB_[frame.body], p_B);
    }
  }

  void pose(T* out) {
    frames();
    Mat3<T> R;
    Vec3<T> p;
    link_frame(R, p);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) out[4 * i + j] = R(i, j);
      out[4 * i + 3] = p[i];
      out[12 + i] = T(0.0);
    }
    out[15] = T(1.0);
  }

  // write column `b` of a 6 x n matrix
  void write_column(T* out, int b, const Vec3<T>& v, const Vec3<T>& w) const {
    const int u = chain_.user_index()[b];
    for (int k = 0; k < 3; ++k) out[k * n_ + u] = v[k], out[(k + 3) * n_ + u] = w[k];
  }

  void jacobian(T* out) {
    frames();
    enter_stage<T>(Stage::algorithm);
    for (int k = 0; k < 6 * n_; ++k) out[k] = T(0.0);
    Mat3<T> R;
    Vec3<T> x, v, w;
    link_frame(R, x);
    for (int b = job_.frame.body; b != kWorld; b = model_.parent(b)) {
      jacobian_column(model_, b, R_WB_, p_W_, x, v, w);
      if (job_.link_axes) {
        v = transposed_times(R, v);
        w = transposed_times(R, w);
      }
      write_column(out, b, v, w);
    }
  }

  // [v; w] in the axes that are wanted
  void write_twist(const Mat3<T>& R, const Vec3<T>& v, const Vec3<T>& w, T* out) const {
    const Vec3<T> a = job_.link_axes ? transposed_times(R, v) : v, b = job_.link_axes ? transposed_times(R, w) : w;
    for (int k = 0; k < 3; ++k) out[k] = a[k], out[k + 3] = b[k];
  }

  void velocity(T* out) {
    frames();
    const T* qd = ordered(in_[Param::qd]);
    enter_stage<T>(Stage::algorithm);
    Mat3<T> R;
    Vec3<T> x, v, w;
    link_frame(R, x);
    point_velocity(model_, job_.frame.body, R_WB_, p_W_, x, qd, v, w);
    write_twist(R, v, w, out);
  }

  void acceleration(T* out) {
    frames();
    const T *qd = ordered(in_[Param::qd]), *qdd = ordered(in_[Param::qdd]);
    enter_stage<T>(Stage::algorithm);
    Mat3<T> R;
    Vec3<T> x, a, alpha;
    link_frame(R, x);
    BodyMotion<T>* motion = scratch_.take<BodyMotion<T>>(n_);
    body_motions(model_, R_WB_, p_W_, qd, qdd, BaseMotion<T>{zero3<T>(), zero3<T>(), zero3<T>(), false}, motion);
    point_acceleration(job_.frame.body, p_W_, x, motion, a, alpha);
    write_twist(R, a, alpha, out);
  }

  static Vec3<T> centre_of(const Moments<T>& x) { return x.mc * (T(1.0) / x.m); }

  void com(T* out) {
    frames();
    enter_stage<T>(Stage::algorithm);
    T mass(0.0);
    Vec3<T> moment = zero3<T>();
    for (int b = 0; b < n_; ++b) {
      if (model_.hinge(b)) continue;
      mass += T(model_.body[b].m);
      moment += p_W_[b] * T(model_.body[b].m) + times(R_WB_[b], cast<T>(model_.body[b].mc_B));
    }
    const T inverse = T(1.0) / mass;
    for (int k = 0; k < 3; ++k) out[k] = moment[k] * inverse;
  }

  // columns of the momentum matrix, angular parts about the point that is wanted
  template <class Use>
  void for_momenta(const Use& use) {
    frames();
    enter_stage<T>(Stage::algorithm);
    const Moments<T>* sum = composite_moments(model_, R_WB_, p_W_, scratch_);
    const Vec3<T> centre = job_.about_base ? zero3<T>() : centre_of(whole_moments(model_, sum));
    for (int b = 0; b < n_; ++b) {
      Screw<T> h = momentum_of(sum[b], joint_screw(model_, b, R_WB_, p_W_));
      if (!job_.about_base) h.w -= cross<T>(centre, h.v);
      use(b, h);
    }
  }

  void momentum_matrix(T* out) {
    for_momenta([&](int b, const Screw<T>& h) { write_column(out, b, h.v, h.w); });
  }

  void momentum(T* out) {
    const T* qd = ordered(in_[Param::qd]);
    Vec3<T> p = zero3<T>(), L = zero3<T>();
    for_momenta([&](int b, const Screw<T>& h) { p += h.v * qd[b], L += h.w * qd[b]; });
    for (int k = 0; k < 3; ++k) out[k] = p[k], out[k + 3] = L[k];
  }

  std::ptrdiff_t parameters_of_links() const { return kInertial * static_cast<std::ptrdiff_t>(chain_.links().size()); }

  // f(link, its body, its columns, first of its ten numbers) for links, those of the base too if they are wanted. A link's
  // columns are used after those of the next one are made: what was written number by number is read many at a time.
  template <class F>
  void for_links(const T* qd, const T* qdd, const BaseMotion<T>& base, bool of_base, const F& f) {
    enter_stage<T>(Stage::algorithm);
    BodyMotion<T>* motion = scratch_.take<BodyMotion<T>>(n_);
    body_motions(model_, R_WB_, p_W_, qd, qdd, base, motion);
    LinkColumns<T>* columns = scratch_.take<LinkColumns<T>>(2);
    const auto use = [&](int link, int at) {
      f(link, chain_.frame(link).body, columns[at], static_cast<std::ptrdiff_t>(kInertial) * link);
    };
    int last = -1, at = 0;
    for (int link = 0; link < static_cast<int>(chain_.links().size()); ++link) {
      const LinkFrame& frame = chain_.frame(link);
      if (frame.body == kWorld && !of_base) continue;
      link_columns(link_motion(frame, R_WB_, p_W_, motion, base), columns[at]);
      at = 1 - at;
      if (last >= 0) use(last, at);
      last = link;
    }
    if (last >= 0) use(last, 1 - at);
  }

  // by accelerations
  template <class F>
  void for_links(bool of_base, const F& f) {
    for_links(ordered(in_[Param::qd]), ordered(in_[Param::qdd]), base(), of_base, f);
  }

  // by velocities, which are accelerations from rest: what is linear in the mass times velocity
  template <class F>
  void for_velocities(bool of_base, const F& f) {
    const T* qd = ordered(in_[Param::qd]);
    T* none = scratch_.take<T>(n_);
    for (int b = 0; b < n_; ++b) none[b] = T(0.0);
    const BaseMotion<T> still{zero3<T>(), zero3<T>(), zero3<T>(), false};
    for_links(none, qd, still, of_base, f);
  }

  const Screw<T>* screws_of_joints() {
    Screw<T>* screws = scratch_.take<Screw<T>>(n_);
    for (int b = 0; b < n_; ++b) screws[b] = joint_screw(model_, b, R_WB_, p_W_);
    return screws;
  }

  // of a body at the base origin, relative to the base
  Screw<T> motion_of(int body, const T* qd) const {
    Screw<T> motion;
    point_velocity(model_, body, R_WB_, p_W_, zero3<T>(), qd, motion.v, motion.w);
    return motion;
  }

  void regressor(T* out) {
    const std::ptrdiff_t width = parameters_of_links();
    for (std::ptrdiff_t k = 0; k < n_ * width; ++k) out[k] = T(0.0);
    frames();
    const Screw<T>* screws = screws_of_joints();
    for_links(false, [&](int, int body, const LinkColumns<T>& columns, std::ptrdiff_t first) {
      link_regressor(model_, body, columns, screws, [&](int b) { return out + first + chain_.user_index()[b] * width; });
    });
  }

  // rows of joints side by side, each without the links that it does not move
  void packed_regressor(T* out) {
    int* next = scratch_.take<int>(n_);
    std::copy_n(chain_.first_pair().data(), n_, next);
    frames();
    const Screw<T>* screws = screws_of_joints();
    for_links(false, [&](int, int body, const LinkColumns<T>& columns, std::ptrdiff_t) {
      link_regressor(model_, body, columns, screws,
                     [&](int b) { return out + static_cast<std::ptrdiff_t>(kInertial) * next[b]++; });
    });
  }

  void energy_regressor(T* out) {
    const Vec3<T> g = cast<T>(chain_.gravity());
    const T* qd = ordered(in_[Param::qd]);
    frames();
    for_velocities(true, [&](int link, int body, const LinkColumns<T>& columns, std::ptrdiff_t first) {
      T *kinetic = out + first, *potential = kinetic + parameters_of_links();
      columns.along(motion_of(body, qd), kinetic);
      for (int k = 0; k < kInertial; ++k) kinetic[k] = kinetic[k] * T(0.5);
      const LinkFrame& frame = chain_.frame(link);
      Vec3<T> down = g, x = cast<T>(frame.p_BoUo_B);
      if (body != kWorld) {
        down = transposed_times(R_WB_[body], g);
        x = p_W_[body] + times(R_WB_[body], x);
      }
      down = transposed_times(cast<T>(frame.R_BU), down);
      potential[0] = -dot<T>(g, x);
      for (int k = 0; k < 3; ++k) potential[1 + k] = -down[k];
      for (int k = 4; k < kInertial; ++k) potential[k] = T(0.0);
    });
  }

  void power_regressor(T* out) {
    for (std::ptrdiff_t k = 0; k < parameters_of_links(); ++k) out[k] = T(0.0);
    const T* qd = ordered(in_[Param::qd]);
    frames();
    for_links(false, [&](int, int body, const LinkColumns<T>& columns, std::ptrdiff_t first) {
      columns.along(motion_of(body, qd), out + first);
    });
  }

  // six rows of a link: forces and moments about the base origin, base axes, times `sign`
  void write_screws(const LinkColumns<T>& columns, T sign, T* out) const {
    const std::ptrdiff_t width = parameters_of_links();
    for (int k = 0; k < 3; ++k) {
      T *force = out + k * width, *moment = force + 3 * width;
      for (int c = 0; c < kInertial; ++c) {
        force[c] = c < 4 ? sign * columns.f[k][c] : T(0.0);
        moment[c] = sign * columns.n[k][c];
      }
    }
  }

  void momentum_regressor(T* out) {
    for (std::ptrdiff_t k = 0; k < 6 * parameters_of_links(); ++k) out[k] = T(0.0);
    frames();
    for_velocities(false, [&](int, int, const LinkColumns<T>& columns, std::ptrdiff_t first) {
      write_screws(columns, T(1.0), out + first);
    });
  }

  void base_wrench_regressor(T* out) {
    frames();
    for_links(true, [&](int, int, const LinkColumns<T>& columns, std::ptrdiff_t first) {
      write_screws(columns, T(-1.0), out + first);
    });
  }

  // external wrenches on the part beyond the cut, about Bo, body axes
  Wrench<T> load_beyond(const SectionCut& cut) const {
    Wrench<T> sum{zero3<T>(), zero3<T>()};
    for (int k = 0; k < job_.external_count; ++k) {
      const LinkFrame& frame = job_.external_frames[k];
      if (frame.link < 0 || !cut.loaded[frame.link]) continue;
      Vec3<T> f, m;
      load(k, f, m);
      if (job_.external_in_links) {
        f = times(cast<T>(frame.R_BU), f);
        m = times(cast<T>(frame.R_BU), m);
      } else if (cut.body != kWorld) {
        f = transposed_times(R_WB_[cut.body], f);
        m = transposed_times(R_WB_[cut.body], m);
      }
      sum.f += f;
      sum.n += m + cross<T>(cast<T>(frame.p_BoUo_B), f);
    }
    return sum;
  }

  void section_load(T* out) {
    const SectionCut& cut = *job_.section;
    const Vec3<T> g = cast<T>(chain_.gravity());
    const T *qd = ordered(in_[Param::qd]), *qdd = ordered(in_[Param::qdd]);
    BaseMotion<T> motion = base();
    if (!cut.in_motion) {
      T* still = scratch_.take<T>(n_);
      for (int b = 0; b < n_; ++b) still[b] = T(0.0);
      qd = still, qdd = nullptr;
      motion = {zero3<T>(), zero3<T>(), -g, false};
    }
    if (!cut.at_rest) motion.a += g;
    const bool loads = cut.at_rest && job_.external_count > 0;
    const Wrench<T>* ext = loads ? external(true) : nullptr;
    Wrench<T>* wrench = scratch_.take<Wrench<T>>(n_);
    enter_stage<T>(Stage::algorithm);
    joint_wrenches(model_, at_, qd, qdd, motion, ext, wrench, scratch_);
    const BaseMotion<T> body = motion_of_body(model_, at_, qd, qdd, motion, cut.body, scratch_);
    const Wrench<T> load = loads ? load_beyond(cut) : Wrench<T>{zero3<T>(), zero3<T>()};
    const Wrench<T> w = section_wrench(model_, at_, cut, body, wrench, loads ? &load : nullptr);
    const Mat3<T> R_BA = cast<T>(cut.R_BA);
    if (cut.world_axes && cut.body != kWorld && !R_WB_) frames();
    const auto turned = [&](const Vec3<T>& a) {
      return !cut.world_axes ? transposed_times(R_BA, a) : cut.body == kWorld ? a : times(R_WB_[cut.body], a);
    };
    const Vec3<T> f = turned(w.f), m = turned(w.n);
    for (int k = 0; k < 3; ++k) out[k] = f[k], out[k + 3] = m[k];
  }

  void jacobian_rate(T* out) {
    frames();
    const T* qd = ordered(in_[Param::qd]);
    Vec3<T>* w = scratch_.take<Vec3<T>>(n_);
    Vec3<T>* v = scratch_.take<Vec3<T>>(n_);
    body_velocities(model_, R_WB_, p_W_, qd, w, v);
    enter_stage<T>(Stage::algorithm);
    for (int k = 0; k < 6 * n_; ++k) out[k] = T(0.0);
    const int last = job_.frame.body;
    if (last == kWorld) return;
    Mat3<T> R;
    Vec3<T> x, vb, wb;
    link_frame(R, x);
    const Vec3<T> v_x = v[last] + cross<T>(w[last], x - p_W_[last]);
    for (int b = last; b != kWorld; b = model_.parent(b)) {
      jacobian_rate_column(model_, b, R_WB_, p_W_, x, w[b], v[b], v_x, vb, wb);
      if (job_.link_axes) {  // d/dt (R' a) = R' (ad - w x a)
        Vec3<T> v0, w0;
        jacobian_column(model_, b, R_WB_, p_W_, x, v0, w0);
        vb = transposed_times(R, Vec3<T>(vb - cross<T>(w[last], v0)));
        wb = transposed_times(R, Vec3<T>(wb - cross<T>(w[last], w0)));
      }
      write_column(out, b, vb, wb);
    }
  }

  // an n x n x n tensor of the user by the bodies of its indices
  struct Cube {
    T* out;
    const int* u;
    std::ptrdiff_t n;

    void set(int i, int j, int k, const T& x) const { out[(u[i] * n + u[j]) * n + u[k]] = x; }
    // the same with the first two, or the last two, exchanged
    void set_first(int i, int j, int k, const T& x) const { set(i, j, k, x), set(j, i, k, x); }
    void set_last(int i, int j, int k, const T& x) const { set(i, j, k, x), set(i, k, j, x); }
  };
  Cube cleared(T* out) const {
    const std::ptrdiff_t n = n_;
    for (std::ptrdiff_t k = 0; k < n * n * n; ++k) out[k] = T(0.0);
    return {out, chain_.user_index().data(), n};
  }

  // docs/derivatives.md (D2.4) from the products of (D2.3), and (D1.10)
  struct DerivativesFromProducts {
    Cube dM;
    void middle(int a, int b, int c, const T& alpha, const T& beta) const {
      dM.set_first(a, c, b, alpha - beta);
      dM.set_first(a, b, c, -(alpha + beta));
    }
    void first(int b, int c, const T& alpha) const { dM.set(b, b, c, -(alpha + alpha)); }
    void last(int a, int c, const T& beta) const { dM.set_first(a, c, c, -beta); }
  };
  struct Derivatives {
    Cube dM;
    void middle(int a, int b, int c, const T& ac_b, const T& ab_c) const {
      dM.set_first(a, c, b, ac_b);
      dM.set_first(a, b, c, ab_c);
    }
    void first(int b, int c, const T& bb_c) const { dM.set(b, b, c, bb_c); }
    void last(int a, int c, const T& ac_c) const { dM.set_first(a, c, c, ac_c); }
  };
  // (D2.5) in the same two ways
  struct SymbolsFromProducts {
    Cube d;
    void middle(int a, int b, int c, const T& alpha, const T& beta) const {
      d.set_last(c, a, b, alpha);
      d.set_last(b, a, c, -alpha);
      d.set_last(a, b, c, -beta);
    }
    void first(int b, int c, const T& alpha) const {
      d.set(c, b, b, alpha);
      d.set_last(b, b, c, -alpha);
    }
    void last(int a, int c, const T& beta) const { d.set(a, c, c, -beta); }
  };
  struct SymbolsFromDerivatives {
    SymbolsFromProducts put;
    void middle(int a, int b, int c, const T& ac_b, const T& ab_c) const {
      const T half(0.5);
      put.middle(a, b, c, (ac_b - ab_c) * half, -((ac_b + ab_c) * half));
    }
    void first(int b, int c, const T& bb_c) const { put.first(b, c, -(bb_c * T(0.5))); }
    void last(int a, int c, const T& ac_c) const { put.last(a, c, -ac_c); }
  };

  // (use of products of screws in base axes, use of derivatives)
  template <class OfProducts, class OfDerivatives>
  void for_triples(const OfProducts& of_products, const OfDerivatives& of_derivatives) {
    if (job_.method == Method::zaremba) return for_zaremba_triples(model_, at_, scratch_, of_derivatives);
    frames();
    enter_stage<T>(Stage::algorithm);
    for_swept_triples(model_, R_WB_, p_W_, scratch_, of_products);
  }
  void mass_matrix_derivatives(T* out) {
    const Cube dM = cleared(out);
    for_triples(DerivativesFromProducts{dM}, Derivatives{dM});
  }
  void christoffel(T* out) {
    const SymbolsFromProducts d{cleared(out)};
    for_triples(d, SymbolsFromDerivatives{d});
  }

  void mass_matrix_second_derivatives(T* out) {
    const std::ptrdiff_t n = n_;
    const std::vector<int>& u = chain_.user_index();
    for (std::ptrdiff_t k = 0; k < n * n * n * n; ++k) out[k] = T(0.0);
    for_second_derivatives_of_mass(model_, at_, scratch_, [&](int i, int j, int s, int t, const T& x) {
      const auto set = [&](int a, int b) {
        T* const to = out + (u[a] * n + u[b]) * n * n;
        to[u[s] * n + u[t]] = to[u[t] * n + u[s]] = x;
      };
      set(i, j), set(j, i);
    });
  }

  void gravity_stiffness_matrix(T* out) {
    frames();
    enter_stage<T>(Stage::algorithm);
    const Vec3<T> g = cast<T>(chain_.gravity());
    square(out, [&](T* K) { gravity_stiffness(model_, R_WB_, p_W_, g, K, scratch_); });
  }

  Observer<T, P> observer() {
    frames();
    enter_stage<T>(Stage::algorithm);
    Observer<T, P> at{model_, R_WB_, p_W_, {}, {}};
    link_frame(at.R_WU, at.x);
    return at;
  }
  // whether the joints to differentiate by are on the path to body `last`, outboard of body `first`
  bool between(int first, int last) const {
    for (int k = 0; k < job_.order; ++k)
      if (job_.by[k] <= first || !carries(model_, job_.by[k], last)) return false;
    return true;
  }

  void kinematic_derivative(T* out) {
    for (int k = 0; k < 6; ++k) out[k] = T(0.0);
    const int last = job_.frame.body;
    if (!(job_.outboard ? between(last, job_.i) : between(job_.i, last))) return;
    const Observer<T, P> at = observer();
    const Screw<T> l = job_.outboard ? at.outboard(job_.i, job_.by, job_.order) : at.inboard(job_.i, job_.by, job_.order);
    for (int k = 0; k < 3; ++k) out[k] = l.v[k], out[k + 3] = l.w[k];
  }

  void effective_inertia(T* out) {
    for (int k = 0; k < 36; ++k) out[k] = T(0.0);
    const int body = job_.frame.body;
    const int outer = job_.order ? job_.by[job_.order - 1] : body;
    if (!carries(model_, body, outer) || !between(body, outer)) return;
    const Observer<T, P> at = observer();
    Moments<T> X;
    if (job_.order) {
      X = at.derived(job_.by, job_.order);
    } else if (body != kWorld) {
      X = at.carried(body);
    } else {
      const Moments<double>& welded = chain_.base_moments();
      X = at.seen(Moments<T>{T(welded.m), cast<T>(welded.mc), cast<T>(welded.S)} +
                  whole_moments(model_, composite_moments(model_, R_WB_, p_W_, scratch_)));
    }
    const Sym3<T> I = inertia_of(X.S);
    const Mat3<T> c = skew(X.mc), J = dense(I);
    for (int i = 0; i < 3; ++i) {
      out[7 * i] = X.m;
      for (int j = 0; j < 3; ++j) {
        out[6 * i + j + 3] = c(j, i);
        out[6 * (i + 3) + j] = c(i, j);
        out[6 * (i + 3) + j + 3] = J(i, j);
      }
    }
  }

  // the single-term rule, docs/derivatives.md (D1.9)
  void mass_matrix_derivative(T* out) {
    *out = T(0.0);
    const int a = std::max(job_.i, job_.j), b = std::min(job_.i, job_.j);
    int inner = 0;  // of the joints to differentiate by so many are not outboard of a
    while (inner < job_.order && job_.by[inner] <= a) ++inner;
    if (!carries(model_, b, a) || !between(b, std::max(a, job_.order ? job_.by[job_.order - 1] : a))) return;
    if (inner < job_.order && !carries(model_, a, job_.by[job_.order - 1])) return;
    frames();
    enter_stage<T>(Stage::algorithm);
    const Observer<T, P> at{model_, R_WB_, p_W_, R_WB_[a], p_W_[a]};
    const Moments<T> X = inner < job_.order ? at.derived(job_.by + inner, job_.order - inner) : at.carried(a);
    const Screw<T> h = momentum_of(X, at.inboard(b, job_.by, inner));
    *out = model_.revolute(a) ? h.w.z() : h.v.z();
    if (a == b && !job_.order)
      if (const double* J = forces_.rotors()) *out += T(J[a]);
  }

  // loads whose components in base axes do not change, with the point where they act
  FixedLoads<T>* fixed_loads(const Screw<T>* W) {
    if (job_.external_count == 0) return nullptr;
    FixedLoads<T>* loads = scratch_.take<FixedLoads<T>>(n_);
    for (int b = 0; b < n_; ++b) loads[b] = {zero3<T>(), zero3<T>(), diagonal(T(0.0)), diagonal(T(0.0))};
    for (int k = 0; k < job_.external_count; ++k) {
      const LinkFrame& frame = job_.external_frames[k];
      const int b = frame.body;
      if (b == kWorld) continue;
      Vec3<T> f, m;
      load(k, f, m);
      loads[b].add(f, m, p_W_[b] + times(R_WB_[b], cast<T>(frame.p_BoUo_B)), W[b]);
    }
    return loads;
  }

  void second(T* const* out) {
    frames();
    const T *qd = ordered(in_[Param::qd]), *qdd = ordered(in_[Param::qdd]), *nu = ordered(in_[Param::weights]);
    enter_stage<T>(Stage::algorithm);
    Screw<T>* s = scratch_.take<Screw<T>>(n_);
    for (int b = 0; b < n_; ++b) s[b] = joint_screw(model_, b, R_WB_, p_W_);
    const Screw<T>* W = weighted_motions(model_, s, nu, scratch_);
    T* H[4];
    const std::size_t size = static_cast<std::size_t>(n_) * n_;
    for (int k = 0; k < 4; ++k) H[k] = !out[k] || chain_.identity_order() ? out[k] : scratch_.take<T>(size);
    const Hessians<T> hessians{H[0], H[1], H[2], H[3]};
    second_derivatives(model_, R_WB_, p_W_, s, W, qd, qdd, base(), fixed_loads(W), hessians, scratch_);
    for (int k = 0; k < 4; ++k)
      if (out[k] != H[k]) deliver_square(H[k], out[k]);
  }

  const Job& job_;
  const Chain& chain_;
  const JointForces<T> forces_;
  const ModelView<P> model_;
  const int n_;
  const Inputs<T> in_;
  Scratch& scratch_;
  JointPosition<T> at_;
  Mat3<T>* R_WB_ = nullptr;
  Vec3<T>* p_W_ = nullptr;
};

// Defined in instances/: evaluate for double, Packed and Counted; inverse_dynamics for the duals.
template <class T>
void evaluate(const Job& job, const Inputs<T>& in, T* const* out, T* pivot, Scratch& scratch);
template <class T>
void inverse_dynamics(const Job& job, const Inputs<T>& in, T* tau, Scratch& scratch);

}  // namespace zveno
