// Nodes of docking rings in lanes. Those that touch are looked for first and then stand side by side; where the rings move
// little, only among those that are near. Sums are made in eight parts whatever the number of lanes: same bits from every
// instruction set.
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
// those that are near: how far they may move, in sizes of the ring
constexpr double kWay = 1.0 / 300;

// a bit for each lane
inline unsigned positive_lanes(const Packed& x) {
#if defined(__AVX512F__)
  return _mm512_cmp_pd_mask((__m512d)x.v, _mm512_setzero_pd(), _CMP_GT_OQ);
#elif defined(__AVX__)
  return static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd((__m256d)x.v, _mm256_setzero_pd(), _CMP_GT_OQ)));
#else
  unsigned bits = 0;
  for (int l = 0; l < kLanes; ++l) bits |= static_cast<unsigned>(x[l] > 0) << l;
  return bits;
#endif
}

// points of a curve and the length each stands for
struct Nodes {
  std::vector<double> x, y, z, length;
  std::vector<int> place;  // among all nodes
  double whole = 0;
  int count = 0;  // the rest fills whole rounds of parts and does not count

  void add(double s, double r, double angle, double l) {
    x.push_back(s), y.push_back(r * std::cos(angle)), z.push_back(r * std::sin(angle)), length.push_back(l);
    whole += l, ++count;
  }
  void finish(int& places) {
    const std::size_t room = static_cast<std::size_t>((count + kParts - 1) / kParts * kParts);
    for (auto* numbers : {&x, &y, &z, &length}) numbers->resize(room);
    while (place.size() < room) place.push_back(places++);
  }
  // a bit for each node of a pack
  unsigned counting(int i) const { return count - i < kLanes ? (1u << (count - i)) - 1 : ~0u; }
  // takes over those of `all` from i on that have a bit
  void take(const Nodes& all, int i, unsigned bits) {
    for (bits &= all.counting(i); bits; bits >>= 1, ++i) {
      if (!(bits & 1)) continue;
      const auto from = static_cast<std::size_t>(i), to = static_cast<std::size_t>(count++);
      x[to] = all.x[from], y[to] = all.y[from], z[to] = all.z[from], length[to] = all.length[from];
      place[to] = all.place[from];
    }
  }
};

// of a ring
struct Curves {
  // places: of the nodes before these, and then of these too
  Curves(const RingShape& s, bool has_face, int& places) {
    for (int i = 0; i < s.edge_nodes; ++i)
      edge.add(0, s.edge_radius, 2 * kPi * i / s.edge_nodes, 2 * kPi * s.edge_radius / s.edge_nodes);
    for (int i = 0; has_face && i < s.face_nodes; ++i)
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
    for (Nodes* nodes : {&edge, &side, &face}) nodes->finish(places);
  }
  double reach() const {  // no node is farther from the origin
    double most = 0;
    for (const Nodes* n : {&edge, &side, &face})
      for (std::size_t i = 0; i < n->x.size(); ++i)
        most = std::max(most, std::sqrt(n->x[i] * n->x[i] + n->y[i] * n->y[i] + n->z[i] * n->z[i]));
    return most;
  }
  Nodes edge, side, face;  // edge, face: in the mating plane
};

struct Ring {
  explicit Ring(const RingShape& s) : petals(s), shape(s) {
    for (const double angle : s.angles) middle.push_back({std::cos(angle), std::sin(angle)});
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
  // of nodes that are in the mating plane
  ZVENO_INLINE Vector place_flat(const Nodes& n, int i) const {
    const Packed y = Packed::load(n.y.data() + i), z = Packed::load(n.z.data() + i);
    return {p[0] + (R[1] * y + R[2] * z), p[1] + (R[4] * y + R[5] * z), p[2] + (R[7] * y + R[8] * z)};
  }
  ZVENO_INLINE Vector velocity(const Vector& x) const {
    return Vector{v[0], v[1], v[2]} + cross(Vector{w[0], w[1], w[2]}, x);
  }
};

class Collector {
 public:
  ZVENO_INLINE Collector() {  // one by one: cheaper than to clear memory
    for (auto& part : sum_) {
      ZVENO_UNROLL
      for (Packed& x : part) x = 0.0;
    }
  }
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
    for (int k = 0; k < 8; k += kLanes) {
      Packed own[kTurns][kLanes];
      for (int t = 0; t < kTurns; ++t)
        load_transposed([&](int l) ZVENO_INLINED { return reinterpret_cast<const double*>(sum_[t] + k + l); }, own[t]);
      const auto part = [&](int i) ZVENO_INLINED { return own[i / kLanes][i % kLanes]; };
      const Packed all = ((part(0) + part(1)) + (part(2) + part(3))) + ((part(4) + part(5)) + (part(6) + part(7)));
      all.store(out + k);
    }
  }

