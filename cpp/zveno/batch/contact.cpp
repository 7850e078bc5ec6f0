// Nodes of docking rings in lanes. Sums are made in eight parts whatever the number of lanes: same bits from every
// instruction set. Nodes that cannot touch are left out; they would add zeros.
#include <zveno/functions/contact.hpp>

#include <cmath>

#include <zveno/batch/lanes.hpp>
#include <zveno/kernel/contact/contact.hpp>

namespace zveno {
namespace {

using contact::Direction;
using contact::Place;
using contact::Touch;
using Vector = AnyVec<Packed>;

constexpr int kParts = 8, kTurns = kParts / kLanes;
constexpr double kPi = 3.14159265358979323846;
// nodes are left out if they are this far, m or rad, from where they could touch: beyond any rounding
constexpr double kMargin = 1e-9;

inline bool any_positive(const Packed& x) {
#if defined(__AVX512F__)
  return _mm512_cmp_pd_mask((__m512d)x.v, _mm512_setzero_pd(), _CMP_GT_OQ) != 0;
#elif defined(__AVX__)
  return _mm256_movemask_pd(_mm256_cmp_pd((__m256d)x.v, _mm256_setzero_pd(), _CMP_GT_OQ)) != 0;
#else
  bool any = false;
  for (int l = 0; l < kLanes; ++l) any |= x[l] > 0;
  return any;
#endif
}

// points of a curve and the length each stands for
struct Nodes {
  std::vector<double> x, y, z, length;
  double whole = 0;
  int flat = 0;  // the first that are in the mating plane

  void add(double s, double r, double angle, double l) {
    if (s == 0 && flat == count()) ++flat;
    x.push_back(s), y.push_back(r * std::cos(angle)), z.push_back(r * std::sin(angle)), length.push_back(l);
    whole += l;
  }
  void finish() {  // whole rounds of parts; what fills them is far from any surface
    while (x.size() % kParts) add(-100, 50, 0, 0);
  }
  int count() const { return static_cast<int>(x.size()); }
};

struct Ring {
  explicit Ring(const RingShape& s) : petals(s), shape(s) {
    for (const double angle : s.angles) middle.push_back({std::cos(angle), std::sin(angle)});
    for (int i = 0; i < s.edge_nodes; ++i)
      edge.add(0, s.edge_radius, 2 * kPi * i / s.edge_nodes, 2 * kPi * s.edge_radius / s.edge_nodes);
    for (int i = 0; i < s.face_nodes; ++i)
      face.add(0, s.face_radius, 2 * kPi * i / s.face_nodes, 2 * kPi * s.face_radius / s.face_nodes);
    for (const double centre : s.angles)
      for (const int sign : {-1, 1})
        for (int i = 0; i < s.side_nodes; ++i) {
          const double h = s.height / s.side_nodes, at = (i + 0.5) * h;
          const double rise = contact::ramp(at, s.fillet), slope = contact::step(at / s.fillet);
          const double r = s.root_radius - s.sign * s.lean() * rise, w = s.root_half_angle - s.taper() * rise;
          const double out = s.lean() * slope, around = r * s.taper() * slope;
          side.add(at, r, centre + sign * w, h * std::sqrt(1 + out * out + around * around));
        }
    edge.finish(), face.finish(), side.finish();
    // half-angles shrink with the ramp, which is at least x - fillet / 2; their cosine is above its chord
    const double wide = std::min(s.root_half_angle + kMargin, 0.5 * kPi), narrow = std::max(s.tip_half_angle, 0.0);
    widest = std::cos(wide);
    const double turn = wide - narrow;
    narrowing =
        turn > kMargin && s.root_half_angle < 0.5 * kPi - kMargin ? s.taper() * (std::cos(narrow) - widest) / turn : 0.0;
    side_radius = std::max(s.root_radius, s.tip_radius) + s.thickness + kMargin;
  }
  contact::Petals petals;
  RingShape shape;
  std::vector<Direction<double>> middle;
  Nodes edge, side, face;
  double widest, narrowing, side_radius;  // cosine of the half-angle at the root, its growth along the petal
};

// Q against P
struct Relative {
  Packed R[9], p[3], v[3], w[3];

