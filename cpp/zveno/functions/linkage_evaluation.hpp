// One state (or one pack of states) of a linkage: user's order in, user's order out. The same text serves every scalar.
// Equation numbers are those of docs/constraints.md.
#pragma once

#include <algorithm>
#include <cstdint>

#include <zveno/functions/chain_evaluation.hpp>
#include <zveno/functions/linkage_job.hpp>
#include <zveno/kernel/loop/constraint.hpp>
#include <zveno/kernel/loop/groups.hpp>
#include <zveno/kernel/loop/multipliers.hpp>

namespace zveno {

template <class T>
struct LinkageInputs : Inputs<T> {
  const T* given = nullptr;
  const T* drive = nullptr;  // 2 per constraint
};

template <class T>
class LinkageEvaluation : private ChainEvaluation<T> {
  using Base = ChainEvaluation<T>;
  using Base::at_;
  using Base::chain_;
  using Base::forces_;
  using Base::in_;
  using Base::model_;
  using Base::n_;
  using Base::p_W_;
  using Base::R_WB_;
  using Base::scratch_;

 public:
  LinkageEvaluation(const LinkageJob& job, const RowChoice& choice, const LinkageInputs<T>& in, Scratch& scratch)
      : Base(job.tree, job.linkage->chain().view(), in, scratch),
        job_(job),
        linkage_(*job.linkage),
        choice_(choice),
        given_(in.given),
        drive_(in.drive),
        m_(linkage_.rows()) {}

  void operator()(T* const* out, T* judged) {
    switch (job_.function) {
      case LinkageFunction::residual:
        rows<LoopOrder::position>();
        for (int i = 0; i < m_; ++i) out[0][i] = value_[i].f;
        return;
      case LinkageFunction::constraint_velocity:
        rows<LoopOrder::velocity>();
        for (int i = 0; i < m_; ++i) out[0][i] = value_[i].fd;
        return;
      case LinkageFunction::constraint_jacobian: {
        rows<LoopOrder::position>();
        T* row = scratch_.template take<T>(n_);
        for (int i = 0; i < m_; ++i) {
          jacobian_row(i, row);
          for (int b = 0; b < n_; ++b) out[0][i * n_ + chain_.user_index()[b]] = row[b];
        }
        return;
      }
      case LinkageFunction::constraint_bias:
        rows<LoopOrder::acceleration>();
        for (int i = 0; i < m_; ++i) out[0][i] = value_[i].gam;
        return;
      case LinkageFunction::constraint_derivatives: return;  // constraint_terms of duals: batch/
      case LinkageFunction::forward_dynamics: return forward_dynamics(out, judged);
      case LinkageFunction::project_position: return project<LoopOrder::position>(out[0], judged);
      case LinkageFunction::project_velocity: return project<LoopOrder::velocity>(out[0], judged);
    }
  }

  // What (L38) and (L40) differentiate: G'N, G qdd + gam, G qd + f_t
  void constraint_terms(const T* multiplier, T* force, T* fdd, T* fd) {
    rows<LoopOrder::acceleration>();
    const T* qdd = this->ordered(in_[Param::qdd]);
    T* row = scratch_.template take<T>(n_);
    T* sum = scratch_.template take<T>(n_);
    for (int b = 0; b < n_; ++b) sum[b] = T(0.0);
    for (int i = 0; i < m_; ++i) {
      jacobian_row(i, row);
      fd[i] = value_[i].fd;
      fdd[i] = value_[i].gam;
      for (int b = 0; b < n_; ++b) {
        fdd[i] += row[b] * qdd[b];
        sum[b] += row[b] * multiplier[i];
      }
    }
    for (int b = 0; b < n_; ++b) force[chain_.user_index()[b]] = sum[b];
  }

 private:
  // how much of a row: all, of those that follow from others the residual, of those that no joint moves perhaps nothing
  enum class Extent : std::uint8_t { whole, moved, all };