 private:
  Packed sum_[kTurns][8];
  Packed deepest_ = 0.0;
  bool touched_ = false;
};

// farthest along the middle of a petal
ZVENO_INLINE Packed along_middle(const Ring& ring, const Vector& x) {
  Packed most(-1e300);
  for (const Direction<double>& m : ring.middle) most = greater(most, Packed(x.y * Packed(m.c) + x.z * Packed(m.s)));
  return most;
}

// positive where a node may be within the sector of a petal; rise: of the petal, or less
ZVENO_INLINE Packed within_sector(const Ring& ring, const Vector& x, const Packed& rise) {
  const Packed most = along_middle(ring, x), least = Packed(ring.widest) + Packed(ring.narrowing) * rise;
  return lesser(most, Packed(most * most - least * least * (x.y * x.y + x.z * x.z)));
}

// the petal next to each node
ZVENO_INLINE Direction<Packed> nearest(const Ring& ring, const Vector& x) {
  Packed most(-1e300);
  Direction<Packed> found{Packed(1.0), Packed(0.0)};
  for (const Direction<double>& m : ring.middle) {
    const Packed along = x.y * Packed(m.c) + x.z * Packed(m.s);
    const auto better = below(most, along);
    most = pick(better, along, most);
    found.c = pick(better, Packed(m.c), found.c), found.s = pick(better, Packed(m.s), found.s);
  }
  return found;
}

class LaneContact : public ContactPair {
 public:
  LaneContact(const RingShape& a, const RingShape& b)
      : a_(a), b_(b), all_{Curves(b, true, nodes_), Curves(a, false, nodes_)}, near_{all_[0], all_[1]} {
    reach_ = std::max(all_[0].reach(), all_[1].reach());
    way_ = kWay * reach_;
  }

  void evaluate(const ContactLaw& law, const double* R, const double* p, const double* v, const double* w,
                ContactLoad& load) override {
    walk(nearby(R, p), R, p, v, w, law, load, [&](const Node& n, const Touch<Packed>& touch, const Relative& q) {
      return contact::respond(law, n.of, touch, q.velocity(n.of.at));
    });
  }

  int bristles() const override { return 3 * nodes_; }

  void hold(const ContactLaw& law, const double* R, const double* p, const double* v, const double* w, const double* z,
            double since, ContactLoad& load) override {
    const auto hold_nodes = [&](const Node& n, const Touch<Packed>& touch, const Relative& q) {
      const Vector bent = read(z, n);
      const Packed share = n.of.length * Packed(1 / n.whole);
      return contact::hold(law, n.of, share, touch, q.velocity(n.of.at), bent, since);
    };
    walk(nearby(R, p), R, p, v, w, law, load, called(hold_nodes));
  }

  void advance(const ContactLaw& law, const double* R, const double* p, const double* v, const double* w, const double* z,
               double dt, double* next) override {
    std::fill_n(next, 3 * nodes_, 0.0);
    ContactLoad load;
    const auto bend_nodes = [&](const Node& n, const Touch<Packed>& touch, const Relative& q) {
      const Vector bent = read(z, n);
      const Vector now = contact::bristles(law, n.of, touch, q.velocity(n.of.at), bent, dt);
      for (int l = 0; l < n.count; ++l) {
        double* to = next + n.place[l];
        to[0] = now.x[l], to[nodes_] = now.y[l], to[2 * nodes_] = now.z[l];
      }
      return nothing();
    };
    walk(nearby(R, p), R, p, v, w, law, load, called(bend_nodes));
  }

  void approach(const double* R, const double* p, const double* v, const double* w, double* speeds) override {
    Packed most[kFeatures];
    for (Packed& x : most) x = kApart;
    ContactLoad load;
    const auto look = [&](const Node& n, const Touch<Packed>& touch, const Relative& q) {
      const Packed speed = -dot(q.velocity(n.of.at), touch.normal);
      const Packed counts = pick_below(Packed(0.0), lesser(touch.depth, touch.weight), speed, Packed(kApart));
      most[n.feature] = greater(most[n.feature], counts);
      return nothing();
    };
    walk(nearby(R, p), R, p, v, w, ContactLaw(), load, called(look));
    for (int f = 0; f < kFeatures; ++f) {
      speeds[f] = kApart;
      for (int l = 0; l < kLanes; ++l) speeds[f] = std::max(speeds[f], most[f][l]);
    }
  }

