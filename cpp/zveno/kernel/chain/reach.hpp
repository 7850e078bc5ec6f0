// Frames of a chain, how far they are from where they are wanted, and one step of Levenberg's method towards it.
// docs/inverse-kinematics.md (K26), (K27). For n joints and one frame: kinematics 33 n mul, the normal matrix 3 n (n + 1)
// mul, its factors n^3 / 6 mul.
#pragma once

#include <zveno/kernel/chain/kinematics.hpp>
#include <zveno/model/reach.hpp>
#include <zveno/scalar/select.hpp>
#include <zveno/support/scratch.hpp>

namespace zveno {

// A rotation as a multiple of its quaternion, through the largest component, so that half a turn is no exception; w >= 0.
// Gives the quarter of the square of its length.
template <class T>
ZVENO_INLINE T quaternion_of(const Mat3<T>& R, T& w, Vec3<T>& v) {
  const T xx = R(0, 0), yy = R(1, 1), zz = R(2, 2), one(1.0);
  const Vec3<T> odd{R(2, 1) - R(1, 2), R(0, 2) - R(2, 0), R(1, 0) - R(0, 1)};
  const T xy = R(0, 1) + R(1, 0), xz = R(0, 2) + R(2, 0), yz = R(1, 2) + R(2, 1);
  w = one + (xx + yy + zz), v = odd;
  T most = w;
  const T square[3] = {one + (xx - yy - zz), one + (yy - xx - zz), one + (zz - xx - yy)};
  const Vec3<T> column[3] = {{square[0], xy, xz}, {xy, square[1], yz}, {xz, yz, square[2]}};
  for (int i = 0; i < 3; ++i) {
    const auto larger = below(most, square[i]);
    w = pick(larger, odd[i], w);
    for (int j = 0; j < 3; ++j) v[j] = pick(larger, column[i][j], v[j]);
    most = pick(larger, square[i], most);
  }
  const T sign = pick_below(w, T(0.0), T(-1.0), one);
  w = w * sign, v = v * sign;
  return most;
}

// Vector of a rotation: its axis, as long as its angle
template <class T>
Vec3<T> rotation_vector(const Mat3<T>& R) {
  T w;
  Vec3<T> v;
  quaternion_of(R, w, v);
  const T vv = dot(v, v), size = root(vv), all = root(vv + w * w);
  const T angle = T(2.0) * joint_angle(size / all, w / all);
  // of small turns 2 v / w
  const auto small = below(size, T(1e-9) * all);
  const T factor = pick(small, T(2.0), angle) / pick(small, w, size);
  return v * factor;
}

// The same, but as long as twice the sine of half the angle, (K26): equal to third order, and without an angle
template <class T>
ZVENO_INLINE Vec3<T> rotation_chord(const Mat3<T>& R) {
  T w;
  Vec3<T> v;
  const T most = quaternion_of(R, w, v);
  return v * (T(1.0) / root(most));
}

// The turn that brings direction a to b, about their normal, (K26): the shortest one
template <class T>
Vec3<T> swing_vector(const Vec3<T>& a, const Vec3<T>& b, const Vec3<T>& beside) {
  const Vec3<T> n = cross<T>(a, b);
  const T s = root(dot(n, n)), c = dot(a, b);
  const auto some = below(T(1e-12), s);
  const Turn<T> t = unit_turn(s, c);
  const T factor = pick(some, joint_angle(t.s, t.c), T(1.0)) / pick(some, s, T(1.0));
  // opposite directions: any normal
  const T half = pick(some, T(0.0), pick_below(c, T(0.0), T(3.141592653589793), T(0.0)));
  return n * factor + beside * half;
}

// Memory of one state
template <class T>
struct ReachState {
  T *s, *c, *theta, *q;
  Mat3<T>* R_WB;
  Vec3<T>* p_W;
  Vec3<T>* at;    // places of the frames
  T* e;           // 6 for each frame: metres over `length`, radians
  T* column;      // of the Jacobian: for each joint, 6 for each frame
  T *H, *g;       // normal matrix, lower triangle by rows; its right side, and the step
  T* free;        // 0: a joint that is held at its limit
  T E;            // e . e
  T gap2, turn2;  // largest square of what is missing: m, rad