  Relative(const double* turn, const double* at, const double* speed, const double* rate) {
    for (int i = 0; i < 9; ++i) R[i] = turn[i];
    for (int i = 0; i < 3; ++i) p[i] = at[i], v[i] = speed[i], w[i] = rate[i];
  }
  ZVENO_INLINE Vector place(const Nodes& n, int i) const {
    const Packed x = Packed::load(n.x.data() + i), y = Packed::load(n.y.data() + i), z = Packed::load(n.z.data() + i);
    return {p[0] + (R[0] * x + R[1] * y + R[2] * z), p[1] + (R[3] * x + R[4] * y + R[5] * z),
            p[2] + (R[6] * x + R[7] * y + R[8] * z)};
  }
  // of nodes that are in the mating plane, most of them
  ZVENO_INLINE Vector place_flat(const Nodes& n, int i) const {
    if (i + kLanes > n.flat) return place(n, i);
    const Packed y = Packed::load(n.y.data() + i), z = Packed::load(n.z.data() + i);
    return {p[0] + (R[1] * y + R[2] * z), p[1] + (R[4] * y + R[5] * z), p[2] + (R[7] * y + R[8] * z)};
  }
  ZVENO_INLINE Vector velocity(const Vector& x) const {
    return Vector{v[0], v[1], v[2]} + cross(Vector{w[0], w[1], w[2]}, x);
  }
};

class Collector {
 public:
  ZVENO_INLINE void add(int turn, const contact::Sums<Packed>& s) {
    Packed* to = sum_[turn];
    to[0] += s.force.x, to[1] += s.force.y, to[2] += s.force.z;
    to[3] += s.moment.x, to[4] += s.moment.y, to[5] += s.moment.z;
    to[6] += s.normal_power, to[7] += s.friction_power;
    touched_ = true;
  }
  ZVENO_INLINE void deepen(const Touch<Packed>& x) {
    deepest_ = greater(deepest_, pick_below(Packed(0.0), x.weight, x.depth, Packed(0.0)));
  }
  double deepest() const {
    double most = 0;
    for (int l = 0; l < kLanes; ++l) most = std::max(most, deepest_[l]);
    return most;
  }
  bool touched() const { return touched_; }
  void write(double* out) const {
    for (int k = 0; k < 8; ++k) {
      double part[kParts];
      for (int t = 0; t < kTurns; ++t) sum_[t][k].store(part + t * kLanes);
      out[k] = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
    }
  }

 private:
  Packed sum_[kTurns][8] = {};
  Packed deepest_ = 0.0;
  bool touched_ = false;
};

// the petal next to each node; more: positive where the node may be within its sector; rise: of the petal, or less
ZVENO_INLINE Direction<Packed> nearest(const Ring& ring, const Vector& x, const Packed& rise, Packed& more) {
  Packed most(-1e300);
  Direction<Packed> found{Packed(1.0), Packed(0.0)};
  for (const Direction<double>& m : ring.middle) {
    const Packed along = x.y * Packed(m.c) + x.z * Packed(m.s);
    const auto better = below(most, along);
    most = pick(better, along, most);
    found.c = pick(better, Packed(m.c), found.c), found.s = pick(better, Packed(m.s), found.s);
  }
  const Packed least = Packed(ring.widest) + Packed(ring.narrowing) * rise;
  more = pick_below(Packed(0.0), most, most * most - least * least * (x.y * x.y + x.z * x.z), Packed(-1.0));
  return found;
}

class LaneContact : public ContactPair {
 public:
  LaneContact(const RingShape& a, const RingShape& b)
      : a_(a), b_(b), nodes_(a_.edge.count() + a_.side.count() + b_.edge.count() + b_.side.count() + b_.face.count()) {}

  void evaluate(const ContactLaw& law, const double* R, const double* p, const double* v, const double* w,
                ContactLoad& load) const override {
    walk(R, p, v, w, law, load, [&](const Node& n, const Touch<Packed>& touch, const Relative& q) {
      return contact::respond(law, n.of, touch, q.velocity(n.of.at));
    });
  }

  int bristles() const override { return 3 * nodes_; }