  double penetration(const double* R, const double* p) const override {
    const double still[3] = {};
    ContactLoad load;
    const auto none = [](const Node&, const Touch<Packed>&, const Relative&) { return nothing(); };
    walk(all_, R, p, still, still, ContactLaw(), load, called(none));
    return load.penetration;
  }

 private:
  // nodes in lanes
  struct Node {
    contact::Spot<Packed> of;
    double whole;      // length of their curve
    int feature;       // which curve on which surface
    const int* place;  // among all nodes
    int count;         // that are nodes; what fills the lanes beyond is far from any surface
  };
  // bristles of nodes
  Vector read(const double* z, const Node& n) const {
    double x[3][kLanes] = {};
    for (int l = 0; l < n.count; ++l)
      for (int i = 0; i < 3; ++i) x[i][l] = z[i * nodes_ + n.place[l]];
    return {Packed::load(x[0]), Packed::load(x[1]), Packed::load(x[2])};
  }
  // What is seldom done with nodes is called: the walk is compiled once for all of it.
  struct Called {
    contact::Sums<Packed> (*call)(const void*, const Node&, const Touch<Packed>&, const Relative&);
    const void* of;
    contact::Sums<Packed> operator()(const Node& n, const Touch<Packed>& touch, const Relative& q) const {
      return call(of, n, touch, q);
    }
  };
  template <class G>
  static Called called(const G& g) {
    return {[](const void* of, const Node& n, const Touch<Packed>& touch, const Relative& q) {
              return (*static_cast<const G*>(of))(n, touch, q);
            },
            &g};
  }
  static contact::Sums<Packed> nothing() { return {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, 0.0, 0.0}; }

  // of: nodes to look among, of B and of A
  template <class F>
  void walk(const Curves (&of)[2], const double* R, const double* p, const double* v, const double* w, const ContactLaw& law,
            ContactLoad& load, const F& f) const {
    load = {};
    {
      const Relative q(R, p, v, w);
      Collector sum;
      petals(a_, of[0], q, law, 0, f, sum);
      faces(of[0].face, q, law, f, sum);
      load.penetration = sum.deepest();
      if (sum.touched()) {
        double s[8];
        sum.write(s);
        for (int i = 0; i < 3; ++i) load.force[i] = s[i], load.moment[i] = s[3 + i];
        load.normal_power = s[6], load.friction_power = s[7];
      }
    }
    if (!of[1].edge.count && !of[1].side.count) return;
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
    petals(b_, of[1], q, law, 3, f, sum);
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

  // Nodes of a curve that may touch, as many at a time as there are lanes: meet(place) tests them against a surface.
  template <class Meet, class F>
  class Gathered {
   public:
    ZVENO_INLINE Gathered(double stiffness, const ContactLaw& law, int feature, const Nodes& nodes, const Relative& q,
                          const Meet& meet, const F& f, Collector& sum)
        : stiffness_(stiffness), law_(law), feature_(feature), nodes_(nodes), q_(q), meet_(meet), f_(f), sum_(sum) {
      clear();
    }
    // those of nodes i, i + 1, ... at x that have a bit
    ZVENO_INLINE void add(unsigned bits, int i, const Vector& x) {
      if (bits &= nodes_.counting(i)) put(bits, i, x);
    }
    ZVENO_INLINE void finish() {
      if (count_) flush();
    }

   private:
    ZVENO_INLINE void put(unsigned bits, int i, const Vector& x) {
#if ZVENO_GNU && defined(__AVX512F__)
      const Packed from[4] = {x.x, x.y, x.z, Packed::load(nodes_.length.data() + i)};
      const int* const place = nodes_.place.data() + i;
      // from the first free lane on, whole packs at a time: they are read again at once
      const auto append = [&](unsigned those, int number) ZVENO_INLINED {
        const auto lanes = static_cast<__mmask8>(((1u << number) - 1) << count_);
        for (int j = 0; j < 4; ++j) {
          const __m512d packed = _mm512_maskz_compress_pd(static_cast<__mmask8>(those), (__m512d)from[j].v);
          Packed((Packed::V)_mm512_mask_expand_pd((__m512d)Packed::load(at_[j]).v, lanes, packed)).store(at_[j]);
        }
        const __m512i numbers = _mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(place)));
        _mm512_storeu_si512(place_ + count_, _mm512_maskz_compress_epi32(static_cast<__mmask16>(those), numbers));
        count_ += number;
      };
      const int number = __builtin_popcount(bits), more = count_ + number - kLanes;
      append(bits, more > 0 ? number - more : number);
      if (count_ < kLanes) return;
      flush();
      if (more <= 0) return;
      for (int n = more; n < number; ++n) bits &= bits - 1;
      append(bits, more);
#else
      double at[3][kLanes];
      x.x.store(at[0]), x.y.store(at[1]), x.z.store(at[2]);
      for (int l = 0; bits; ++l, bits >>= 1) {
        if (!(bits & 1)) continue;
        for (int j = 0; j < 3; ++j) at_[j][count_] = at[j][l];
        at_[3][count_] = nodes_.length[static_cast<std::size_t>(i + l)],
        place_[count_] = nodes_.place[static_cast<std::size_t>(i + l)];
        if (++count_ == kLanes) flush();
      }
#endif
    }
    ZVENO_APART void flush() {
      const Node of{{stiffness_,
                     law_.damping[feature_],
                     Packed::load(at_[3]),
                     {Packed::load(at_[0]), Packed::load(at_[1]), Packed::load(at_[2])}},
                    nodes_.whole,
                    feature_,
                    place_,
                    count_};
      const Touch<Packed> touch = meet_(of.of.at);
      sum_.deepen(touch);
      sum_.add(turn_, f_(of, touch, q_));
      turn_ = (turn_ + 1) % kTurns;
      clear();
    }
    // lanes without a node are far from any surface
    ZVENO_INLINE void clear() {
      count_ = 0;
      Packed(-100.0).store(at_[0]), Packed(50.0).store(at_[1]), Packed(0.0).store(at_[2]), Packed(0.0).store(at_[3]);
    }

