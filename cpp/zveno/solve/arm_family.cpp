// docs/inverse-kinematics.md, section 3
#include <zveno/solve/arm_family.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <zveno/kernel/chain/kinematics.hpp>
#include <zveno/math/dense.hpp>
#include <zveno/scalar/sincos.hpp>
#include <zveno/solve/arm_solutions.hpp>

namespace zveno {
namespace {

using V = Vec3<double>;

double length(const V& a) { return std::sqrt(dot(a, a)); }
V unit(const V& a) { return a * (1 / length(a)); }
V any_normal(const V& k) {
  const V e = std::fabs(k.x()) < 0.6 ? V{1, 0, 0} : V{0, 1, 0};
  return unit(cross<double>(k, e));
}

std::string text(const char* format, double a, double b) {
  char buffer[120];
  std::snprintf(buffer, sizeof buffer, format, a, b);
  return buffer;
}

class Finder {
 public:
  Finder(const ReachModel& model, double tolerance)
      : model_(model), tolerance_(tolerance), n_(model.size()), plan_(found_.plan) {}

  ArmFamilyFound run() {
    const ReachFrame& frame = model_.frame[0];
    const int held = static_cast<int>(std::count(frame.held, frame.held + 6, true));
    const bool whole = held == 6, place = held == 3 && frame.held[0] && frame.held[1] && frame.held[2];
    if (n_ < 3 || n_ > kMostArmJoints)
      return none(std::to_string(n_) + " joints carry the link, closed forms are for 3 to 7");
    screws();
    if (n_ == 3) {
      if (whole && turning() && parallel_triple(0, 1, 2)) return planar();
      if (!place) return none("three joints place a point only: mask=(1, 1, 1, 0, 0, 0) asks for that");
    } else if (!whole) {
      return none("a mask leaves components free, closed forms meet whole poses");
    }
    switch (n_) {
      case 3: return position();
      case 4: return scara();
      case 5: return five();
      case 6: return six();
      default: return seven();
    }
  }

 private:
  void screws() {
    std::vector<double> s(n_ + 8), c(n_ + 8), q(n_, 0.0);
    for (int b = 0; b < n_; ++b) s[b] = model_.fixed_turn[b].s, c[b] = model_.fixed_turn[b].c;
    std::vector<Mat3<double>> R(n_);
    std::vector<V> p(n_);
    body_frames(model_.view(), JointPosition<double>{s.data(), c.data(), q.data()}, R.data(), p.data());
    plan_.n = n_;
    R_ = R, p_ = p;
    for (int b = 0; b < n_; ++b) {
      plan_.prismatic[b] = model_.topology.kind[b] != JointKind::revolute;
      plan_.k[b] = R[b].col(2), plan_.p[b] = p[b];
    }
    const ReachFrame& f = model_.frame[0];
    plan_.R_M = times(R[f.body], f.R_BU);
    plan_.p_M = p[f.body] + times(R[f.body], f.p_BoUo_B);
    plan_.reach = model_.reach;
    for (int b = 0; b < n_; ++b) {
      plan_.turned[b] = !plan_.prismatic[b] && model_.offset[b] != 0;
      joint_trig(&model_.offset[b], s.data(), c.data(), 1);
      plan_.offset[b] = {s[0], c[0]};
    }
    for (V& x : plan_.k)
      if (&x - plan_.k < n_) x = unit(x);
  }

  ArmFamilyFound none(std::string why) {
    plan_.family = ArmFamily::none;
    found_.what = std::move(why);
    return found_;
  }
  ArmFamilyFound found(ArmFamily family, std::string what) {
    plan_.family = family;
    plan_.deviation = found_.deviation;
    if (plan_.named()) {
      plan_.centre_body = family == ArmFamily::parallel ? 3 : 2;
      plan_.centre_B = transposed_times(R_[plan_.centre_body], plan_.centre - p_[plan_.centre_body]);
    }
    found_.what = std::move(what);
    return found_;
  }
  std::string axes(int first, int count) const {
    std::string all = "axes ";
    for (int i = 0; i < count; ++i) all += (i ? i + 1 == count ? " and " : ", " : "") + std::to_string(first + i + 1);
    return all;
  }