  // all rows, in base axes
  template <LoopOrder order>
  void rows(Extent extent = Extent::all) {
    extent_ = extent;
    this->frames();
    joint_ = scratch_.template take<Screw<T>>(n_);
    for (int b = 0; b < n_; ++b) joint_[b] = joint_screw(model_, b, R_WB_, p_W_);
    if (order != LoopOrder::position) {
      qd_ = this->ordered(in_[Param::qd]);
      motion_ = scratch_.template take<LoopMotion<T>>(n_);
      loop_motions<order>(model_, joint_, qd_, motion_);
    }
    const LoopBodies<T> bodies{R_WB_, p_W_, motion_};
    value_ = scratch_.template take<RowValue<T>>(m_);
    point_ = scratch_.template take<Vec3<T>>(linkage_.constraints().size());
    if (drive_) axis_ = scratch_.template take<Vec3<T>>(linkage_.constraints().size());
    int k = 0;
    for (const LoopConstraint& c : linkage_.constraints()) {
      if (c.placed)
        placed<order>(c, bodies, point_[k]);
      else
        unplaced<order>(c);
      ++k;
    }
  }

  template <LoopOrder order>
  void placed(const LoopConstraint& c, const LoopBodies<T>& bodies, Vec3<T>& point) {
    LoopPair<T> pair;
    const RowRole* const role = choice_.role.data();
    bool of_b = false;  // whether axes of B matter
    for (int i = c.first; i < c.first + c.count; ++i)
      of_b |= linkage_.turns(i) && !(extent_ == Extent::moved && role[i] == RowRole::still);
    loop_frame<order>(c.a, bodies, given_, true, pair.a);
    loop_frame<order>(c.b, bodies, given_, of_b, pair.b);
    relate<order>(pair);
    point = pair.b.p;
    if (drive_) axis_[&point - point_] = pair.a.R.col(2);
    for (int i = c.first; i < c.first + c.count; ++i) {
      if (extent_ == Extent::moved && role[i] == RowRole::still) {
        value_[i].f = T(0.0);
        continue;
      }
      const LoopRow& row = linkage_.row()[i];
      T sine[padded(1)], cosine[padded(1)];
      if (row.type == RowType::screw) {
        const T angle = screw_slide(pair) * T(1.0 / row.scale) - T(row.c);
        joint_trig(&angle, sine, cosine, 1);
      }
      const T* given = row.given < 0 ? nullptr : given_ + row.given;
      if (extent_ == Extent::all || role[i] == RowRole::active)
        loop_row<order>(row, pair, given, sine, cosine, value_[i]);
      else
        loop_row<LoopOrder::position>(row, pair, given, sine, cosine, value_[i]);
    }
  }

  // link axes in base axes
  Mat3<T> axes_of(const LoopSide& side) const {
    if (side.target >= 0) {
      Mat3<T> R;
      for (int i = 0; i < 9; ++i) R(i / 3, i % 3) = given_[Linkage::kTargetSize * side.target + i];
      return R;
    }
    const Mat3<T> R_U = cast<T>(side.R_U);
    return side.body == kWorld ? R_U : times(R_WB_[side.body], R_U);
  }

  // relations of joint coordinates
  template <LoopOrder order>
  void unplaced(const LoopConstraint& c) {
    for (int i = c.first; i < c.first + c.count; ++i) {
      const LoopRow& row = linkage_.row()[i];
      RowValue<T>& x = value_[i];
      x.force = x.moment = zero3<T>();
      const T* given = row.given < 0 ? nullptr : given_ + row.given;
      x.fd = x.gam = T(0.0);
      if (row.type == RowType::function) {  // f, f_t, gam, row
        x.f = given[0];
        x.gam = given[2];
        if (order == LoopOrder::position) continue;
        x.fd = given[1];
        for (int b = 0; b < n_; ++b) x.fd += given[3 + chain_.user_index()[b]] * qd_[b];
      } else {
        const T s = T(row.scale);
        x.f = given ? -given[0] : T(-row.c);
        for (int b = 0; b < n_; ++b)
          if (c.coefficients[b] != 0) x.f += at_.q[b] * T(c.coefficients[b]);
        x.f = x.f * s;
        if (order == LoopOrder::position) continue;
        for (int b = 0; b < n_; ++b)
          if (c.coefficients[b] != 0) x.fd += qd_[b] * T(row.scale * c.coefficients[b]);
        if (given) x.fd -= given[1] * s, x.gam -= given[2] * s;
      }
    }
  }