  ReachState(const ReachModel& model, Scratch& scratch) {
    const int n = model.size(), rows = 6 * static_cast<int>(model.frame.size());
    s = scratch.take<T>(padded(n)), c = scratch.take<T>(padded(n));
    theta = scratch.take<T>(n), q = scratch.take<T>(n);
    R_WB = scratch.take<Mat3<T>>(n), p_W = scratch.take<Vec3<T>>(n);
    at = scratch.take<Vec3<T>>(model.frame.size());
    e = scratch.take<T>(rows), column = scratch.take<T>(static_cast<std::size_t>(n) * rows);
    H = scratch.take<T>(static_cast<std::size_t>(n) * n), g = scratch.take<T>(n);
    free = scratch.take<T>(n);
  }
};

// A wanted pose: p (3), R (9, by rows) for each frame
template <class T>
ZVENO_INLINE Mat3<T> goal_rotation(const T* goal) {
  Mat3<T> R;
  for (int i = 0; i < 9; ++i) R(i / 3, i % 3) = goal[3 + i];
  return R;
}

// what is left of a turn of which nothing or a part is held, axes of the wanted frame
template <class T>
ZVENO_APART Vec3<T> part_of_turn(const ReachFrame& f, const Mat3<T>& wanted, const Mat3<T>& R_WU) {
  if (!f.turned) return zero3<T>();
  const Vec3<T> turn = f.swing ? swing_vector(R_WU.col(f.spin), wanted.col(f.spin), wanted.col((f.spin + 1) % 3))
                               : rotation_chord(times(wanted, R_WU.transposed()));
  return transposed_times(wanted, turn);
}

// frames at x.q and the error there, (K26)
template <class T>
void reach_error(const ReachModel& model, const T* goal, ReachState<T>& x) {
  const int n = model.size();
  int turning = 0;
  for (int b = 0; b < n; ++b)
    if (model.revolute(b)) x.theta[turning++] = x.q[b] + T(model.offset[b]);
  joint_trig(x.theta, x.s, x.c, turning);
  for (int b = n; turning != n && b-- > 0;) {
    const bool revolute = model.revolute(b);
    x.s[b] = revolute ? x.s[--turning] : T(model.fixed_turn[b].s);
    x.c[b] = revolute ? x.c[turning] : T(model.fixed_turn[b].c);
  }
  body_frames(model.view(), JointPosition<T>{x.s, x.c, x.q}, x.R_WB, x.p_W);
  const T zero(0.0), per_metre(model.per_metre);
  T E = zero, most_gap2 = zero, most_turn2 = zero;
  for (std::size_t k = 0; k < model.frame.size(); ++k) {
    const ReachFrame& f = model.frame[k];
    const T* to = goal + 12 * k;
    const Mat3<T>& R = x.R_WB[f.body];
    const Vec3<T> at = x.p_W[f.body] + times(R, cast<T>(f.p_BoUo_B));
    Vec3<T> dp = Vec3<T>(to[0], to[1], to[2]) - at, dr;
    x.at[k] = at;
    const bool turns = f.held[3] && f.held[4] && f.held[5];
    if (turns && f.straight)
      dr = rotation_chord(times(goal_rotation(to), R.transposed()));
    else if (turns)
      dr = rotation_chord(times(goal_rotation(to), times(R, cast<T>(f.R_BU)).transposed()));
    else
      dr = part_of_turn(f, goal_rotation(to), times(R, cast<T>(f.R_BU)));
    for (int i = 0; i < 3 && !f.whole; ++i) {
      if (!f.held[i]) dp[i] = zero;
      if (!f.held[3 + i]) dr[i] = zero;
    }
    const Vec3<T> metres = dp * per_metre;
    T* const e = x.e + 6 * k;
    e[0] = metres.x(), e[1] = metres.y(), e[2] = metres.z();
    e[3] = dr.x(), e[4] = dr.y(), e[5] = dr.z();
    for (int i = 0; i < 3; ++i) E += metres[i] * metres[i];
    for (int i = 0; i < 3; ++i) E += dr[i] * dr[i];
    most_gap2 = greater(most_gap2, dot(dp, dp));
    most_turn2 = greater(most_turn2, dot(dr, dr));
  }
  x.E = E, x.gap2 = most_gap2, x.turn2 = most_turn2;
}

// The same of one frame, held in place or whole, from x.s and x.c of the joints after the first `from`; wanted: rotation of
// the body that carries the frame. Of the turn the length of its chord, half of |R* - R|^2: what is nearly there needs no
// more.
template <class T>
void reach_chord(const ReachModel& model, const T* goal, const Mat3<T>& wanted, int from, ReachState<T>& x) {
  body_frames_after(from, model.view(), JointPosition<T>{x.s, x.c, x.q}, x.R_WB, x.p_W);
  const ReachFrame& f = model.frame[0];
  const Mat3<T>& R = x.R_WB[f.body];
  const Vec3<T> dp = Vec3<T>(goal[0], goal[1], goal[2]) - (x.p_W[f.body] + times(R, cast<T>(f.p_BoUo_B)));
  x.gap2 = dot(dp, dp), x.turn2 = T(0.0);
  if (f.held[3]) {
    const Vec3<T> d[3] = {wanted.col(0) - R.col(0), wanted.col(1) - R.col(1), wanted.col(2) - R.col(2)};
    x.turn2 = T(0.5) * (dot(d[0], d[0]) + dot(d[1], d[1]) + dot(d[2], d[2]));
  }
  x.E = x.gap2 * T(1.0 / (model.length * model.length)) + x.turn2;
}

// Columns of the Jacobian of all frames, units of the error by units of the unknowns: for each joint, 6 for each frame.
// After reach_error. N > 0: so many joints carry one frame that is held as a whole.
template <int N = 0, class T>
ZVENO_INLINE void reach_columns(const ReachModel& model, const T* goal, const ReachState<T>& x, T* columns) {
  const int n = N > 0 ? N : model.size(), frames = N > 0 ? 1 : static_cast<int>(model.frame.size()), rows = 6 * frames;
  const T per_metre(model.per_metre);
  for (int k = 0; k < frames; ++k) {
    const ReachFrame& f = model.frame[k];
    const Vec3<T> at = x.at[k];
    for (int b = 0; b < n; ++b) {
      T* column = columns + b * rows + 6 * k;
      Vec3<T> v, w;
      jacobian_column(model.view(), b, x.R_WB, x.p_W, at, v, w);
      if (model.revolute(b)) v = v * per_metre;  // slides are counted in lengths
      if (N == 0 && f.turned) w = transposed_times(goal_rotation(goal + 12 * k), w);
      for (int i = 0; i < 3; ++i) {
        column[i] = N > 0 || (f.moved_by[b] && f.held[i]) ? v[i] : T(0.0);
        column[3 + i] = N > 0 || (f.moved_by[b] && f.held[3 + i]) ? w[i] : T(0.0);
      }
    }
  }
}
template <class T>
void reach_jacobian(const ReachModel& model, const T* goal, ReachState<T>& x) {
  reach_columns(model, goal, x, x.column);
}

// rows of one frame
template <class T>
ZVENO_INLINE T dot_of_rows(const T* a, const T* b) {
  return ((a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3])) + (a[4] * b[4] + a[5] * b[5]);
}

