// One state after another, legs in lanes. Sums over the legs are made in their order, as in hexapod_rows.cpp: same bits.
#include <zveno/functions/hexapod_motion.hpp>

#include <algorithm>
#include <vector>

#include <zveno/batch/lanes.hpp>
#include <zveno/batch/rows.hpp>
#include <zveno/functions/hexapod_evaluation.hpp>
#include <zveno/solve/custom_leg.hpp>
#include <zveno/support/finite.hpp>

namespace zveno {
namespace {

constexpr int kShare = padded(leg::kFixedShare), kVector = padded(6);

const Packed kNoForces[HexMotion::kPlaces] = {0.0, 0.0, 0.0, 0.0};

LegMomenta<Packed> momenta_of(LegType type) {
  return with_leg_type(type, [](auto t) { return leg_momenta<decltype(t)::value, Packed>(); });
}

// N numbers of every lane -> the row of its leg
template <int N>
ZVENO_INLINE void take_rows(const Packed* in, const int* legs, double (*to)[N]) {
  if constexpr (N % kLanes == 0) {
    ZVENO_UNROLL
    for (int j = 0; j < N; j += kLanes) {
      Packed block[kLanes];
      ZVENO_UNROLL
      for (int l = 0; l < kLanes; ++l) block[l] = in[j + l];
      transpose(block);
      ZVENO_UNROLL
      for (int l = 0; l < kLanes; ++l) block[l].store(to[legs[l]] + j);
    }
  } else {
    scatter(in, N, kLanes, [&](int l) { return to[legs[l]]; });
  }
}

// N numbers for every leg, which come in packs, and their sums in the order of the legs
template <int N>
struct Table {
  static constexpr int kMostPacks = (kLegs + kLanes - 1) / kLanes;
  Packed pack[kMostPacks][N];                   // of legs in their order
  alignas(64) double row[HexMotion::kRows][N];  // else one for each leg, and a place for lanes without one

  void add_up_packs(double* out) const {
    ZVENO_UNROLL
    for (int j = 0; j < N; j += kLanes) {
      Packed sum(0.0);
      ZVENO_UNROLL
      for (int p = 0; p < kMostPacks; ++p) {
        Packed block[kLanes];
        ZVENO_UNROLL
        for (int l = 0; l < kLanes; ++l) block[l] = pack[p][j + l];
        transpose(block);
        ZVENO_UNROLL
        for (int l = 0; l < kLanes; ++l)
          if (p * kLanes + l < kLegs) sum = p + l ? sum + block[l] : block[l];
      }
      sum.store(out + j);
    }
  }
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
        momentum_{&hexapod, HexFunction::momentum},
        potential_{&hexapod, HexFunction::potential_energy},
        plan_(job_, rows_of(base)),
        body_(platform_of<double>(hexapod)),
        layout_(hexapod.joints(), false) {
    ordered_ = hexapod.groups().size() == 1 && !hexapod.has_custom();
    std::fill_n(s_.base, 9, 0.0);
    if (base) std::copy_n(base, 9, s_.base);
    if (plan_.base != BaseKind::still) set_flow(hexapod, plan_.base, s_);
    for (int i = 18; i < kInput; ++i) wide_[i] = plan_.base == BaseKind::still ? 0.0 : s_.input()[i];
    for (const LegGroup& group : hexapod.groups()) {
      const LegCalls calls = calls_of<Packed>(group.type, group.symmetric, plan_.base);
      for (int at = 0; at < group.count; at += kLanes) {
        LegPack pack{calls, group.params.number + at, {}, std::vector<CacheLine>(calls.lines)};
        for (int l = 0; l < kLanes; ++l) pack.legs[l] = at + l < group.count ? group.legs[at + l] : kLegs + l;
        packs_.push_back(std::move(pack));
      }
      for (int m = 0; m < group.count; ++m) {
        OwnLeg& own = own_[group.legs[m]];
        own.momenta = momenta_of(group.type);
        for (int i = 0; i < leg::kParams; ++i)
          std::fill_n(own.params + i * leg::kSlots, leg::kSlots, group.params.number[i * leg::kSlots + m]);
      }
    }
  }

