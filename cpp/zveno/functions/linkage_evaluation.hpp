// One state (or one pack of states) of a linkage: user's order in, user's order out. The same text serves every scalar.
// Equation numbers are those of docs/constraints.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <optional>

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
        part_(job.only ? *job.only : job.linkage->whole()),
        choice_(choice),
        given_(in.given),
        drive_(in.drive),
        m_(linkage_.rows()) {}

  void operator()(T* const* out, T* judged) {
    switch (job_.function) {
      case LinkageFunction::residual:
        rows<LoopOrder::position>();
        for (std::size_t i = 0; i < part_.rows.size(); ++i) out[0][i] = value_[part_.rows[i]].f;
        return;
      case LinkageFunction::constraint_velocity:
        rows<LoopOrder::velocity>();
        for (int i = 0; i < m_; ++i) out[0][i] = value_[i].fd;
        return;
      case LinkageFunction::constraint_jacobian: {
        rows<LoopOrder::position>();
        T *row = scratch_.template take<T>(n_), *to = out[0];
        for (const int i : part_.rows) {
          jacobian_row(i, row);
          for (const int j : part_.joints) *to++ = row[chain_.body_of_joint()[j]];
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
    for (const int b : part_.bodies) joint_[b] = joint_screw(model_, b, R_WB_, p_W_);
    if (order != LoopOrder::position) {
      qd_ = this->ordered(in_[Param::qd]);
      motion_ = scratch_.template take<LoopMotion<T>>(n_);
      loop_motions<order>(model_, joint_, qd_, motion_);
    }
    const LoopBodies<T> bodies{R_WB_, p_W_, motion_};
    value_ = scratch_.template take<RowValue<T>>(m_);
    point_ = scratch_.template take<Vec3<T>>(linkage_.constraints().size());
    if (drive_) axis_ = scratch_.template take<Vec3<T>>(linkage_.constraints().size());
    for (const int k : part_.constraints) {
      const LoopConstraint& c = linkage_.constraints()[k];
      if (c.placed)
        placed<order>(c, bodies, point_[k]);
      else
        unplaced<order>(c);
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
    T* trust = judged + n_;
    const auto error = [&](int i) { return order == LoopOrder::position ? value_[i].f : value_[i].fd; };
    T* step = scratch_.template take<T>(n_);
    if (linkage_.grouped()) {
      grouped_motion(nullptr, error, step, judged, nullptr, nullptr);
    } else {
      const Tree x = tree(judged);
      const int r = static_cast<int>(choice_.active.size());
      OrthogonalRows<T> columns(n_, r, x.h, scratch_);
      T* row = scratch_.template take<T>(n_);
      collect(x, columns, row, trust);
      T* errors = scratch_.template take<T>(r);
      for (int j = 0; j < r; ++j) errors[j] = error(choice_.active[j]);
      for (int b = 0; b < n_; ++b) step[b] = T(0.0);
      constrained_efforts(columns, n_, step, errors, scratch_);
      for (int b = 0; b < n_; ++b) step[b] = step[b] * x.h[b];
      ltl_from_tree(chain_.topology(), x.M, step);
    }
    for (const int i : choice_.redundant) trust[i] = T(1.0);
    judge_open(trust);
    const T* from = order == LoopOrder::position ? at_.q : qd_;
    for (int b = 0; b < n_; ++b) out[chain_.user_index()[b]] = from[b] + step[b];
  }

  void forward_dynamics(T* const* out, T* judged) {
    const bool reactions = out[1] || out[2] || out[3] || out[4] || out[5];
    rows<LoopOrder::acceleration>(reactions ? Extent::whole : Extent::moved);
    const T* tau = this->ordered(in_[Param::tau]);
    T* effort = scratch_.template take<T>(n_);
    T* const qdd = out[0] && chain_.identity_order() ? out[0] : scratch_.template take<T>(n_);
    T* all = reactions ? scratch_.template take<T>(m_) : nullptr;  // multipliers of all rows
    const std::size_t parts = linkage_.grouped() ? linkage_.groups().size() : 1;
    auto* redundancy = reactions ? scratch_.template take<GroupRedundancy<T>>(parts) : nullptr;
    for (int i = 0; reactions && i < m_; ++i) all[i] = T(0.0);
    if (linkage_.grouped()) {
      forces_.take_efforts(at_.q, qd_, tau, effort);
      if (drive_) push(effort);
      grouped_motion(effort, [&](int i) { return bend(i); }, qdd, judged, all, redundancy);
    } else {
      this->newton_euler(qd_, nullptr, effort);
      forces_.add_efforts(at_.q, qd_, nullptr, effort);
      for (int b = 0; b < n_; ++b) effort[b] = tau[b] - effort[b];
      if (drive_) push(effort);
      motion(effort, qdd, judged, all, redundancy);
    }
    if (out[0]) this->deliver(qdd, out[0]);
    judge_open(judged + n_);
    judge_rates(judged + n_);
    if (reactions) share(out, qdd, all, redundancy, parts);
  }

  // (L28) accelerations under efforts less the bias, which are destroyed; N and redundancy: null, or what share needs
  void motion(T* effort, T* qdd, T* judged, T* N, GroupRedundancy<T>* redundancy) {
    const Topology& topology = chain_.topology();
    const int r = static_cast<int>(choice_.active.size()), e = static_cast<int>(choice_.redundant.size());
    const Tree factors = tree(judged);
    const T *M = factors.M, *h = factors.h;
    ltl_to_tree(topology, M, effort);
    OrthogonalRows<T> columns(n_, r, h, scratch_);
    T* trust = judged + n_;
    T* row = scratch_.template take<T>(n_);
    T* gam = scratch_.template take<T>(r);
    const T all = collect(factors, columns, row, trust);
    for (int j = 0; j < r; ++j) gam[j] = bend(choice_.active[j]);
    constrained_efforts(columns, n_, effort, gam, scratch_);
    for (int b = 0; b < n_; ++b) qdd[b] = effort[b] * h[b];
    ltl_from_tree(topology, M, qdd);

    // rows that follow from the others: X' in the columns, (L18) Y = [-X'; E]
    T* X = scratch_.template take<T>(static_cast<std::size_t>(r) * e);
    for (int j = 0; j < e; ++j) {
      const int i = choice_.redundant[j];
      if (j >= e - choice_.zero) {
        for (int l = 0; N && l < r; ++l) X[j * r + l] = T(0.0);
        trust[i] = T(1.0);
        continue;
      }
      jacobian_row(i, row);
      ltl_to_tree(topology, M, row);
      columns.remove(row, X + j * r);
      trust[i] = all * T(kKeptSquare) - columns.product(row, row);
      columns.solve(X + j * r);
    }
    if (!N) return;
    for (int j = 0; j < r; ++j) N[choice_.active[j]] = gam[j];
    *redundancy = {choice_.active.data(), choice_.redundant.data(), r, e, X};
  }

  // gam, or what replaces it, (L37)
  T bend(int i) const {
    const RowValue<T>& x = value_[i];
    const Baumgarte& held = job_.baumgarte;
    if (!held.any()) return x.gam;
    return x.gam + x.fd * T(2 * held.damping) + x.f * T(held.stiffness * held.stiffness);
  }

  // (L32) accelerations from group to group under efforts, velocities, gravity and wrenches, with G qdd = -aim(row); effort
  // null: no load at all. N and redundancy: null, or what share needs
  template <class Aim>
  void grouped_motion(const T* effort, const Aim& aim, T* qdd, T* judged, T* N, GroupRedundancy<T>* redundancy) {
    const std::vector<LoopGroup>& groups = linkage_.groups();
    const BaseMotion<T> base = this->base();

    // ---- bodies alone
    Screw<T>* bent = scratch_.template take<Screw<T>>(n_);  // accelerations without qdd, those of the carrier left out
    Screw<T>* rate = scratch_.template take<Screw<T>>(n_);  // accelerations
    Screw<T>* load = scratch_.template take<Screw<T>>(n_);  // wrenches at bent
    GroupInertia<T>* inertia = scratch_.template take<GroupInertia<T>>(n_);
    const Screw<T> still{zero3<T>(), zero3<T>()};
    const auto turned = [&](Screw<T> speed) {
      if (base.moving) speed.w += base.w;
      return speed;
    };
    for (int b = 0; b < n_; ++b) {
      const int parent = model_.parent(b);
      const Moments<T> x = moments_about_base(model_, b, R_WB_, p_W_);
      inertia[b].set(x);
      bent[b] = load[b] = still;
      if (!effort) continue;
      if (parent != kWorld || base.moving)
        add(bent[b], carried(turned(parent == kWorld ? still : motion_[parent].speed), joint_[b]), qd_[b]);
      const Screw<T> speed = turned(motion_[b].speed);
      load[b] = carried_momentum(speed, momentum_of(x, speed));
    }
    if (const Wrench<T>* wrench = effort ? this->external(false) : nullptr)
      for (int b = 0; b < n_; ++b) add(load[b], {-wrench[b].f, -(wrench[b].n + cross<T>(p_W_[b], wrench[b].f))});

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
      std::optional<Scratch::Frame> frame;
      if (!N) frame.emplace(scratch_);
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
        x.effort[i] = (effort ? effort[b] : T(0.0)) - dot(load[b], joint_[b]);
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
      auto& columns =
          *::new (scratch_.template take<OrthogonalRows<T>>(1)) OrthogonalRows<T>(n, std::min(most, n), x.h, scratch_);
      T* bent_by = scratch_.template take<T>(most);
      T* X = N ? scratch_.template take<T>(static_cast<std::size_t>(std::min(most, n)) * most) : nullptr;
      int* active = N ? scratch_.template take<int>(most) : nullptr;
      int* redundant = N ? scratch_.template take<int>(most) : nullptr;
      int e = 0;
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
            T* const shares = N ? X + static_cast<std::ptrdiff_t>(e) * columns.count() : by;
            if (N) (role == RowRole::active ? active[columns.count()] : redundant[e++]) = i;
            if (role == RowRole::still) {
              trust[i] = T(1.0);
              for (int j = 0; N && j < columns.count(); ++j) shares[j] = T(0.0);
              continue;
            }
            seen(i);
            if (role == RowRole::active) {
              const T whole = columns.product(local, local);
              all += whole;
              bent_by[columns.count()] = aim(i);
              trust[i] = columns.add(local) - whole * T(kKeptSquare);
            } else {
              columns.remove(local, shares);
              trust[i] = all * T(kKeptSquare) - columns.product(local, local);
              if (N) columns.solve(shares);
            }
          }
        }
      const int r = columns.count();
      hold_efforts(columns, n, x.effort, bent_by, scratch_);
      x.columns = &columns, x.N = bent_by;
      for (T*& of : x.by) of = N ? scratch_.template take<T>(r) : by;
      if (N) redundancy[g] = {active, redundant, r, e, X};

      // what its carrier feels of it
      if (group.carrier != kWorld) {
        T f[6];
        for (int k = 0; k < 6; ++k) f[k] = columns.product(x.F[k], x.effort);
        add(load[group.carrier], {{f[0], f[1], f[2]}, {f[3], f[4], f[5]}});
      }
      for (int k = 0; k < 6; ++k) columns.remove(x.F[k], x.by[k]);
      if (group.carrier != kWorld)
        for (int k = 0; k < 6; ++k)
          for (int l = 0; l <= k; ++l) {
            const T less = columns.product(x.F[k], x.F[l]);
            inertia[group.carrier].x[k][l] -= less;
            if (l < k) inertia[group.carrier].x[l][k] -= less;
          }
    }

    // ---- base to tips
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const LoopGroup& group = groups[g];
      const int n = group.topology.size();
      const GroupSolution<T>& x = solution[g];
      const Screw<T> a = group.carrier != kWorld ? rate[group.carrier] : effort ? Screw<T>{base.a, base.dw} : still;
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
      if (!N) continue;
      const int r = redundancy[g].r;
      for (int j = 0; j < r; ++j)
        x.N[j] += x.by[0][j] * a.v.x() + x.by[1][j] * a.v.y() + x.by[2][j] * a.v.z() + x.by[3][j] * a.w.x() +
                  x.by[4][j] * a.w.y() + x.by[5][j] * a.w.z();
      x.columns->solve(x.N);
      for (int j = 0; j < r; ++j) N[redundancy[g].active[j]] = x.N[j];
    }
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

  // What multipliers put through the constraints and joints of a group, one after the other: about their points, base axes;
  // driven: drives too. weight(i): of row i
  template <class Weight>
  void transmit(const LoopGroup& group, const Weight& weight, bool driven, Load* loop, Load* joint) const {
    const int n = group.topology.size(), constraints = static_cast<int>(group.constraints.size());
    for (int b = 0; b < n; ++b) joint[b] = {zero3<T>(), zero3<T>()};
    for (int l = 0; l < constraints; ++l) {
      const int k = group.constraints[l];
      const LoopConstraint& c = linkage_.constraints()[k];
      Load w{zero3<T>(), zero3<T>()};
      if (c.placed) {
        for (int i = c.first; i < c.first + c.count; ++i) {
          w.f += value_[i].force * weight(i);
          w.n += value_[i].moment * weight(i);
        }
        if (driven) w.f += driving(k).f, w.n += driving(k).n;
        const Vec3<T> about_origin = w.n + cross<T>(point_[k], w.f);
        // the tree carries what the constraint does not
        const LoopGroup::Ends& at = group.ends[l];
        if (at.b != kWorld) joint[at.b].f -= w.f, joint[at.b].n -= about_origin;
        if (at.a != kWorld) joint[at.a].f += w.f, joint[at.a].n += about_origin;
      }
      loop[l] = w;
    }
    for (int b = n; b-- > 0;) {
      const int parent = group.topology.parent[b];
      if (parent != kWorld) joint[parent].f += joint[b].f, joint[parent].n += joint[b].n;
    }
    for (int b = 0; b < n; ++b) joint[b].n -= cross<T>(p_W_[group.bodies[b]], joint[b].f);
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

  // All reactions; those that the redundancy leaves open are the least ones, which stay inside of a group. all: multipliers
  // of the active rows, zeros elsewhere, on return those of all rows
  void share(T* const* out, const T* qdd, T* all, const GroupRedundancy<T>* redundancy, std::size_t parts) {
    const int k = static_cast<int>(linkage_.constraints().size()), places = k + n_;
    const LoopGroup* const groups = linkage_.grouped() ? linkage_.groups().data() : &linkage_.whole();
    int e = 0;
    for (std::size_t g = 0; g < parts; ++g) e += redundancy[g].e;
    Load* load = scratch_.template take<Load>(places);
    transmit(linkage_.whole(), [&](int i) { return all[i]; }, drive_ != nullptr, load, load + k);
    if (e > 0 || out[3]) {
      const Wrench<T>* wrench = this->newton_euler(qd_, qdd, scratch_.template take<T>(n_));
      for (int b = 0; b < n_; ++b) {
        load[k + b].f += times(R_WB_[b], wrench[b].f);
        load[k + b].n += times(R_WB_[b], wrench[b].n);
      }
    }
    Mat3<T>* axes = nullptr;
    if (out[2] || out[3] || out[4] || out[5]) {
      axes = scratch_.template take<Mat3<T>>(places);
      for (int i = 0; i < places; ++i) axes[i] = i < k ? reported_axes(i) : link_axes(i - k);
    }
    T* open = nullptr;  // (L21) squares of components that the redundancy leaves open, of all that it leaves open
    if (out[4] || out[5]) {
      open = scratch_.template take<T>(static_cast<std::size_t>(6) * places);
      for (int i = 0; i < 6 * places; ++i) open[i] = T(0.0);
    }
    for (std::size_t g = 0; g < parts; ++g)
      if (redundancy[g].e > 0) settle(groups[g], redundancy[g], all, load, axes, open);
    if (out[1])
      for (int i = 0; i < m_; ++i) out[1][i] = all[i];
    for (int i = 0; i < k && out[2]; ++i) write(axes[i], load[i], out[2] + 6 * i);
    for (int b = 0; b < n_ && out[3]; ++b) write(axes[k + b], load[k + b], out[3] + 6 * chain_.user_index()[b]);
    for (int i = 0; i < 6 * k && out[5]; ++i) out[5][i] = open[i];
    for (int b = 0; b < n_ && out[4]; ++b)
      for (int l = 0; l < 6; ++l) out[4][6 * chain_.user_index()[b] + l] = open[6 * (k + b) + l];
  }

  // (L22) the least loads of a group; places: constraints, then joints. open: null, or what it leaves open is added
  void settle(const LoopGroup& group, const GroupRedundancy<T>& of, T* all, Load* load, const Mat3<T>* axes, T* open) {
    const Scratch::Frame frame(scratch_);
    const int k = static_cast<int>(group.constraints.size()), places = k + group.topology.size(), e = of.e, r = of.r;
    const int first_joint = static_cast<int>(linkage_.constraints().size());
    const auto place = [&](int i) { return i < k ? group.constraints[i] : first_joint + group.bodies[i - k]; };
    const auto counts = [&](int i) { return i < k || linkage_.weight()[group.bodies[i - k]] != 0; };
    Load* free = scratch_.template take<Load>(static_cast<std::size_t>(places) * e);
    T* y = scratch_.template take<T>(m_);
    for (int j = 0; j < e; ++j) {
      for (const int at : group.constraints) {
        const LoopConstraint& c = linkage_.constraints()[at];
        for (int i = c.first; i < c.first + c.count; ++i) y[i] = T(0.0);
      }
      for (int i = 0; i < r; ++i) y[of.active[i]] = -of.X[j * r + i];
      y[of.redundant[j]] = T(1.0);
      Load* fj = free + static_cast<std::ptrdiff_t>(j) * places;
      transmit(group, [&](int i) { return y[i]; }, false, fj, fj + k);
    }
    // relations of coordinates: their efforts
    const bool relations = linkage_.has_unplaced();
    T* square = scratch_.template take<T>(relations ? r + e : 0);
    for (int i = 0; i < r && relations; ++i) square[i] = effort_square(of.active[i]);
    for (int i = 0; i < e && relations; ++i) square[r + i] = effort_square(of.redundant[i]);
    const auto related = [&](int j, int l, T& sum) {
      if (!relations) return;
      for (int i = 0; i < r; ++i) sum += of.X[j * r + i] * of.X[l * r + i] * square[i];
      if (j == l) sum += square[r + j];
    };

    T* S = scratch_.template take<T>(static_cast<std::size_t>(e) * e);
    T* x = scratch_.template take<T>(e);
    for (int j = 0; j < e; ++j) {
      const Load* fj = free + static_cast<std::ptrdiff_t>(j) * places;
      for (int l = 0; l <= j; ++l) {
        const Load* fl = free + static_cast<std::ptrdiff_t>(l) * places;
        T sum = T(0.0);
        for (int i = 0; i < places; ++i)
          if (counts(i)) sum += product(fj[i], fl[i]);
        related(j, l, sum);
        S[j * e + l] = S[l * e + j] = sum;
      }
      T sum = T(0.0);
      for (int i = 0; i < places; ++i)
        if (counts(i)) sum += product(fj[i], load[place(i)]);
      x[j] = -sum;
      for (int i = 0; i < r && relations; ++i) x[j] += of.X[j * r + i] * all[of.active[i]] * square[i];
    }
    if (open) {
      T* component = scratch_.template take<T>(6);
      const double turn = 1.0 / linkage_.length();
      for (int j = 0; j < e; ++j) {
        const Load* fj = free + static_cast<std::ptrdiff_t>(j) * places;
        T total = T(0.0);
        for (int i = 0; i < places; ++i) total += product(fj[i], fj[i]);
        related(j, j, total);
        const T inverse = T(1.0) / total;
        for (int i = 0; i < places; ++i) {
          write(axes[place(i)], fj[i], component);
          for (int l = 0; l < 6; ++l) {
            const T part = l < 3 ? component[l] : component[l] * T(turn);
            open[6 * place(i) + l] += part * part * inverse;
          }
        }
      }
    }
    solve_definite(S, e, x);
    for (int j = 0; j < e; ++j) {
      const Load* fj = free + static_cast<std::ptrdiff_t>(j) * places;
      for (int i = 0; i < r; ++i) all[of.active[i]] -= of.X[j * r + i] * x[j];
      all[of.redundant[j]] += x[j];
      for (int i = 0; i < places; ++i) load[place(i)].f += fj[i].f * x[j], load[place(i)].n += fj[i].n * x[j];
    }
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
  const LoopGroup& part_;  // what is asked for
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