    const double stiffness_;
    const ContactLaw& law_;
    const int feature_;
    const Nodes& nodes_;
    const Relative& q_;
    const Meet& meet_;
    const F& f_;
    Collector& sum_;
    alignas(64) double at_[4][kLanes];              // places, lengths
    int place_[3 * kLanes], count_ = 0, turn_ = 0;  // those of kLanes, and room
  };

  // edges and sides of Q on the petals of P
  template <class F>
  void petals(const Ring& P, const Curves& of, const Relative& q, const ContactLaw& law, int feature, const F& f,
              Collector& sum) const {
    const contact::Petals& s = P.petals;
    const Packed top(s.height), bottom(s.extension), bend(0.5 * s.fillet);
    if (const Nodes& edge = of.edge; edge.count) {
      const Packed sign(s.sign), nearest_root(s.root + s.sign * kMargin), lean(s.sign * s.lean);
      const auto on_face = [&](const Vector& x) { return contact::edge(s, Place<Packed>(x), nearest(P, x)); };
      Gathered edges(law.edge, law, feature, edge, q, on_face, f, sum);
      for (int i = 0; i < edge.count; i += kLanes) {
        const Vector x = q.place_flat(edge, i);
        const Packed along = lesser(Packed(top - x.x), Packed(x.x + bottom));
        // the ramp is at least x - fillet / 2: no surface is nearer than this
        const Packed rise = greater(Packed(x.x - bend), Packed(0.0)), surface = nearest_root - lean * rise;
        const Packed within = lesser(along, Packed(sign * (surface * surface - (x.y * x.y + x.z * x.z))));
        if (!positive_lanes(within)) continue;
        edges.add(positive_lanes(lesser(within, within_sector(P, x, rise))), i, x);
      }
      edges.finish();
    }
    if (const Nodes& side = of.side; side.count) {
      const Packed wide(P.side_radius * P.side_radius);
      const auto on_side = [&](const Vector& x) { return contact::side(s, Place<Packed>(x), nearest(P, x)); };
      Gathered sides(law.side, law, feature + 1, side, q, on_side, f, sum);
      for (int i = 0; i < side.count; i += kLanes) {
        const Vector x = q.place(side, i);
        const Packed along = lesser(Packed(top - x.x), Packed(x.x + bottom));
        const Packed within = lesser(along, Packed(wide - (x.y * x.y + x.z * x.z)));
        if (!positive_lanes(within)) continue;
        sides.add(positive_lanes(lesser(within, within_sector(P, x, greater(Packed(x.x - bend), Packed(0.0))))), i, x);
      }
      sides.finish();
    }
  }

  // face of B on the mating plane of A
  template <class F>
  void faces(const Nodes& face, const Relative& q, const ContactLaw& law, const F& f, Collector& sum) const {
    if (!face.count) return;
    const auto on_plane = [&](const Vector& x) {
      return contact::face(a_.shape.face_radius, a_.shape.face_half_width, a_.petals.per_window, Place<Packed>(x));
    };
    Gathered plane(law.face, law, 2, face, q, on_plane, f, sum);
    for (int i = 0; i < face.count; i += kLanes) {
      const Vector x = q.place_flat(face, i);
      plane.add(positive_lanes(-x.x), i, x);
    }
    plane.finish();
  }

  // ---- nodes that are near

  // Nodes that may touch at this pose, in their order: all of them, or, where the pose before was close to this one, those
  // that can come to touch as long as no node moves farther than way_.
  const Curves (&nearby(const double* R, const double* p))[2] {
    double shift = 0, turn = 0, far = 0;
    for (int i = 0; i < 3; ++i) shift += (p[i] - p_[i]) * (p[i] - p_[i]), far += p[i] * p[i];
    for (int i = 0; i < 9; ++i) turn += (R[i] - R_[i]) * (R[i] - R_[i]);
    // a node moves by |shift| + |turn| arm at most; 0.9: rounding, and axes whose length is one but for the error of a step
    const bool close = 2 * (shift + turn * arm_ * arm_) < 0.9 * way_ * way_;
    if (close && chosen_) return near_;
    std::copy_n(R, 9, R_), std::copy_n(p, 3, p_);
    arm_ = reach_ + std::sqrt(far) + way_;
    chosen_ = close;
    if (!close) return all_;
    const double still[3] = {};
    choose(a_, all_[0], Relative(R, p, still, still), near_[0]);
    double back[9], at[3];
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) back[3 * i + j] = R[3 * j + i];
      at[i] = -(back[3 * i] * p[0] + back[3 * i + 1] * p[1] + back[3 * i + 2] * p[2]);
    }
    choose(b_, all_[1], Relative(back, at, still, still), near_[1]);
    return near_;
  }

  // Those of Q that can pass the tests of petals() and faces() when they have moved by way_: what is compared with zero
  // there grows by its largest slope times that.
  ZVENO_APART void choose(const Ring& P, const Curves& all, const Relative& q, Curves& near) const {
    const contact::Petals& s = P.petals;
    const Packed zero(0.0), way(way_), sign(s.sign), nearest_root(s.root + s.sign * kMargin), lean(s.sign * s.lean),
        slope(way_ * (1 + std::fabs(s.lean))), narrowing(P.narrowing);
    const auto in_sector = [&](const Vector& x, const Packed& radius) {
      const Packed most = along_middle(P, x), rise = greater(Packed(x.x - Packed(0.5 * s.fillet)), zero),
                   least = Packed(P.widest) + narrowing * rise;
      return lesser(Packed(most + way), Packed(most - least * radius + way * (Packed(1.0) + least + narrowing * radius)));
    };
    const auto each = [&](const Nodes& from, Nodes& to, const auto& margin) {
      to.count = 0;
      for (int i = 0; i < from.count; i += kLanes) {
        const Vector x = q.place(from, i);
        const Packed along = lesser(Packed(Packed(s.height) - x.x), Packed(x.x + Packed(s.extension))) + way;
        const Packed radius = root(x.y * x.y + x.z * x.z);
        to.take(from, i, positive_lanes(margin(x, along, radius)));
      }
    };
    each(all.edge, near.edge, [&](const Vector& x, const Packed& along, const Packed& radius) {
      const Packed surface = nearest_root - lean * greater(Packed(x.x - Packed(0.5 * s.fillet)), zero);
      const Packed across = sign * (magnitude(surface) - radius) + slope;
      return lesser(lesser(along, across), in_sector(x, radius));
    });
    each(all.side, near.side, [&](const Vector& x, const Packed& along, const Packed& radius) {
      return lesser(lesser(along, Packed(Packed(P.side_radius) - radius + way)), in_sector(x, radius));
    });
    each(all.face, near.face, [&](const Vector& x, const Packed&, const Packed&) { return Packed(way - x.x); });
  }

  Ring a_, b_;
  int nodes_ = 0;
  Curves all_[2], near_[2];  // nodes of B, of A
  double reach_, way_;
  // where near_ was chosen
  double R_[9] = {}, p_[3] = {}, arm_ = 0;
  bool chosen_ = false;
};

}  // namespace

std::unique_ptr<ContactPair> make_contact(const RingShape& a, const RingShape& b) {
  return std::make_unique<LaneContact>(a, b);
}

}  // namespace zveno