  double tilt(int i, int j) const { return length(cross<double>(plan_.k[i], plan_.k[j])); }
  bool along(int i, int j) {
    const double angle = tilt(i, j);
    if (!(angle < tolerance_)) return false;
    found_.deviation = std::max(found_.deviation, angle);
    return true;
  }
  // j gets the direction of i, or its opposite
  void align(int i, int j) { plan_.k[j] = dot(plan_.k[i], plan_.k[j]) > 0 ? plan_.k[i] : -plan_.k[i]; }

  bool meet(int i, int j, V& at) {
    const V n = cross<double>(plan_.k[i], plan_.k[j]), d = plan_.p[j] - plan_.p[i];
    const double nn = dot(n, n);
    if (!(nn > tolerance_ * tolerance_)) return false;
    const double gap = std::fabs(dot(d, n)) / std::sqrt(nn);
    if (!(gap < tolerance_ * plan_.reach)) return false;
    found_.deviation = std::max(found_.deviation, gap / plan_.reach);
    const double ti = dot<double>(cross<double>(d, plan_.k[j]), n) / nn,
                 tj = dot<double>(cross<double>(d, plan_.k[i]), n) / nn;
    at = (plan_.p[i] + plan_.k[i] * ti + plan_.p[j] + plan_.k[j] * tj) * 0.5;
    return true;
  }

  // point nearest to three axes, and the largest distance, (K15)
  double centre(int t, V& at) const {
    double A[9] = {}, b[3] = {};
    for (int i = t; i < t + 3; ++i)
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) {
          const double a = (r == c) - plan_.k[i][r] * plan_.k[i][c];
          A[3 * r + c] += a;
          b[r] += a * plan_.p[i][c];
        }
    if (!(solve_dense(A, 3, b) > kTinyPivot)) return INFINITY;
    at = {b[0], b[1], b[2]};
    double most = 0;
    for (int i = t; i < t + 3; ++i) most = std::max(most, length(cross<double>(plan_.k[i], at - plan_.p[i])));
    return most;
  }
  bool point_triple(int t, V& at) {
    if (plan_.prismatic[t] || plan_.prismatic[t + 1] || plan_.prismatic[t + 2]) return false;
    if (tilt(t, t + 1) < tolerance_ || tilt(t + 1, t + 2) < tolerance_) return false;
    const double miss = centre(t, at);
    if (miss < nearest_point_) nearest_point_ = miss, nearest_place_ = t;
    if (!(miss < tolerance_ * plan_.reach)) return false;
    found_.deviation = std::max(found_.deviation, miss / plan_.reach);
    for (int i = t; i < t + 3; ++i) plan_.p[i] = at;
    return true;
  }
  // revolute joints i, j, l with parallel axes, not two of them the same line
  bool parallel_triple(int i, int j, int l) {
    if (plan_.prismatic[i] || plan_.prismatic[j] || plan_.prismatic[l]) return false;
    const double worst = std::max(tilt(i, j), tilt(i, l));
    if (worst < nearest_tilt_) nearest_tilt_ = worst, nearest_parallel_ = i;
    if (!along(i, j) || !along(i, l)) return false;
    const V k = plan_.k[i];
    const auto apart = [&](int a, int b) { return length(cross<double>(k, plan_.p[b] - plan_.p[a])); };
    if (!(apart(i, j) > tolerance_ * plan_.reach && apart(j, l) > tolerance_ * plan_.reach)) return false;
    align(i, j), align(i, l);
    const int joints[3] = {i, j, l};
    for (int m = 0; m < 3; ++m) plan_.triple[m] = joints[m], plan_.sign[m] = dot(k, plan_.k[joints[m]]) > 0 ? 1 : -1;
    plan_.direction = k;
    plan_.beside = any_normal(k);
    return true;
  }