  // row i of G in the order of bodies
  void jacobian_row(int i, T* out) const {
    const LoopRow& row = linkage_.row()[i];
    const int k = linkage_.constraint_of_row(i);
    const LoopConstraint& c = linkage_.constraints()[k];
    for (int b = 0; b < n_; ++b) out[b] = T(0.0);
    if (c.placed) {
      loop_jacobian(c, chain_.topology(), joint_, point_[k], value_[i].force, value_[i].moment, out);
    } else if (row.type == RowType::function) {
      for (int b = 0; b < n_; ++b) out[b] = given_[row.given + 3 + chain_.user_index()[b]];
    } else {
      for (int b = 0; b < n_; ++b) out[b] = T(row.scale * c.coefficients[b]);
    }
  }

  // factors of the mass matrix, and D^-1
  struct Tree {
    T *M, *h;
  };
  Tree tree(T* judged) {
    Tree x{take_square<T>(n_, scratch_), scratch_.template take<T>(n_)};
    if (n_ <= 8) {
      crba_walk_lower(model_, at_, x.M, scratch_);
      forces_.add_rotors(x.M);
      ltl_small(chain_.topology(), x.M, x.h);
    } else {
      mass_matrix_of_bodies(chain_, model_, Method::crba, at_, x.M, scratch_);
      ltl(chain_.topology(), x.M, n_, x.h);
    }
    for (std::ptrdiff_t b = 0; b < n_; ++b) judged[b] = x.M[b * n_ + b];
    return x;
  }

  // (L28) the active rows; row: room for n. Returns the sum of their squares
  T collect(const Tree& x, OrthogonalRows<T>& columns, T* row, T* trust) const {
    T all = T(0.0);
    for (const int i : choice_.active) {
      jacobian_row(i, row);
      ltl_to_tree(chain_.topology(), x.M, row);
      const T whole = columns.product(row, row);
      all += whole;
      trust[i] = columns.add(row) - whole * T(kKeptSquare);
    }
    return all;
  }

  // above zero where a state meets its constraints, and where rates do
  void judge_open(T* trust) const {
    const T open = T(linkage_.open() * linkage_.open());
    for (int i = 0; i < m_; ++i) trust[m_ + i] = open - value_[i].f * value_[i].f;
    trust[2 * m_] = T(1.0);
  }
  void judge_rates(T* trust) const {
    const double turn = Linkage::kSlip * linkage_.length() * linkage_.length();
    T left = T(linkage_.slip());
    for (int b = 0; b < n_; ++b) left += qd_[b] * qd_[b] * T(model_.revolute(b) ? turn : Linkage::kSlip);
    for (const int i : choice_.active) left -= value_[i].fd * value_[i].fd;
    trust[2 * m_] = left;
  }

  // (L35) q or qd without what violates f or f'
  template <LoopOrder order>
  void project(T* out, T* judged) {
    rows<order>();
    const Tree x = tree(judged);
    const int r = static_cast<int>(choice_.active.size());
    OrthogonalRows<T> columns(n_, r, x.h, scratch_);
    T* trust = judged + n_;
    T* row = scratch_.template take<T>(n_);
    collect(x, columns, row, trust);
    for (const int i : choice_.redundant) trust[i] = T(1.0);
    judge_open(trust);
    T* error = scratch_.template take<T>(r);
    for (int j = 0; j < r; ++j) {
      const RowValue<T>& at = value_[choice_.active[j]];
      error[j] = order == LoopOrder::position ? at.f : at.fd;
    }
    T* step = scratch_.template take<T>(n_);
    for (int b = 0; b < n_; ++b) step[b] = T(0.0);
    constrained_efforts(columns, n_, step, error, scratch_);
    for (int b = 0; b < n_; ++b) step[b] = step[b] * x.h[b];
    ltl_from_tree(chain_.topology(), x.M, step);
    const T* from = order == LoopOrder::position ? at_.q : qd_;
    for (int b = 0; b < n_; ++b) out[chain_.user_index()[b]] = from[b] + step[b];
  }

