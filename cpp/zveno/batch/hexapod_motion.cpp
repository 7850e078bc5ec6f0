// One state after another, legs in lanes. Sums over the legs are made in their order, as in hexapod_rows.cpp: same bits.
#include <zveno/functions/hexapod_motion.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include <zveno/batch/lanes.hpp>
#include <zveno/batch/rows.hpp>
#include <zveno/functions/hexapod_evaluation.hpp>
#include <zveno/solve/custom_leg.hpp>
#include <zveno/support/finite.hpp>

namespace zveno {
namespace {

constexpr int kShare = padded(leg::kFixedShare), kVector = padded(6), kMomenta = padded(9);

// N numbers of every lane; put(lane, j, x): x holds those from j on
template <int N, class Put>
ZVENO_INLINE void turn_rows(const Packed* in, const Put& put) {
  static_assert(N % kLanes == 0);
  ZVENO_UNROLL
  for (int j = 0; j < N; j += kLanes) {
    Packed block[kLanes];
    ZVENO_UNROLL
    for (int l = 0; l < kLanes; ++l) block[l] = in[j + l];
    transpose(block);
    ZVENO_UNROLL
    for (int l = 0; l < kLanes; ++l) put(l, j, block[l]);
  }
}

// -> the row of their leg
template <int N>
ZVENO_INLINE void take_rows(const Packed* in, const int* legs, double (*to)[N]) {
  turn_rows<N>(in, [&](int l, int j, const Packed& x) ZVENO_INLINED { x.store(to[legs[l]] + j); });
}

// four numbers of every lane and four more -> the rows of their leg
ZVENO_INLINE void take_pairs(const Packed* a, const Packed* b, const int* legs, double (*to_a)[4], double (*to_b)[4]) {
  constexpr int kPart = std::min(kLanes, 4);
  Packed both[8];
  ZVENO_UNROLL
  for (int j = 0; j < 4; ++j) both[j] = a[j], both[4 + j] = b[j];
  turn_rows<8>(both, [&](int l, int j, const Packed& x) ZVENO_INLINED {
    for (int i = 0; i < kLanes; i += kPart)
      std::memcpy((j + i < 4 ? to_a : to_b)[legs[l]] + (j + i) % 4, reinterpret_cast<const double*>(&x) + i,
                  kPart * sizeof(double));
  });
}

constexpr int kMostPacks = (kLegs + kLanes - 1) / kLanes;  // of legs in their order

// sums of N numbers over legs in their order; pack_of(p): of pack p
template <int N, class PackOf>
ZVENO_INLINE void add_up_packs(const PackOf& pack_of, double* out) {
  ZVENO_UNROLL
  for (int j = 0; j < N; j += kLanes) {
    Packed sum(0.0);
    ZVENO_UNROLL
    for (int p = 0; p < kMostPacks; ++p) {
      Packed block[kLanes];
      ZVENO_UNROLL
      for (int l = 0; l < kLanes; ++l) block[l] = pack_of(p)[j + l];
      transpose(block);
      ZVENO_UNROLL
      for (int l = 0; l < kLanes; ++l)
        if (p * kLanes + l < kLegs) sum = p + l ? sum + block[l] : block[l];
    }
    sum.store(out + j);
  }
}

// a leg's results, and room behind its load to read whole packs
struct Loaded : leg::Outcome<Packed> {
  Packed room[2];
};

// N numbers for every leg, which come in packs, and their sums in the order of the legs
template <int N>
struct Table {
  Packed pack[kMostPacks][N];                   // of legs in their order
  alignas(64) double row[HexMotion::kRows][N];  // else one for each leg, and a place for lanes without one