  // the row of (K13) for joints `other`; false: none, `why` says it
  bool regional(std::string& why) {
    const int a = plan_.other[0], b = plan_.other[1], d = plan_.other[2];
    const bool first = plan_.moved[0] == plan_.moved[1], last = plan_.moved[1] == plan_.moved[2];  // no seam between
    const bool P[3] = {plan_.prismatic[a], plan_.prismatic[b], plan_.prismatic[d]};
    const int kinds = P[0] * 4 + P[1] * 2 + P[2];
    V at;
    const V n = cross<double>(plan_.k[b], plan_.k[d]);
    switch (kinds) {
      case 0:
        if (last && tilt(b, d) < tolerance_) {
          if (first && tilt(a, b) < tolerance_) {
            why = "the other three axes are parallel and move the point in a plane only";
            return false;
          }
          if (!(length(cross<double>(plan_.k[b], plan_.p[d] - plan_.p[b])) > tolerance_ * plan_.reach)) {
            why = "two of the axes are one line";
            return false;
          }
          along(b, d), align(b, d);
          plan_.regional = Regional::rrr_second_along_third;
          return true;
        }
        if (first && meet(a, b, at)) {
          plan_.p[a] = plan_.p[b] = at;
          plan_.regional = Regional::rrr_first_meets_second;
          return true;
        }
        if (first && along(a, b)) {
          align(a, b);
          plan_.regional = Regional::rrr_first_along_second;
          return true;
        }
        if (last && meet(b, d, at)) {
          plan_.p[b] = plan_.p[d] = at;
          plan_.regional = Regional::rrr_second_meets_third;
          return true;
        }
        plan_.regional = Regional::rrr_general;
        return true;
      case 1:
        if (meet(a, b, at)) {
          plan_.p[a] = plan_.p[b] = at;
          plan_.regional = Regional::rrp_first_meets_second;
          return true;
        }
        if (along(a, b) && std::fabs(dot(plan_.k[a], plan_.k[d])) > tolerance_) {
          align(a, b);
          plan_.regional = Regional::rrp_first_along_second;
          return true;
        }
        break;
      case 2:
        plan_.regional = std::fabs(dot(plan_.k[b], plan_.k[d])) < tolerance_ ? Regional::rpr_square : Regional::rpr;
        if (plan_.regional == Regional::rpr_square) {
          found_.deviation = std::max(found_.deviation, std::fabs(dot(plan_.k[b], plan_.k[d])));
          plan_.k[b] = unit(plan_.k[b] - plan_.k[d] * dot(plan_.k[b], plan_.k[d]));
        }
        if (tilt(a, d) < tolerance_ && plan_.regional == Regional::rpr_square) {
          why = "the first three joints move the point in a surface only";
          return false;
        }
        return true;
      case 4:
        if (tilt(b, d) < tolerance_ && std::fabs(dot(plan_.k[a], plan_.k[b])) > tolerance_) {
          along(b, d), align(b, d);
          plan_.regional = Regional::prr_second_along_third;
          return true;
        }
        if (tilt(b, d) > tolerance_ && std::fabs(dot(plan_.k[a], plan_.k[b])) < tolerance_) {
          found_.deviation = std::max(found_.deviation, std::fabs(dot(plan_.k[a], plan_.k[b])));
          plan_.k[a] = unit(plan_.k[a] - plan_.k[b] * dot(plan_.k[a], plan_.k[b]));
          plan_.regional = Regional::prr_square;
          return true;
        }
        break;
      case 6: {
        const V m = cross<double>(plan_.k[a], plan_.k[b]);
        if (length(m) > tolerance_ && length(cross<double>(m, plan_.k[d])) > tolerance_) {
          plan_.regional = Regional::ppr;
          return true;
        }
        break;
      }
      case 3:
        if (length(n) > tolerance_ && length(cross<double>(n, plan_.k[a])) > tolerance_) {
          plan_.regional = Regional::rpp;
          return true;
        }
        break;
      case 5:
        if (along(a, b) && length(n) > tolerance_) {
          align(b, a);
          plan_.regional = Regional::prp;
          return true;
        }
        break;
      case 7:
        if (std::fabs(dot(plan_.k[a], n)) > tolerance_) {
          plan_.regional = Regional::ppp;
          return true;
        }
        why = "three slides move the point in a plane only";
        return false;
      default: break;
    }
    why = "a slide stands where no closed form has one";
    return false;
  }