  void forward_dynamics(T* const* out, T* judged) {
    const bool reactions = out[1] || out[2] || out[3] || out[4] || out[5];
    rows<LoopOrder::acceleration>(reactions ? Extent::whole : Extent::moved);
    if (!reactions && linkage_.grouped() && !job_.tree.external_count && !in_[Param::base_motion])
      return grouped_dynamics(out[0], judged);
    const Topology& topology = chain_.topology();
    const int r = static_cast<int>(choice_.active.size()), e = static_cast<int>(choice_.redundant.size());

    // ---- the tree
    T* effort = scratch_.template take<T>(n_);
    this->newton_euler(qd_, nullptr, effort);
    forces_.add_efforts(at_.q, qd_, nullptr, effort);
    const T* tau = this->ordered(in_[Param::tau]);
    for (int b = 0; b < n_; ++b) effort[b] = tau[b] - effort[b];
    if (drive_) push(effort);
    const Tree factors = tree(judged);
    const T *M = factors.M, *h = factors.h;
    ltl_to_tree(topology, M, effort);

    // ---- (L28)
    OrthogonalRows<T> columns(n_, r, h, scratch_);
    T* trust = judged + n_;
    T* row = scratch_.template take<T>(n_);
    T* N = scratch_.template take<T>(m_);
    const T all = collect(factors, columns, row, trust);
    for (int j = 0; j < r; ++j) N[j] = bend(choice_.active[j]);
    constrained_efforts(columns, n_, effort, N, scratch_);
    T* const qdd = out[0] && chain_.identity_order() ? out[0] : scratch_.template take<T>(n_);
    for (int b = 0; b < n_; ++b) qdd[b] = effort[b] * h[b];
    ltl_from_tree(topology, M, qdd);
    if (out[0]) this->deliver(qdd, out[0]);

    // ---- rows that follow from the others: X' in the columns, (L18) Y = [-X'; E]
    T* X = scratch_.template take<T>(static_cast<std::size_t>(r) * e);
    for (int j = 0; j < e; ++j) {
      const int i = choice_.redundant[j];
      if (j >= e - choice_.zero) {
        for (int l = 0; reactions && l < r; ++l) X[j * r + l] = T(0.0);
        trust[i] = T(1.0);
        continue;
      }
      jacobian_row(i, row);
      ltl_to_tree(topology, M, row);
      columns.remove(row, X + j * r);
      trust[i] = all * T(kKeptSquare) - columns.product(row, row);
      columns.solve(X + j * r);
    }
    judge_open(trust);
    judge_rates(trust);
    if (reactions) share(out, qdd, N, X);
  }

  // gam, or what replaces it, (L37)
  T bend(int i) const {
    const RowValue<T>& x = value_[i];
    const Baumgarte& held = job_.baumgarte;
    if (!held.any()) return x.gam;
    return x.gam + x.fd * T(2 * held.damping) + x.f * T(held.stiffness * held.stiffness);
  }