  void add_up_rows(double* out) const {
    for (int i = 0; i < N; i += kLanes) {
      Packed sum = Packed::load(row[0] + i);
      for (int k = 1; k < kLegs; ++k) sum += Packed::load(row[k] + i);
      sum.store(out + i);
    }
  }
};

class LanesMotion : public HexMotion {
 public:
  LanesMotion(const Hexapod& hexapod, const double* base)
      : hexapod_(hexapod),
        job_{&hexapod, HexFunction::forward_dynamics},
        plan_(job_, rows_of(base)),
        body_(platform_of<double>(hexapod)),
        layout_(hexapod.joints(), false) {
    ordered_ = hexapod.groups().size() == 1 && !hexapod.has_custom();
    constexpr double kRest[9] = {};
    move_base(base ? base : kRest);
    for (const LegGroup& group : hexapod.groups()) {
      const LegCalls calls = calls_of<Packed>(group.type, group.symmetric, plan_.base);
      for (int at = 0; at < group.count; at += kLanes) {
        const int end = std::min({group.count, kLegs, at + kLanes});  // kLegs: what a compiler does not know
        const int actuated = hexapod.chain(group.legs[at]).actuated;
        LegPack pack{calls, group.params.number + at, {}, end - at, actuated, std::vector<CacheLine>(calls.lines)};
        for (int l = 0; l < kLanes; ++l) pack.legs[l] = kLegs + l;
        for (int k = at; k < end; ++k) pack.legs[k - at] = group.legs[k];
        packs_.push_back(std::move(pack));
      }
    }
  }

  void move_base(const double* base) final {
    std::copy_n(base, 9, s_.base);
    if (plan_.base != BaseKind::still) set_flow(hexapod_, plan_.base, s_);
    for (int i = 18; i < kInput; ++i) wide_[i] = plan_.base == BaseKind::still ? 0.0 : s_.input()[i];
  }

  bool close(const double* r, const double* R, const double* u, const double* wrench, const double* start) override {
    // number by number, as they were written: a block of them would wait for the last
    ZVENO_UNROLL
    for (int i = 0; i < 3; ++i) wide_[i] = s_.r[i] = r[i];
    ZVENO_UNROLL
    for (int i = 0; i < 9; ++i) wide_[3 + i] = s_.R[i] = R[i];
    ZVENO_UNROLL
    for (int i = 0; i < 6; ++i) wide_[12 + i] = s_.u[i] = u[i];
    ZVENO_UNROLL
    for (int i = 0; i < 6; ++i) s_.wrench[i] = wrench[i];
    // what does not wait for the legs comes before them, and is done while their roots and quotients are under way
    inertia_ = inertia_in_base(body_, Axes<double>{{R[0], R[1], R[2]}, {R[3], R[4], R[5]}, {R[6], R[7], R[8]}});
    with_ring(plan_.base, s_, [&](const auto& ring) { ring_forces(body_, inertia_, ring, s_.wrench, own_); });
    bool fine = true;
    fastest = 0;
    for (LegPack& pack : packs_) {
      Packed measure[4], way, rates[kPlaces];
      Packed* share = place_of(share_, pack);
      pack.calls.first(pack.params, wide_, pack.held.data(), share, measure, nullptr);
      fine &= all_above(measure, 4, kTinySquare);
      keep(share_, pack);
      pack.calls.driven(pack.held.data(), way, rates);
      const Packed& driven = rates[pack.actuated];
      Packed most = size_of(rates[0]);
      ZVENO_UNROLL
      for (int j = 1; j < kPlaces; ++j) {
        const Packed size = size_of(rates[j]);
        most = chosen<kLanes>(above(size, most), size, most);
      }
      for (int l = 0; l < pack.count; ++l) {
        position[pack.legs[l]] = way[l], speed[pack.legs[l]] = driven[l];
        fastest = std::max(fastest, most[l]);
      }
    }
    if (hexapod_.has_custom()) return fine && close_custom(start);
    factor();
    return fine;
  }

  void find_joints() override {
    for (LegPack& pack : packs_) {
      Packed way, position[kPlaces], rates[kPlaces];
      pack.calls.coordinates(pack.held.data(), position);
      pack.calls.driven(pack.held.data(), way, rates);
      take_pairs(position, rates, pack.legs, joint_position, rate);
    }
    for (int k = 0; k < kLegs; ++k) {
      if (!is_custom(k)) continue;
      double x[kKinematics];
      custom_[k].write(x);
      std::copy_n(x, kPlaces, joint_position[k]);
      std::copy_n(x + 4, kPlaces, rate[k]);
    }
  }