// memory of a step: of a known size on the stack, where most of it stays in registers
template <int N, class T>
struct ReachStep {
  T column[6 * N], H[N * N], g[N], free[N];
  explicit ReachStep(ReachState<T>&) {}
};
template <class T>
struct ReachStep<0, T> {
  T *column, *H, *g, *free;
  explicit ReachStep(ReachState<T>& x) : column(x.column), H(x.H), g(x.g), free(x.free) {}
};

template <int N, class T>
ZVENO_APART void reach_step_of(const ReachModel& model, const T* goal, const T* lower, const T* upper, const T& damping,
                               ReachState<T>& x, T* next) {
  const int n = N > 0 ? N : model.size(), rows = N > 0 ? 6 : 6 * static_cast<int>(model.frame.size());
  ReachStep<N, T> s(x);
  reach_columns<N>(model, goal, x, s.column);
  const T zero(0.0), one(1.0);
  for (int b = 0; b < n; ++b) {
    const T* column = s.column + b * rows;
    T g = zero;
    for (int k = 0; k < rows; k += 6) g += dot_of_rows(column + k, x.e + k);
    // at a limit and driven outwards: frozen
    const T low = pick_below(lower[b], x.q[b], one, pick_below(g, zero, zero, one));
    const T high = pick_below(x.q[b], upper[b], one, pick_below(zero, g, zero, one));
    const T free = s.free[b] = low * high;
    s.g[b] = g * free;
    // what depends on the error comes last: the rest is computed while that is not yet known
    for (int j = 0; j <= b; ++j) {
      T sum = zero;
      for (int k = 0; k < rows; k += 6) sum += dot_of_rows(column + k, s.column + j * rows + k);
      s.H[b * n + j] = j == b ? damping + sum * free : sum * (free * s.free[j]);
    }
  }
  // L D L', in place: 1 / d on the diagonal
  for (int j = 0; j < n; ++j) {
    T* row = s.H + j * n;
    T d = row[j];
    for (int k = 0; k < j; ++k) {
      const T l = row[k];
      row[k] = l * s.H[k * n + k];
      d -= l * row[k];
    }
    const T inverse = T(1.0) / d;
    row[j] = inverse;
    T y = s.g[j];
    for (int k = 0; k < j; ++k) y -= row[k] * s.g[k];
    s.g[j] = y;
    for (int i = j + 1; i < n; ++i) {
      T* below_row = s.H + i * n;
      T sum = below_row[j];
      for (int k = 0; k < j; ++k) sum -= below_row[k] * row[k];
      below_row[j] = sum;  // l times d
    }
  }
  for (int j = n; j-- > 0;) {
    T y = s.g[j] * s.H[j * n + j];
    for (int i = j + 1; i < n; ++i) y -= s.H[i * n + j] * s.g[i];
    s.g[j] = y;
    const T moved = x.q[j] + y * T(model.scale(j));
    next[j] = greater(lower[j], lesser(upper[j], moved));
  }
}

// x.q after one step, (K27); lower, upper: joints stay between them
template <class T>
void reach_step(const ReachModel& model, const T* goal, const T* lower, const T* upper, const T& damping, ReachState<T>& x,
                T* next) {
  const int joints = model.frame.size() == 1 && model.frame[0].whole ? model.size() : 0;
  if (joints == 3) return reach_step_of<3>(model, goal, lower, upper, damping, x, next);
  if (joints == 6) return reach_step_of<6>(model, goal, lower, upper, damping, x, next);
  if (joints == 7) return reach_step_of<7>(model, goal, lower, upper, damping, x, next);
  reach_step_of<0>(model, goal, lower, upper, damping, x, next);
}

}  // namespace zveno