  // (L32) accelerations from group to group
  void grouped_dynamics(T* out, T* judged) {
    const std::vector<LoopGroup>& groups = linkage_.groups();
    T* effort = scratch_.template take<T>(n_);
    const T* tau = this->ordered(in_[Param::tau]);
    forces_.take_efforts(at_.q, qd_, tau, effort);
    if (drive_) push(effort);

    // ---- bodies alone
    Screw<T>* bent = scratch_.template take<Screw<T>>(n_);  // accelerations without qdd, those of the carrier left out
    Screw<T>* rate = scratch_.template take<Screw<T>>(n_);  // accelerations
    Screw<T>* load = scratch_.template take<Screw<T>>(n_);  // wrenches at bent
    GroupInertia<T>* inertia = scratch_.template take<GroupInertia<T>>(n_);
    const Screw<T> still{zero3<T>(), zero3<T>()};
    for (int b = 0; b < n_; ++b) {
      const int parent = model_.parent(b);
      bent[b] = still;
      if (parent != kWorld) add(bent[b], carried(motion_[parent].speed, joint_[b]), qd_[b]);
      const Moments<T> x = moments_about_base(model_, b, R_WB_, p_W_);
      inertia[b].set(x);
      load[b] = carried_momentum(motion_[b].speed, momentum_of(x, motion_[b].speed));
    }

    // ---- tips to base
    T* trust = judged + n_;
    T* row = scratch_.template take<T>(n_);
    T* local = scratch_.template take<T>(n_);
    T* by = scratch_.template take<T>(n_ + m_);
    GroupSolution<T>* solution = scratch_.template take<GroupSolution<T>>(groups.size());
    for (std::size_t g = groups.size(); g-- > 0;) {
      const LoopGroup& group = groups[g];
      const Topology& topology = group.topology;
      const int n = topology.size();
      const int* body = group.bodies.data();
      GroupSolution<T>& x = solution[g];
      x.M = take_square<T>(n, scratch_);
      std::fill_n(x.M, n * n, T(0.0));
      x.h = scratch_.template take<T>(n), x.effort = scratch_.template take<T>(n);
      for (T*& F : x.F) F = scratch_.template take<T>(n);
      const Scratch::Frame frame(scratch_);
      for (int i = 0; i < n; ++i) {
        if (topology.parent[i] != kWorld) add(bent[body[i]], bent[body[topology.parent[i]]]);
        add(load[body[i]], inertia[body[i]].times(bent[body[i]]));
      }
      for (int i = n; i-- > 0;) {
        const int b = body[i];
        const Screw<T> F = inertia[b].times(joint_[b]);
        x.M[i * n + i] = dot(F, joint_[b]);
        if (const double* J = forces_.rotors()) x.M[i * n + i] += T(J[b]);
        for (int j = topology.parent[i]; j != kWorld; j = topology.parent[j]) x.M[i * n + j] = dot(F, joint_[body[j]]);
        for (int k = 0; k < 3; ++k) x.F[k][i] = F.v[k], x.F[k + 3][i] = F.w[k];
        x.effort[i] = effort[b] - dot(load[b], joint_[b]);
        const int to = topology.parent[i] == kWorld ? group.carrier : body[topology.parent[i]];
        if (to == kWorld) continue;
        add(load[to], load[b]);
        inertia[to].add(inertia[b]);
      }
      ltl(topology, x.M, n, x.h);
      for (int i = 0; i < n; ++i) judged[body[i]] = x.M[i * n + i];
      ltl_to_tree(topology, x.M, x.effort);
      for (T* F : x.F) ltl_to_tree(topology, x.M, F);

      // rows of its loops
      int most = 0;
      for (const int k : group.constraints) most += linkage_.constraints()[k].count;
      OrthogonalRows<T> columns(n, std::min(most, n), x.h, scratch_);
      T* N = scratch_.template take<T>(most);
      T all = T(0.0);
      const auto seen = [&](int i) {  // through the factors
        for (int j = 0; j < n; ++j) row[body[j]] = T(0.0);
        const int k = linkage_.constraint_of_row(i);
        loop_jacobian(linkage_.constraints()[k], chain_.topology(), joint_, point_[k], value_[i].force, value_[i].moment,
                      row);
        for (int j = 0; j < n; ++j) local[j] = row[body[j]];
        ltl_to_tree(topology, x.M, local);
      };
      for (const RowRole role : {RowRole::active, RowRole::redundant, RowRole::still})
        for (const int k : group.constraints) {
          const LoopConstraint& c = linkage_.constraints()[k];
          for (int i = c.first; i < c.first + c.count; ++i) {
            if (choice_.role[i] != role) continue;
            if (role == RowRole::still) {
              trust[i] = T(1.0);
              continue;
            }
            seen(i);
            if (role == RowRole::active) {
              const T whole = columns.product(local, local);
              all += whole;
              N[columns.count()] = bend(i);
              trust[i] = columns.add(local) - whole * T(kKeptSquare);
            } else {
              columns.remove(local, by);
              trust[i] = all * T(kKeptSquare) - columns.product(local, local);
            }
          }
        }
      constrained_efforts(columns, n, x.effort, N, scratch_);

      // what its carrier feels of it
      if (group.carrier != kWorld) {
        T f[6];
        for (int k = 0; k < 6; ++k) f[k] = columns.product(x.F[k], x.effort);
        add(load[group.carrier], {{f[0], f[1], f[2]}, {f[3], f[4], f[5]}});
      }
      for (T* F : x.F) columns.remove(F, by);
      if (group.carrier != kWorld)
        for (int k = 0; k < 6; ++k)
          for (int l = 0; l <= k; ++l) {
            const T less = columns.product(x.F[k], x.F[l]);
            inertia[group.carrier].x[k][l] -= less;
            if (l < k) inertia[group.carrier].x[l][k] -= less;
          }
    }

    // ---- base to tips
    T* qdd = this->unordered(out);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const LoopGroup& group = groups[g];
      const int n = group.topology.size();
      const GroupSolution<T>& x = solution[g];
      const Screw<T> a = group.carrier == kWorld ? Screw<T>{this->base().a, zero3<T>()} : rate[group.carrier];
      for (int i = 0; i < n; ++i) {
        x.effort[i] -= x.F[0][i] * a.v.x() + x.F[1][i] * a.v.y() + x.F[2][i] * a.v.z() + x.F[3][i] * a.w.x() +
                       x.F[4][i] * a.w.y() + x.F[5][i] * a.w.z();
        local[i] = x.effort[i] * x.h[i];
      }
      ltl_from_tree(group.topology, x.M, local);
      for (int i = 0; i < n; ++i) {
        const int b = group.bodies[i];
        qdd[b] = local[i];
        rate[b] = a;
        add(rate[b], bent[b]);
        for (int j = i; j != kWorld; j = group.topology.parent[j]) add(rate[b], joint_[group.bodies[j]], local[j]);
      }
    }
    this->deliver(qdd, out);
    judge_open(trust);
    judge_rates(trust);
  }