  bool finish(const double (*tau)[kPlaces], bool driven, Extent extent) override {
    const bool whole = extent == Extent::whole, joints = extent != Extent::brief;
    for (LegPack& pack : packs_) {
      const double* lane[kLanes];
      for (int l = 0; l < kLanes; ++l) lane[l] = tau[pack.legs[pack.legs[l] < kLegs ? l : 0]];
      Packed forces[kPlaces], *right = place_of(right_, pack);
      for (int j = 0; j < kPlaces; ++j) forces[j] = driven && j != pack.actuated ? Packed(0.0) : Packed::across(lane, j);
      pack.calls.drive(forces, pack.held.data(), right, false);
      keep(right_, pack);
    }
    if (hexapod_.has_custom()) first_custom(tau);
    add_up(right_, sums_.total + leg::kRight);
    double x[6];
    for (int i = 0; i < 6; ++i) x[i] = own_[i] + sums_.total[leg::kRight + i];
    solve_factored(A_, inverse_, x);
    with_ring(BaseKind::still, s_, [&](const auto& ring) { write_head(layout_, ring, x, acceleration); });
    if (whole) find_kinetic(), find_momentum();
    Packed wide[6];
    for (int i = 0; i < 6; ++i) wide[i] = x[i];
    for (LegPack& pack : packs_) {
      Loaded& outcome = outcome_[ordered_ ? &pack - packs_.data() : 0];
      pack.calls.second(pack.params, pack.held.data(), wide, outcome.places(), whole);
      const Packed& driven_rate = outcome.acceleration[pack.actuated];
      for (int l = 0; l < pack.count; ++l) speed_rate[pack.legs[l]] = driven_rate[l];
      if (joints) take_pairs(outcome.rate, outcome.acceleration, pack.legs, rate, joint_acceleration);
      if (!ordered_) take_rows(outcome.base, pack.legs, load_.row);
      if (whole) take_pairs(outcome.position, outcome.reaction, pack.legs, joint_position, reaction);
    }
    if (hexapod_.has_custom()) {
      second_custom(x);
      if (whole) find_custom_momentum();
    }
    if (ordered_)
      add_up_packs<kVector>([&](int p) { return outcome_[p].base; }, load);
    else
      load_.add_up_rows(load);
    bool fine = all_finite(acceleration, 6) & all_finite(load, 6);  // every acceleration loads the base
    if (joints) fine &= all_finite(joint_acceleration[0], kLegs * kPlaces);
    if (whole) fine &= all_finite(joint_position[0], kLegs * kPlaces) & all_finite(reaction[0], kLegs * kPlaces);
    return fine;
  }

 private:
  struct LegPack {
    LegCalls calls;
    const double* params;
    int legs[kLanes], count, actuated;
    std::vector<CacheLine> held;
  };
  static Rows rows_of(const double* base) {
    Rows rows;
    rows[Param::base_motion].data = base;
    return rows;
  }
  bool is_custom(int k) const { return hexapod_.leg(k).type == LegType::custom; }

  // where a pack's numbers go, what becomes of them, and the sums over the legs
  template <int N>
  Packed* place_of(Table<N>& table, const LegPack& pack) const {
    return table.pack[ordered_ ? &pack - packs_.data() : 0];
  }
  template <int N>
  void keep(Table<N>& table, const LegPack& pack) const {
    if (!ordered_) take_rows(table.pack[0], pack.legs, table.row);
  }
  template <int N>
  void add_up(const Table<N>& table, double* out) const {
    ordered_ ? add_up_packs<N>([&](int p) { return table.pack[p]; }, out) : table.add_up_rows(out);
  }

  // of the reduced system: it does not wait for the forces
  void factor() {
    add_up(share_, sums_.total);
    add_reduced_here(sums_, body_, inertia_, A_);
    factor_symmetric(A_, inverse_, nullptr);
  }

  bool close_custom(const double* start) {
    Scratch& scratch = Scratch::of_this_thread();
    const Scratch::Frame frame(scratch);
    bool fine = true;
    with_ring(plan_.base, s_, [&](const auto& ring) {
      for (int k = 0; fine && k < kLegs; ++k) {
        if (!is_custom(k)) continue;
        const double* own = start ? start + k * hexapod_.joints() : nullptr;
        fine = custom_[k].close(hexapod_, k, s_.r, s_.R, own, scratch).cause == Cause::none;
        if (!fine) return;
        double x[kKinematics];
        custom_[k].rates(s_.u, ring.w);
        custom_[k].write(x);
        std::copy_n(x + 4, kPlaces, rate[k]);
        position[k] = x[hexapod_.chain(k).actuated];
        speed[k] = rate[k][hexapod_.chain(k).actuated];
        for (const double x : rate[k]) fastest = std::max(fastest, std::fabs(x));
      }
    });
    return fine;
  }