  void hold(const ContactLaw& law, const double* R, const double* p, const double* v, const double* w, const double* z,
            double since, ContactLoad& load) const override {
    walk(R, p, v, w, law, load, [&](const Node& n, const Touch<Packed>& touch, const Relative& q) {
      const Vector bent{Packed::load(z + n.place), Packed::load(z + nodes_ + n.place),
                        Packed::load(z + 2 * nodes_ + n.place)};
      const Packed share = n.of.length * Packed(1 / n.whole);
      return contact::hold(law, n.of, share, touch, q.velocity(n.of.at), bent, since);
    });
  }

  void advance(const ContactLaw& law, const double* R, const double* p, const double* v, const double* w, const double* z,
               double dt, double* next) const override {
    std::fill_n(next, 3 * nodes_, 0.0);
    ContactLoad load;
    walk(R, p, v, w, law, load, [&](const Node& n, const Touch<Packed>& touch, const Relative& q) {
      const Vector bent{Packed::load(z + n.place), Packed::load(z + nodes_ + n.place),
                        Packed::load(z + 2 * nodes_ + n.place)};
      const Vector now = contact::bristles(law, n.of, touch, q.velocity(n.of.at), bent, dt);
      now.x.store(next + n.place), now.y.store(next + nodes_ + n.place), now.z.store(next + 2 * nodes_ + n.place);
      return nothing();
    });
  }

  void approach(const double* R, const double* p, const double* v, const double* w, double* speeds) const override {
    Packed most[kFeatures];
    for (Packed& x : most) x = kApart;
    ContactLoad load;
    walk(R, p, v, w, ContactLaw(), load, [&](const Node& n, const Touch<Packed>& touch, const Relative& q) {
      const Packed speed = -dot(q.velocity(n.of.at), touch.normal);
      const Packed counts = pick_below(Packed(0.0), lesser(touch.depth, touch.weight), speed, Packed(kApart));
      most[n.feature] = greater(most[n.feature], counts);
      return nothing();
    });
    for (int f = 0; f < kFeatures; ++f) {
      speeds[f] = kApart;
      for (int l = 0; l < kLanes; ++l) speeds[f] = std::max(speeds[f], most[f][l]);
    }
  }

  double penetration(const double* R, const double* p) const override {
    const double still[3] = {};
    ContactLoad load;
    walk(R, p, still, still, ContactLaw(), load,
         [](const Node&, const Touch<Packed>&, const Relative&) { return nothing(); });
    return load.penetration;
  }

 private:
  // nodes in lanes
  struct Node {
    contact::Spot<Packed> of;
    double whole;        // length of their curve
    int place, feature;  // place: among all nodes
  };
  static contact::Sums<Packed> nothing() { return {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, 0.0, 0.0}; }

  template <class F>
  void walk(const double* R, const double* p, const double* v, const double* w, const ContactLaw& law, ContactLoad& load,
            const F& f) const {
    load = {};
    {
      const Relative q(R, p, v, w);
      Collector sum;
      petals(a_, b_, q, law, 0, 0, f, sum);
      faces(q, law, b_.edge.count() + b_.side.count(), f, sum);
      load.penetration = sum.deepest();
      if (sum.touched()) {
        double s[8];
        sum.write(s);
        for (int i = 0; i < 3; ++i) load.force[i] = s[i], load.moment[i] = s[3 + i];
        load.normal_power = s[6], load.friction_power = s[7];
      }
    }
    // the other way round: A against B in B's axes
    const double far[3] = {v[0] + w[1] * p[2] - w[2] * p[1], v[1] + w[2] * p[0] - w[0] * p[2],
                           v[2] + w[0] * p[1] - w[1] * p[0]};
    double turn[9], at[3], speed[3], rate[3];
    for (int i = 0; i < 3; ++i) {
      at[i] = speed[i] = rate[i] = 0;
      for (int j = 0; j < 3; ++j) {
        turn[3 * i + j] = R[3 * j + i];
        at[i] -= R[3 * j + i] * p[j], speed[i] -= R[3 * j + i] * far[j], rate[i] -= R[3 * j + i] * w[j];
      }
    }
    const Relative q(turn, at, speed, rate);
    Collector sum;
    petals(b_, a_, q, law, 3, b_.edge.count() + b_.side.count() + b_.face.count(), f, sum);
    load.penetration = std::max(load.penetration, sum.deepest());
    if (!sum.touched()) return;
    double s[8], force[3], moment[3];
    sum.write(s);
    for (int i = 0; i < 3; ++i) {
      force[i] = R[3 * i] * s[0] + R[3 * i + 1] * s[1] + R[3 * i + 2] * s[2];
      moment[i] = R[3 * i] * s[3] + R[3 * i + 1] * s[4] + R[3 * i + 2] * s[5];
    }
    moment[0] += p[1] * force[2] - p[2] * force[1];
    moment[1] += p[2] * force[0] - p[0] * force[2];
    moment[2] += p[0] * force[1] - p[1] * force[0];
    for (int i = 0; i < 3; ++i) load.force[i] -= force[i], load.moment[i] -= moment[i];
    load.normal_power += s[6], load.friction_power += s[7];
  }