  // (L15) what drives in cut joints do to the joints of the tree
  void push(T* effort) {
    T* row = scratch_.template take<T>(n_);
    int k = 0;
    for (const LoopConstraint& c : linkage_.constraints()) {
      if (c.placed) {
        for (int b = 0; b < n_; ++b) row[b] = T(0.0);
        loop_jacobian(c, chain_.topology(), joint_, point_[k], driving(k).f, driving(k).n, row);
        for (const PathStep& step : c.path) effort[step.body] += row[step.body];
      }
      ++k;
    }
  }

  // wrench of all multipliers, about the base origin, through the joints and the constraints
  struct Load {
    Vec3<T> f, n;
  };
  // of a drive on B, at P_B
  Load driving(int k) const { return {axis_[k] * drive_[2 * k], axis_[k] * drive_[2 * k + 1]}; }

  // what multipliers `weights` (by rows) put through every joint: about the base origin, base axes; driven: drives too
  void transmit(const T* weights, bool driven, Load* loop, Load* joint) const {
    const int constraints = static_cast<int>(linkage_.constraints().size());
    for (int b = 0; b < n_; ++b) joint[b] = {zero3<T>(), zero3<T>()};
    for (int k = 0; k < constraints; ++k) {
      const LoopConstraint& c = linkage_.constraints()[k];
      Load w{zero3<T>(), zero3<T>()};
      if (c.placed) {
        for (int i = c.first; i < c.first + c.count; ++i) {
          w.f += value_[i].force * weights[i];
          w.n += value_[i].moment * weights[i];
        }
        if (driven) w.f += driving(k).f, w.n += driving(k).n;
        const Vec3<T> about_origin = w.n + cross<T>(point_[k], w.f);
        // the tree carries what the constraint does not
        if (c.b.body != kWorld) joint[c.b.body].f -= w.f, joint[c.b.body].n -= about_origin;
        if (c.a.body != kWorld) joint[c.a.body].f += w.f, joint[c.a.body].n += about_origin;
      }
      loop[k] = w;
    }
    for (int b = n_; b-- > 0;) {
      const int parent = model_.parent(b);
      if (parent != kWorld) joint[parent].f += joint[b].f, joint[parent].n += joint[b].n;
    }
    for (int b = 0; b < n_; ++b) joint[b].n -= cross<T>(p_W_[b], joint[b].f);
  }

  // (L22) weights of squares: moments by the length; of relations of coordinates their efforts
  T product(const Load& a, const Load& b) const {
    return dot(a.f, b.f) + dot(a.n, b.n) * T(1.0 / (linkage_.length() * linkage_.length()));
  }
  T effort_square(int i) const {
    const LoopRow& row = linkage_.row()[i];
    const LoopConstraint& c = linkage_.constraints()[linkage_.constraint_of_row(i)];
    T sum = T(0.0);
    if (c.placed) return sum;
    const double turn = 1.0 / (linkage_.length() * linkage_.length());
    for (int b = 0; b < n_; ++b) {
      const T x =
          row.type == RowType::function ? given_[row.given + 3 + chain_.user_index()[b]] : T(row.scale * c.coefficients[b]);
      sum += x * x * T(model_.revolute(b) ? turn : 1.0);
    }
    return sum;
  }

