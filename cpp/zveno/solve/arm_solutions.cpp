// docs/inverse-kinematics.md, section 3
#include <zveno/solve/arm_solutions.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <zveno/functions/arm_evaluation.hpp>
#include <zveno/functions/job.hpp>

namespace zveno {
namespace {

bool same(const ArmPlan& plan, const double* a, const double* b) {
  for (int i = 0; i < plan.n; ++i) {
    double d = std::fabs(a[i] - b[i]);
    if (plan.prismatic[i])
      d /= plan.reach;
    else if (d > kPi)
      d = kTurn - d;
    if (d > kArmSame) return false;
  }
  return true;
}

struct Solution {
  const double* q;
  ArmNote note;
};

}  // namespace

void collect_solutions(const ArmJob& job, std::ptrdiff_t row, const double* branches) {
  const ArmPlan& plan = *job.plan;
  const ReachModel& model = *job.model;
  const BranchLayout layout{plan.n};
  const int n = plan.n;
  job.count[row] = job.outside[row] = 0;
  job.missing[row] = 0;
  if (job.status[row] != 0) return;
  Solution found[kMostBranches];
  int count = 0;
  bool alone = plan.meet_flagged();  // no two are the same as long as none is singular
  const double metre = kArmVerified * std::max(1.0, plan.reach);
  for (int i = 0; i < plan.branches(); ++i) {
    const double* b = branches + i * layout.size();
    if (!(b[layout.gap2()] < metre * metre && b[layout.turn2()] < kArmVerified * kArmVerified)) continue;
    Solution s{b, {static_cast<float>(b[layout.gap2()]), static_cast<float>(b[layout.turn2()]), {}, 0, 0, 1, {}}};
    for (int k = 0; k < 3; ++k) {
      s.note.configuration[k] = arm_sign(b[layout.sign(k)]);
      const bool singular = b[layout.singular(k)] < (k == 2 ? kArmSingular * kArmSingular : kArmSingular);
      s.note.singular |= static_cast<std::uint8_t>(singular << k);
    }
    alone &= s.note.singular == 0;
    int known = alone ? count : 0;
    while (known < count && !same(plan, found[known].q, s.q)) ++known;
    if (known < count) {
      ++found[known].note.multiplicity;
      found[known].note.singular |= s.note.singular;
    } else {
      found[count++] = s;
    }
  }
  if (count == 0) {
    double missing = INFINITY;
    for (int i = 0; i < plan.branches(); ++i) {
      const double miss = branches[i * layout.size() + layout.miss()];
      if (miss < missing) missing = miss;
    }
    job.missing[row] = std::isfinite(missing) ? missing : std::numeric_limits<double>::quiet_NaN();
    return;
  }
  // by q, what differs by rounding only counted as equal
  const auto before = [n](const Solution& a, const Solution& b) {
    for (int j = 0; j < n; ++j)
      if (std::fabs(a.q[j] - b.q[j]) > kArmSame) return a.q[j] < b.q[j];
    return false;
  };
  for (int i = 1; i < count; ++i)
    for (int j = i; j > 0 && before(found[j], found[j - 1]); --j) std::swap(found[j], found[j - 1]);
  ArmFound& out = *job.found;
  for (int i = 0; i < count; ++i) {
    Solution& s = found[i];
    s.note.branch = static_cast<std::uint8_t>(i);
    if (s.note.singular || s.note.multiplicity > 1) {
      double free[kMostArmJoints];
      if (free_direction(plan, s.q, free)) s.note.singular |= 8;
    }
    if (!job.limits) {
      out.need(1);
      job.write(row, s.q, out.q + out.size * job.n);
      out.note[out.size++] = s.note;
      ++job.count[row];
      continue;
    }
    // (K24) whole turns inside of the limits
    int from[kMostArmJoints], to[kMostArmJoints], total = 1;
    bool as_it_is = true;
    for (int j = 0; j < n; ++j) {
      const double low = model.lower[j], high = model.upper[j], q = s.q[j];
      from[j] = to[j] = 0;
      const bool here = q >= low - kArmInside && q <= high + kArmInside;
      if (here && (plan.prismatic[j] || (q + kTurn > high + kArmInside && q - kTurn < low - kArmInside))) continue;
      if (!plan.prismatic[j]) {
        // of one limit only: the turn that is nearest to it inside
        if (std::isfinite(low) && (std::isfinite(high) || q < low - kArmInside))
          from[j] = static_cast<int>(std::ceil((low - kArmInside - q) / kTurn));
        if (std::isfinite(high) && (std::isfinite(low) || q > high + kArmInside))
          to[j] = static_cast<int>(std::floor((high + kArmInside - q) / kTurn));
        if (!std::isfinite(high)) to[j] = from[j];
        if (!std::isfinite(low)) from[j] = to[j];
      } else {
        to[j] = -1;
      }
      total *= std::max(0, to[j] - from[j] + 1);
      as_it_is &= from[j] == 0 && to[j] == 0;
    }
    if (as_it_is) {
      double q[kMostArmJoints];
      for (int j = 0; j < n; ++j) q[j] = std::min(std::max(s.q[j], model.lower[j]), model.upper[j]);
      out.need(1);
      job.write(row, q, out.q + out.size * job.n);
      out.note[out.size++] = s.note;
      ++job.count[row];
      continue;
    }
    if (total == 0) {
      ++job.outside[row];
      continue;
    }
    out.need(total);
    // nearest to the start first
    const double* start = job.start.row(row);
    const std::ptrdiff_t first = out.size;
    double few[16];
    std::vector<double> many(total > 16 ? static_cast<std::size_t>(total) : 0);
    double* const away = total > 16 ? many.data() : few;
    int turns[kMostArmJoints];
    std::copy_n(from, n, turns);
    for (int made = 0; made < total; ++made) {
      double q[kMostArmJoints], mine = 0;
      for (int j = 0; j < n; ++j) {
        q[j] = std::min(std::max(s.q[j] + kTurn * turns[j], model.lower[j]), model.upper[j]);
        mine = std::max(mine, std::fabs(q[j] - start[model.place[j]]) / (plan.prismatic[j] ? model.length : 1.0));
      }
      int at = made;
      for (; at > 0 && mine < away[at - 1]; --at) {
        away[at] = away[at - 1];
        std::copy_n(out.q + (first + at - 1) * job.n, job.n, out.q + (first + at) * job.n);
      }
      away[at] = mine;
      job.write(row, q, out.q + (first + at) * job.n);
      out.note[out.size++] = s.note;
      int j = n - 1;
      while (j >= 0 && turns[j] == to[j]) turns[j] = from[j], --j;
      if (j >= 0) ++turns[j];
    }
    job.count[row] += total;
  }
}

void run_one_arm(const ArmJob& job, const KernelTable& kernels) {
  double goal[12];
  ArmBranch<double> branch[kMostBranches + 1] = {};
  job.status[0] = take_pose(job.pose.data, goal) ? 0 : static_cast<std::int8_t>(status_of_pose(job.pose.data));
  const auto turn_of = [](const double* angle) {
    double s[8 * kLanes], c[8 * kLanes];
    joint_trig(angle, s, c, 1);
    return Turn<double>{s[0], c[0]};
  };
  const ArmPlan& plan = *job.plan;
  Turn<double> swivel{0.0, 1.0}, rest{0.0, 1.0};
  if (plan.family == ArmFamily::swivel) swivel = turn_of(job.psi.data);
  if (job.resting && plan.idle() >= 0) rest = turn_of(job.start.data + job.model->place[plan.idle()]);
  branches_for(plan, goal, swivel, rest, branch);
  ArmJob all = job;
  all.collect = &collect_solutions;
  kernels.run_arm_branches(all, goal, branch);
}

}  // namespace zveno