  ArmFamilyFound position() {
    for (int i = 0; i < 3; ++i) plan_.other[i] = i;
    std::string why;
    return regional(why) ? found(ArmFamily::position, "three joints that carry a point") : none(why);
  }

  bool turning() const {
    return std::none_of(plan_.prismatic, plan_.prismatic + n_, [](bool x) { return x; });
  }

  ArmFamilyFound planar() {
    plan_.other[0] = -1;
    return found(ArmFamily::scara, "three parallel axes");
  }

  ArmFamilyFound scara() {
    int slide = -1, turns[3], count = 0;
    for (int i = 0; i < 4; ++i) {
      if (plan_.prismatic[i])
        slide = i;
      else if (count < 3)
        turns[count++] = i;
    }
    if (slide < 0 || count < 3 || !parallel_triple(turns[0], turns[1], turns[2]) || !along(turns[0], slide))
      return none("four joints have a closed form if three are revolute, one prismatic, and all axes parallel");
    plan_.k[slide] = dot(plan_.k[slide], plan_.direction) > 0 ? plan_.direction : -plan_.direction;
    plan_.other[0] = slide;
    return found(ArmFamily::scara, "three parallel axes and a slide along them");
  }

  ArmFamilyFound five() {
    for (int i = 0; i < 5; ++i)
      if (plan_.prismatic[i]) return none("five joints have a closed form if all are revolute and axes 2, 3, 4 parallel");
    if (!parallel_triple(1, 2, 3))
      return none(
          text("five joints have a closed form if axes 2, 3, 4 are parallel: they differ by %.3g rad", nearest_tilt_, 0));
    if (tilt(1, 0) < tolerance_ || tilt(1, 4) < tolerance_) return none("more than three of the five axes are parallel");
    return found(ArmFamily::five, "five joints, axes 2, 3 and 4 parallel");
  }