  // all reactions; those that the redundancy leaves open are the least ones. N: of the active rows
  void share(T* const* out, const T* qdd, const T* N, const T* X) {
    const int r = static_cast<int>(choice_.active.size()), e = static_cast<int>(choice_.redundant.size());
    const int k = static_cast<int>(linkage_.constraints().size()), places = k + n_;
    T* all = scratch_.template take<T>(m_);
    for (int i = 0; i < m_; ++i) all[i] = T(0.0);
    for (int j = 0; j < r; ++j) all[choice_.active[j]] = N[j];
    Load* load = scratch_.template take<Load>(places);
    transmit(all, drive_ != nullptr, load, load + k);
    if (e > 0 || out[3]) {
      const Wrench<T>* wrench = this->newton_euler(qd_, qdd, scratch_.template take<T>(n_));
      for (int b = 0; b < n_; ++b) {
        load[k + b].f += times(R_WB_[b], wrench[b].f);
        load[k + b].n += times(R_WB_[b], wrench[b].n);
      }
    }
    Load* free = scratch_.template take<Load>(static_cast<std::size_t>(places) * e);
    T* y = scratch_.template take<T>(static_cast<std::size_t>(m_) * e);
    const int relations = linkage_.has_unplaced() ? m_ : 0;
    T* square = scratch_.template take<T>(relations);
    for (int i = 0; i < relations; ++i) square[i] = effort_square(i);
    for (int j = 0; j < e; ++j) {
      T* yj = y + static_cast<std::ptrdiff_t>(j) * m_;
      for (int i = 0; i < m_; ++i) yj[i] = T(0.0);
      for (int i = 0; i < r; ++i) yj[choice_.active[i]] = -X[j * r + i];
      yj[choice_.redundant[j]] = T(1.0);
      Load* fj = free + static_cast<std::ptrdiff_t>(j) * places;
      transmit(yj, false, fj, fj + k);
    }

    // the least ones, of loads that share a joint: all, or from group to group
    int* of = scratch_.template take<int>(e);
    const auto settle = [&](int count, const LoopGroup* group) {
      const Scratch::Frame frame(scratch_);
      T* S = scratch_.template take<T>(static_cast<std::size_t>(count) * count);
      T* x = scratch_.template take<T>(count);
      for (int j = 0; j < count; ++j) {
        const Load* fj = free + static_cast<std::ptrdiff_t>(of[j]) * places;
        const T* yj = y + static_cast<std::ptrdiff_t>(of[j]) * m_;
        for (int l = 0; l <= j; ++l) {
          T& sum = S[j * count + l];
          sum = weighed(fj, free + static_cast<std::ptrdiff_t>(of[l]) * places, k, group);
          for (int i = 0; i < relations; ++i) sum += yj[i] * y[static_cast<std::ptrdiff_t>(of[l]) * m_ + i] * square[i];
        }
        for (int l = 0; l < j; ++l) S[l * count + j] = S[j * count + l];
        x[j] = -weighed(fj, load, k, group);
        for (int i = 0; i < relations; ++i) x[j] -= yj[i] * all[i] * square[i];
      }
      solve_definite(S, count, x);
      for (int j = 0; j < count; ++j) {
        const Load* fj = free + static_cast<std::ptrdiff_t>(of[j]) * places;
        for (int i = 0; i < m_; ++i) all[i] += y[static_cast<std::ptrdiff_t>(of[j]) * m_ + i] * x[j];
        for (int i = 0; i < places; ++i) load[i].f += fj[i].f * x[j], load[i].n += fj[i].n * x[j];
      }
    };
    if (!linkage_.grouped()) {
      for (int j = 0; j < e; ++j) of[j] = j;
      if (e > 0) settle(e, nullptr);
    } else {
      for (const LoopGroup& group : linkage_.groups()) {
        int count = 0;
        for (int j = 0; j < e; ++j) {
          const int at = linkage_.constraint_of_row(choice_.redundant[j]);
          if (std::find(group.constraints.begin(), group.constraints.end(), at) != group.constraints.end()) of[count++] = j;
        }
        if (count > 0) settle(count, &group);
      }
    }
    if (out[1])
      for (int i = 0; i < m_; ++i) out[1][i] = all[i];
    if (!out[2] && !out[3] && !out[4] && !out[5]) return;
    Mat3<T>* axes = scratch_.template take<Mat3<T>>(places);
    for (int i = 0; i < places; ++i) axes[i] = i < k ? reported_axes(i) : link_axes(i - k);
    for (int i = 0; i < k && out[2]; ++i) write(axes[i], load[i], out[2] + 6 * i);
    for (int b = 0; b < n_ && out[3]; ++b) write(axes[k + b], load[k + b], out[3] + 6 * chain_.user_index()[b]);
    if (out[4] || out[5]) ambiguity(out, free, axes, y, e);
  }