  // edges and sides of Q on the petals of P
  template <class F>
  void petals(const Ring& P, const Ring& Q, const Relative& q, const ContactLaw& law, int feature, int first, const F& f,
              Collector& sum) const {
    const contact::Petals& s = P.petals;
    const Packed top(s.height), bottom(s.extension), sign(s.sign), nearest_root(s.root + s.sign * kMargin),
        lean(s.sign * s.lean), bend(0.5 * s.fillet);
    for (int i = 0; i < Q.edge.count(); i += kLanes) {
      const Vector x = q.place_flat(Q.edge, i);
      const Packed along = lesser(Packed(top - x.x), Packed(x.x + bottom));
      // the ramp is at least x - fillet / 2: no surface is nearer than this
      const Packed rise = greater(Packed(x.x - bend), Packed(0.0)), surface = nearest_root - lean * rise;
      const Packed within = lesser(along, Packed(sign * (surface * surface - (x.y * x.y + x.z * x.z))));
      if (!any_positive(within)) continue;
      Packed more;
      const Direction<Packed> middle = nearest(P, x, rise, more);
      if (!any_positive(lesser(within, more))) continue;
      const Touch<Packed> touch = contact::edge(s, Place<Packed>(x), middle);
      sum.deepen(touch);
      sum.add(i / kLanes % kTurns, f(Node{{law.edge, law.damping[feature], Packed::load(Q.edge.length.data() + i), x},
                                          Q.edge.whole,
                                          first + i,
                                          feature},
                                     touch, q));
    }
    const Packed wide(P.side_radius * P.side_radius);
    for (int i = 0; i < Q.side.count(); i += kLanes) {
      const Vector x = q.place(Q.side, i);
      const Packed along = lesser(Packed(top - x.x), Packed(x.x + bottom));
      const Packed within = lesser(along, Packed(wide - (x.y * x.y + x.z * x.z)));
      if (!any_positive(within)) continue;
      Packed more;
      const Direction<Packed> middle = nearest(P, x, greater(Packed(x.x - bend), Packed(0.0)), more);
      if (!any_positive(lesser(within, more))) continue;
      const Touch<Packed> touch = contact::side(s, Place<Packed>(x), middle);
      sum.deepen(touch);
      sum.add(i / kLanes % kTurns, f(Node{{law.side, law.damping[feature + 1], Packed::load(Q.side.length.data() + i), x},
                                          Q.side.whole,
                                          first + Q.edge.count() + i,
                                          feature + 1},
                                     touch, q));
    }
  }

  // face of B on the mating plane of A
  template <class F>
  void faces(const Relative& q, const ContactLaw& law, int first, const F& f, Collector& sum) const {
    for (int i = 0; i < b_.face.count(); i += kLanes) {
      const Vector x = q.place_flat(b_.face, i);
      if (!any_positive(-x.x)) continue;
      const Touch<Packed> touch =
          contact::face(a_.shape.face_radius, a_.shape.face_half_width, a_.petals.per_window, Place<Packed>(x));
      sum.deepen(touch);
      sum.add(i / kLanes % kTurns,
              f(Node{{law.face, law.damping[2], Packed::load(b_.face.length.data() + i), x}, b_.face.whole, first + i, 2},
                touch, q));
    }
  }

  Ring a_, b_;
  int nodes_;
};

}  // namespace

std::unique_ptr<ContactPair> make_contact(const RingShape& a, const RingShape& b) {
  return std::make_unique<LaneContact>(a, b);
}

}  // namespace zveno