  bool close(const double* r, const double* R, const double* u, const double* start) override {
    std::copy_n(r, 3, s_.r), std::copy_n(R, 9, s_.R), std::copy_n(u, 6, s_.u);
    ZVENO_UNROLL
    for (int i = 0; i < 18; ++i) wide_[i] = s_.input()[i];
    bool fine = true;
    for (LegPack& pack : packs_) {
      Packed measure[4], way, rates[kPlaces];
      Packed* share = place_of(share_, pack);
      pack.calls.first(pack.params, wide_, kNoForces, pack.held.data(), share, measure);
      fine &= all_above(measure, 4, kTinySquare);
      keep(share_, pack);
      pack.calls.driven(pack.held.data(), way, rates);
      take_rows(rates, pack.legs, rate);
      for (int l = 0; l < kLanes; ++l) positions_[pack.legs[l]] = way[l];
    }
    if (hexapod_.has_custom()) return fine && close_custom(start);
    std::copy_n(positions_, kLegs, position);
    factor();
    return fine;
  }

  bool finish(const double (*tau)[kPlaces], const double* wrench, Extent extent) override {
    const bool whole = extent == Extent::whole, joints = extent != Extent::brief;
    std::copy_n(wrench, 6, s_.wrench);
    for (LegPack& pack : packs_) {
      const double* lane[kLanes];
      for (int l = 0; l < kLanes; ++l) lane[l] = tau[pack.legs[pack.legs[l] < kLegs ? l : 0]];
      Packed forces[kPlaces], *right = place_of(right_, pack);
      for (int j = 0; j < kPlaces; ++j) forces[j] = Packed::across(lane, j);
      pack.calls.drive(forces, pack.held.data(), right);
      keep(right_, pack);
    }
    if (hexapod_.has_custom()) first_custom(tau);
    add_up(right_, sums_.total + leg::kRight);
    double x[6];
    with_ring(plan_.base, s_, [&](const auto& ring) {
      ring_forces(body_, inertia_, ring, s_.wrench, x);
      for (int i = 0; i < 6; ++i) x[i] += sums_.total[leg::kRight + i];
      solve_factored(A_, inverse_, x);
      write_head(layout_, ring, x, acceleration);
    });
    if (whole) find_kinetic();
    Packed wide[6];
    for (int i = 0; i < 6; ++i) wide[i] = x[i];
    for (LegPack& pack : packs_) {
      leg::Outcome<Packed> outcome;
      pack.calls.second(pack.params, pack.held.data(), wide, outcome, whole);
      const auto rows = [&](const Packed* in, double (*to)[kPlaces]) { take_rows(in, pack.legs, to); };
      if (joints) rows(outcome.acceleration, joint_acceleration);
      std::copy_n(outcome.base, 6, place_of(load_, pack));
      keep(load_, pack);
      if (whole) rows(outcome.position, joint_position), rows(outcome.reaction, reaction);
    }
    if (hexapod_.has_custom()) second_custom(x);
    add_up(load_, load);
    bool fine = all_finite(acceleration, 6) & all_finite(load, 6);
    if (joints) fine &= all_finite(joint_acceleration[0], kLegs * kPlaces);
    if (whole) fine &= all_finite(joint_position[0], kLegs * kPlaces) & all_finite(reaction[0], kLegs * kPlaces);
    return fine;
  }