  // over all joints and constraints, or those of a group: its redundant loads do not leave it
  T weighed(const Load* a, const Load* b, int k, const LoopGroup* group) const {
    T sum = T(0.0);
    if (group) {
      for (const int i : group->constraints) sum += product(a[i], b[i]);
      for (const int i : group->bodies)
        if (linkage_.weight()[i] != 0) sum += product(a[k + i], b[k + i]);
      return sum;
    }
    for (int i = 0; i < k; ++i) sum += product(a[i], b[i]);
    for (int i = 0; i < n_; ++i)
      if (linkage_.weight()[i] != 0) sum += product(a[k + i], b[k + i]);
    return sum;
  }

  // (L21) squares of components that the redundancy leaves open, of all that it leaves open
  void ambiguity(T* const* out, const Load* free, const Mat3<T>* axes, const T* y, int e) {
    const int k = static_cast<int>(linkage_.constraints().size()), places = k + n_;
    T* sum = scratch_.template take<T>(static_cast<std::size_t>(6) * places);
    for (int i = 0; i < 6 * places; ++i) sum[i] = T(0.0);
    T* component = scratch_.template take<T>(6);
    const double turn = 1.0 / linkage_.length();
    for (int j = 0; j < e; ++j) {
      const Load* fj = free + static_cast<std::ptrdiff_t>(j) * places;
      T total = T(0.0);
      for (int i = 0; i < places; ++i) total += product(fj[i], fj[i]);
      for (int i = 0; i < m_ && linkage_.has_unplaced(); ++i) total += y[j * m_ + i] * y[j * m_ + i] * effort_square(i);
      const T inverse = T(1.0) / total;
      for (int i = 0; i < places; ++i) {
        write(axes[i], fj[i], component);
        for (int l = 0; l < 6; ++l) {
          const T x = l < 3 ? component[l] : component[l] * T(turn);
          sum[6 * i + l] += x * x * inverse;
        }
      }
    }
    for (int i = 0; i < 6 * k && out[5]; ++i) out[5][i] = sum[i];
    for (int b = 0; b < n_ && out[4]; ++b)
      for (int l = 0; l < 6; ++l) out[4][6 * chain_.user_index()[b] + l] = sum[6 * (k + b) + l];
  }

  Mat3<T> reported_axes(int k) const {
    const LoopConstraint& c = linkage_.constraints()[k];
    return c.placed ? axes_of(c.b) : diagonal(T(1.0));
  }
  Mat3<T> link_axes(int b) const { return times(R_WB_[b], cast<T>(chain_.joint_frame(b).R_BU)); }
  static void write(const Mat3<T>& R, const Load& w, T* out) {
    const Vec3<T> f = transposed_times(R, w.f), n = transposed_times(R, w.n);
    for (int i = 0; i < 3; ++i) out[i] = f[i], out[i + 3] = n[i];
  }

  const LinkageJob& job_;
  const Linkage& linkage_;
  const RowChoice& choice_;
  const T *given_, *drive_;
  const int m_;
  const T* qd_ = nullptr;
  Screw<T>* joint_ = nullptr;  // axes about the base origin
  LoopMotion<T>* motion_ = nullptr;
  RowValue<T>* value_ = nullptr;
  Extent extent_ = Extent::all;
  Vec3<T>* point_ = nullptr;  // P_B of every constraint
  Vec3<T>* axis_ = nullptr;   // z of its frame on A, if there are drives
};

// Defined in instances/: for double and Packed.
template <class T>
void evaluate_linkage(const LinkageJob& job, const RowChoice& choice, const LinkageInputs<T>& in, T* const* out, T* judged,
                      Scratch& scratch);
// For duals.
template <class T>
void constraint_terms(const LinkageJob& job, const LinkageInputs<T>& in, const T* multiplier, T* force, T* fdd, T* fd,
                      Scratch& scratch);

}  // namespace zveno