  ArmFamilyFound six() {
    const ArmFamilyFound fresh = found_;
    for (const int t : {1, 0, 2, 3}) {
      if (!turning() || !parallel_triple(t, t + 1, t + 2)) continue;
      for (int i = 0; i < 3; ++i) plan_.other[i] = (t + 3 + i) % 6, plan_.moved[i] = t + 3 + i >= 6;
      const int a = plan_.other[0], b = plan_.other[1], d = plan_.other[2];
      if (tilt(t, a) < tolerance_ || tilt(t, d) < tolerance_) {
        found_ = fresh;
        continue;
      }
      V at{0, 0, 0};
      plan_.route = PlaneRoute::quartic;
      if (plan_.moved[0] == plan_.moved[1] && meet(a, b, at)) {
        plan_.p[a] = plan_.p[b] = at;
        plan_.route = PlaneRoute::second_alone;
      } else if (plan_.moved[1] == plan_.moved[2] && meet(b, d, at)) {
        plan_.p[b] = plan_.p[d] = at;
        plan_.route = PlaneRoute::first_alone;
      }
      plan_.centre = at;
      return found(ArmFamily::parallel, axes(t, 3) + " are parallel");
    }
    std::string why;
    for (const int t : {3, 0, 1, 2}) {
      found_ = fresh;
      V at;
      if (!point_triple(t, at)) continue;
      constexpr int kOther[4][3] = {{5, 4, 3}, {0, 5, 4}, {1, 0, 5}, {0, 1, 2}};
      constexpr bool kMoved[4][3] = {
          {false, false, false}, {false, true, true}, {false, false, true}, {false, false, false}};
      for (int i = 0; i < 3; ++i) plan_.triple[i] = t + i, plan_.other[i] = kOther[t][i], plan_.moved[i] = kMoved[t][i];
      plan_.back = t != 3, plan_.inverse = t == 0;
      plan_.centre = at;
      plan_.beside = any_normal(plan_.k[t + 2]);
      if ((t == 1 || t == 2) && !turning()) {
        why = "a slide stands where no closed form has one";
        continue;
      }
      if (regional(why)) return found(ArmFamily::point, axes(t, 3) + " meet in a point");
    }
    found_ = fresh;
    if (!why.empty()) return none(why);
    std::string reason = "no three consecutive axes meet in a point or are parallel";
    if (std::isfinite(nearest_point_))
      reason +=
          ": " + axes(nearest_place_, 3) +
          text(" miss a common point by %.4g m, %.2g %% of the reach", nearest_point_, 100 * nearest_point_ / plan_.reach);
    if (nearest_tilt_ < 0.1) reason += text("; three others differ by %.3g rad from parallel", nearest_tilt_, 0);
    return none(reason);
  }

  ArmFamilyFound seven() {
    for (int i = 0; i < 7; ++i)
      if (plan_.prismatic[i]) return none("seven joints with a slide: lock one of them, locked={joint: value}");
    V S{0, 0, 0}, W{0, 0, 0};
    for (const int t : {0, 4}) {
      nearest_point_ = INFINITY;
      if (point_triple(t, t ? W : S)) continue;
      return none(
          "of seven axes 1, 2, 3 and 5, 6, 7 have to meet in points, but " + axes(t, 3) +
          (std::isfinite(nearest_point_) ? text(" miss one by %.4g m", nearest_point_, 0) : " have parallel neighbours") +
          "; lock a joint, locked={joint: value}");
    }
    plan_.shoulder = S, plan_.wrist = W;
    plan_.elbow = plan_.p[3] + plan_.k[3] * dot<double>(plan_.k[3], S - plan_.p[3]);
    plan_.beside = any_normal(plan_.k[2]);
    plan_.wrist_beside = any_normal(plan_.k[6]);
    if (!(length(plan_.elbow - S) > tolerance_ * plan_.reach)) return none("the elbow axis passes through the shoulder");
    return found(ArmFamily::swivel, "axes 1, 2, 3 and 5, 6, 7 meet in points");
  }

  const ReachModel& model_;
  const double tolerance_;
  const int n_;
  ArmFamilyFound found_;
  ArmPlan& plan_;
  std::vector<Mat3<double>> R_;
  std::vector<V> p_;
  double nearest_point_ = INFINITY, nearest_tilt_ = INFINITY;
  int nearest_place_ = 0, nearest_parallel_ = 0;
};

}  // namespace

ArmFamilyFound find_arm_family(const ReachModel& model, double tolerance) {
  const ArmFamilyFound found = Finder(model, tolerance).run();
  if (found.plan.family == ArmFamily::none) return found;
  // wherever it stands: solutions are no points then
  double q[kMostArmJoints], free[kMostArmJoints];
  for (int k = 0; k < 3; ++k) {
    for (int j = 0; j < found.plan.n; ++j)
      q[j] = std::cos(1 + 7 * k + 3 * j) * (found.plan.prismatic[j] ? found.plan.reach : 1.0);
    if (!free_direction(found.plan, q, free)) return found;
  }
  ArmFamilyFound refused;
  refused.what = "its joints can move while the link stands, wherever it is";
  return refused;
}

}  // namespace zveno