  void find_kinetic() {
    const double *R = s_.R, *u = s_.u;
    const Axes<double> turn{{R[0], R[1], R[2]}, {R[3], R[4], R[5]}, {R[6], R[7], R[8]}};
    const AnyVec<double> w = turn.times(AnyVec<double>{u[3], u[4], u[5]});
    const double x[6] = {u[0], u[1], u[2], w.x, w.y, w.z};
    double A[6][6];
    add_reduced(sums_, body_, inertia_, A);
    kinetic = half_square(A, x);
  }

  void find_momentum() {
    for (LegPack& pack : packs_) {
      pack.calls.momenta(pack.params, pack.held.data(), place_of(momenta_, pack));
      keep(momenta_, pack);
    }
    double sum[kMomenta];
    add_up(momenta_, sum);
    std::copy_n(sum, 6, momentum);
    with_ring(BaseKind::still, s_, [&](const auto& ring) {
      add_ring_momentum(body_, inertia_, ring, momentum);
      potential = hexapod_.has_potential() ? weight_energy(hexapod_.gravity(), body_, ring, sum + 6) : 0;
    });
  }

  // the general functions know these legs
  ZVENO_COLD void find_custom_momentum() {
    double start[kLegs * kPlaces];
    for (int k = 0; k < kLegs; ++k) std::copy_n(joint_position[k], hexapod_.joints(), start + k * hexapod_.joints());
    Rows rows;
    rows[Param::r].data = s_.r, rows[Param::R].data = s_.R, rows[Param::u].data = s_.u, rows[Param::start].data = start;
    rows.count = 1;
    rows.out[0] = momentum;
    run_hexapod({&hexapod_, HexFunction::momentum}, rows, 0, 1);
    rows.out[0] = &potential;
    if (hexapod_.has_potential()) run_hexapod({&hexapod_, HexFunction::potential_energy}, rows, 0, 1);
  }

  ZVENO_COLD void first_custom(const double (*tau)[kPlaces]) {
    with_ring(plan_.base, s_, [&](const auto& ring) { first_custom(ring, tau); });
    factor();
  }
  template <class R>
  void first_custom(const R& ring, const double (*tau)[kPlaces]) {
    Scratch& scratch = Scratch::of_this_thread();
    const Scratch::Frame frame(scratch);
    const std::array<double, 9> flow = flow_of(ring);
    for (int k = 0; k < kLegs; ++k) {
      if (!is_custom(k)) continue;
      double share[leg::kFixedShare];
      custom_[k].first(ring.w, flow.data(), tau[k], false, share, scratch);
      std::copy_n(share, leg::kRight, share_.row[k]);
      std::copy_n(share + leg::kRight, 6, right_.row[k]);
    }
  }

  ZVENO_COLD void second_custom(const double* x) {
    Scratch& scratch = Scratch::of_this_thread();
    const Scratch::Frame frame(scratch);
    for (int k = 0; k < kLegs; ++k) {
      if (!is_custom(k)) continue;
      double out[22];
      custom_[k].second(x, nullptr, out, scratch);
      std::copy_n(out, kPlaces, joint_position[k]);
      std::copy_n(out + 8, kPlaces, joint_acceleration[k]);
      speed_rate[k] = joint_acceleration[k][hexapod_.chain(k).actuated];
      std::copy_n(out + 12, kPlaces, reaction[k]);
      std::copy_n(out + 16, 6, load_.row[k]);
    }
  }

  const Hexapod& hexapod_;
  const HexJob job_;
  const LegPlan plan_;
  const Platform<double> body_;
  const DynamicsLayout layout_;
  HexState<double> s_;
  Sums<double> sums_;
  Sym3<double> inertia_;
  double own_[6];  // forces on the ring but for those of the legs
  double A_[6][6], inverse_[6];
  Packed wide_[kInput];
  std::vector<LegPack> packs_;
  Table<kShare> share_ = {};
  Table<kVector> right_ = {}, load_ = {};
  Table<kMomenta> momenta_ = {};
  Loaded outcome_[kMostPacks] = {};
  bool ordered_;  // all legs of one structure
  CustomLeg custom_[kLegs];
};

}  // namespace

std::unique_ptr<HexMotion> make_motion(const Hexapod& hexapod, const double* base) {
  return std::make_unique<LanesMotion>(hexapod, base);
}

}  // namespace zveno