  void accounts(std::ptrdiff_t count, const double* r, const double* R, const double* u, const double* start,
                double* momentum, double* potential) override {
    Rows rows;
    rows[Param::r] = {r, 3}, rows[Param::R] = {R, 9}, rows[Param::u] = {u, 6};
    if (hexapod_.has_custom() && start) rows[Param::start] = {start, kLegs * hexapod_.joints()};
    rows.count = count;
    const bool weighs = hexapod_.has_potential();
    if (!weighs) std::fill_n(potential, count, 0.0);
    const auto one_by_one = [&](std::ptrdiff_t begin, std::ptrdiff_t end) {  // a row that overflows is nan
      rows.out[0] = momentum;
      run_hexapod(momentum_, rows, begin, end);
      rows.out[0] = potential;
      if (weighs) run_hexapod(potential_, rows, begin, end);
    };
    if (hexapod_.has_custom()) return one_by_one(0, count);
    for (std::ptrdiff_t row = 0; row < count; row += kLanes) {
      HexState<Packed> s;
      Sums<Packed> sums;
      gather(rows[Param::r], row, count, 3, s.r), gather(rows[Param::R], row, count, 9, s.R);
      gather(rows[Param::u], row, count, 6, s.u);
      for (int k = 0; k < kLegs; ++k) {
        Packed own[leg::kFreeShare];
        own_[k].momenta(own_[k].params, s.input(), k ? own : sums.total, weighs);
        for (int i = leg::kCoupling; k && i < leg::kCoupling + 36; ++i) sums.total[i] += own[i];
        for (int i = leg::kMoment; k && weighs && i < leg::kMoment + 3; ++i) sums.total[i] += own[i];
      }
      Packed out[7];
      out[6] = 0.0;
      with_ring(BaseKind::still, s, [&](const auto& ring) {
        summed_result(momentum_, s, ring, sums, out);
        if (weighs) summed_result(potential_, s, ring, sums, out + 6);
      });
      const int lanes = static_cast<int>(std::min<std::ptrdiff_t>(kLanes, count - row));
      if (!all_finite_lanes(out, 7)) {
        one_by_one(row, row + lanes);
        continue;
      }
      scatter(out, 6, lanes, [&](int l) { return momentum + 6 * (row + l); });
      for (int l = 0; weighs && l < lanes; ++l) potential[row + l] = out[6][l];
    }
  }

 private:
  struct LegPack {
    LegCalls calls;
    const double* params;
    int legs[kLanes];
    std::vector<CacheLine> held;
  };
  struct OwnLeg {
    LegMomenta<Packed> momenta;
    alignas(64) double params[leg::kParams * leg::kSlots];
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
    ordered_ ? table.add_up_packs(out) : table.add_up_rows(out);
  }

  // of the reduced system: it does not wait for the forces
  void factor() {
    add_up(share_, sums_.total);
    const double* R = s_.R;
    inertia_ = inertia_in_base(body_, Axes<double>{{R[0], R[1], R[2]}, {R[3], R[4], R[5]}, {R[6], R[7], R[8]}});
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
        positions_[k] = x[hexapod_.chain(k).actuated];
      }
    });
    std::copy_n(positions_, kLegs, position);
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

  ZVENO_COLD void first_custom(const double (*tau)[kPlaces]) {
    with_ring(plan_.base, s_, [&](const auto& ring) { first_custom(ring, tau); });
    factor();
  }
  template <class R>
  void first_custom(const R& ring, const double (*tau)[kPlaces]) {
    Scratch& scratch = Scratch::of_this_thread();
    const Scratch::Frame frame(scratch);
    const Vec3<double> a = plain<double>(ring.base.a), o = plain<double>(ring.base.omega),
                       e = plain<double>(ring.base.alpha);
    const double flow[9] = {a.x(), a.y(), a.z(), o.x(), o.y(), o.z(), e.x(), e.y(), e.z()};
    for (int k = 0; k < kLegs; ++k) {
      if (!is_custom(k)) continue;
      double share[leg::kFixedShare];
      custom_[k].first(ring.w, flow, tau[k], false, share, scratch);
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
      std::copy_n(out + 12, kPlaces, reaction[k]);
      std::copy_n(out + 16, 6, load_.row[k]);
    }
  }

  const Hexapod& hexapod_;
  const HexJob job_, momentum_, potential_;
  const LegPlan plan_;
  const Platform<double> body_;
  const DynamicsLayout layout_;
  HexState<double> s_;
  Sums<double> sums_;
  Sym3<double> inertia_;
  double A_[6][6], inverse_[6];
  Packed wide_[kInput];
  std::vector<LegPack> packs_;
  Table<kShare> share_ = {};
  Table<kVector> right_ = {}, load_ = {};
  bool ordered_;  // all legs of one structure
  double positions_[kRows];
  CustomLeg custom_[kLegs];
  OwnLeg own_[kLegs];
};

}  // namespace

std::unique_ptr<HexMotion> make_motion(const Hexapod& hexapod, const double* base) {
  return std::make_unique<LanesMotion>(hexapod, base);
}

}  // namespace zveno
