// One state after another, legs in lanes. Sums over the legs are made in their order, as in hexapod_rows.cpp: same bits.
#include <zveno/functions/hexapod_motion.hpp>

#include <algorithm>
#include <vector>

#include <zveno/batch/lanes.hpp>
#include <zveno/functions/hexapod_evaluation.hpp>
#include <zveno/solve/custom_leg.hpp>
#include <zveno/support/finite.hpp>

namespace zveno {
namespace {

constexpr int kShare = padded(leg::kFixedShare), kVector = padded(6);

const Packed kNoForces[HexMotion::kPlaces] = {0.0, 0.0, 0.0, 0.0};

template <class T>
using Momenta = void (*)(const double* params, const T* input, T* share);
Momenta<Packed> momenta_of(LegType type) {
  return with_leg_type(type, [](auto t) -> Momenta<Packed> { return &leg_momenta<decltype(t)::value, Packed>; });
}

// rows of N numbers, one for each leg and a place for lanes without one
template <int N>
struct Table {
  alignas(64) double row[HexMotion::kRows][N];

  void take(const Packed* in, const int* legs) {
    scatter(in, N, kLanes, [&](int l) { return row[legs[l]]; });
  }
  void add_up(double* out) const {
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
      : hexapod_(hexapod), job_{&hexapod, HexFunction::forward_dynamics}, plan_(job_, rows_of(base)) {
    std::fill_n(s_.base, 9, 0.0);
    if (base) std::copy_n(base, 9, s_.base);
    if (plan_.base != BaseKind::still) set_flow(hexapod, plan_.base, s_);
    for (int i = 18; i < kInput; ++i) wide_[i] = plan_.base == BaseKind::still ? 0.0 : s_.input()[i];
    for (const LegGroup& group : hexapod.groups()) {
      const LegCalls calls = calls_of<Packed>(group.type, group.lean, plan_.base);
      for (int at = 0; at < group.count; at += kLanes) {
        LegPack pack{calls, group.params.number + at, {}, std::vector<Chunk>((calls.size + 63) / 64)};
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
      Packed share[kShare], measure[4], way, rates[kPlaces];
      for (int i = leg::kFixedShare; i < kShare; ++i) share[i] = 0.0;
      pack.calls.first(pack.params, wide_, kNoForces, pack.held.data(), share, measure);
      fine &= all_above(measure, 4, kTinySquare);
      share_.take(share, pack.legs);
      pack.calls.driven(pack.held.data(), way, rates);
      scatter(rates, kPlaces, kLanes, [&](int l) { return rate[pack.legs[l]]; });
      for (int l = 0; l < kLanes; ++l) positions_[pack.legs[l]] = way[l];
    }
    if (hexapod_.has_custom()) return fine && close_custom(start);
    std::copy_n(positions_, kLegs, position);
    share_.add_up(sums_.total);
    return fine;
  }

  bool finish(const double (*tau)[kPlaces], const double* wrench, bool whole) override {
    std::copy_n(wrench, 6, s_.wrench);
    for (LegPack& pack : packs_) {
      const double* lane[kLanes];
      for (int l = 0; l < kLanes; ++l) lane[l] = tau[pack.legs[pack.legs[l] < kLegs ? l : 0]];
      Packed forces[kPlaces], right[kVector];
      for (int j = 0; j < kPlaces; ++j) forces[j] = Packed::across(lane, j);
      for (int i = 6; i < kVector; ++i) right[i] = 0.0;
      pack.calls.drive(forces, pack.held.data(), right);
      right_.take(right, pack.legs);
    }
    Scratch& scratch = Scratch::of_this_thread();
    const Scratch::Frame frame(scratch);
    double x[6];
    with_ring(plan_.base, s_, [&](const auto& ring) {
      if (hexapod_.has_custom()) first_custom(ring, tau, scratch);
      right_.add_up(sums_.total + leg::kRight);
      solve(job_, plan_, s_, ring, sums_, x);
      write_head(plan_, ring, x, acceleration);
      if (whole) summed_result({&hexapod_, HexFunction::kinetic_energy}, s_, ring, sums_, &kinetic);
    });
    Packed wide[6];
    for (int i = 0; i < 6; ++i) wide[i] = x[i];
    for (LegPack& pack : packs_) {
      struct {
        leg::Outcome<Packed> of;
        Packed fill[2];
      } outcome;
      outcome.fill[0] = outcome.fill[1] = 0.0;
      pack.calls.second(pack.params, pack.held.data(), wide, outcome.of, whole);
      const auto rows = [&](const Packed* in, double (*to)[kPlaces]) {
        scatter(in, kPlaces, kLanes, [&](int l) { return to[pack.legs[l]]; });
      };
      rows(outcome.of.acceleration, joint_acceleration);
      load_.take(outcome.of.base, pack.legs);
      if (whole) rows(outcome.of.position, joint_position), rows(outcome.of.reaction, reaction);
    }
    if (hexapod_.has_custom()) second_custom(x, scratch);
    double total[kVector];
    load_.add_up(total);
    std::copy_n(total, 6, load);
    bool fine = all_finite(acceleration, 6) && all_finite(load, 6) && all_finite(joint_acceleration[0], kLegs * kPlaces);
    if (whole) fine &= all_finite(joint_position[0], kLegs * kPlaces) && all_finite(reaction[0], kLegs * kPlaces);
    return fine;
  }

  void accounts(std::ptrdiff_t count, const double* r, const double* R, const double* u, const double* start,
                double* momentum, double* potential) override {
    HexRows rows;
    rows.r = {r, 3}, rows.R = {R, 9}, rows.u = {u, 6};
    if (hexapod_.has_custom() && start) rows.start = {start, kLegs * hexapod_.joints()};
    rows.count = count;
    const bool weighs = hexapod_.has_gravity();
    if (!weighs) std::fill_n(potential, count, 0.0);
    const auto one_by_one = [&](std::ptrdiff_t begin, std::ptrdiff_t end) {  // a row that overflows is nan
      rows.out = momentum;
      run_hexapod({&hexapod_, HexFunction::momentum}, rows, begin, end);
      rows.out = potential;
      if (weighs) run_hexapod({&hexapod_, HexFunction::potential_energy}, rows, begin, end);
    };
    if (hexapod_.has_custom()) return one_by_one(0, count);
    for (std::ptrdiff_t row = 0; row < count; row += kLanes) {
      State<Packed> s;
      Sums<Packed> sums;
      gather(rows.r, row, count, 3, s.r), gather(rows.R, row, count, 9, s.R), gather(rows.u, row, count, 6, s.u);
      for (int k = 0; k < kLegs; ++k) {
        Packed own[leg::kFreeShare];
        own_[k].momenta(own_[k].params, s.input(), k ? own : sums.total);
        for (int i = leg::kCoupling; k && i < leg::kCoupling + 36; ++i) sums.total[i] += own[i];
        for (int i = leg::kMoment; k && i < leg::kMoment + 3; ++i) sums.total[i] += own[i];
      }
      Packed out[7];
      out[6] = 0.0;
      with_ring(BaseKind::still, s, [&](const auto& ring) {
        summed_result({&hexapod_, HexFunction::momentum}, s, ring, sums, out);
        if (weighs) summed_result({&hexapod_, HexFunction::potential_energy}, s, ring, sums, out + 6);
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
    std::vector<Chunk> held;
  };
  struct OwnLeg {
    Momenta<Packed> momenta;
    alignas(64) double params[leg::kParams * leg::kSlots];
  };

  static HexRows rows_of(const double* base) {
    HexRows rows;
    rows.base.data = base;
    return rows;
  }
  bool is_custom(int k) const { return hexapod_.leg(k).type == LegType::custom; }

  bool close_custom(const double* start) {
    Scratch& scratch = Scratch::of_this_thread();
    const Scratch::Frame frame(scratch);
    bool fine = true;
    with_ring(plan_.base, s_, [&](const auto& ring) {
      for (int k = 0; fine && k < kLegs; ++k) {
        if (!is_custom(k)) continue;
        const double* own = start ? start + k * hexapod_.joints() : nullptr;
        fine = custom_[k].close(hexapod_, k, s_.r, s_.R, own, scratch).cause == HexFailure::none;
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

  template <class R>
  void first_custom(const R& ring, const double (*tau)[kPlaces], Scratch& scratch) {
    const Vec3<double> a = plain<double>(ring.base.w), o = plain<double>(ring.base.o), e = plain<double>(ring.base.e);
    const double flow[9] = {a.x(), a.y(), a.z(), o.x(), o.y(), o.z(), e.x(), e.y(), e.z()};
    for (int k = 0; k < kLegs; ++k) {
      if (!is_custom(k)) continue;
      double share[leg::kFixedShare];
      custom_[k].first(ring.w, flow, tau[k], false, share, scratch);
      std::copy_n(share, leg::kFixedShare, share_.row[k]);
      std::copy_n(share + leg::kRight, 6, right_.row[k]);
    }
    share_.add_up(sums_.total);
  }

  void second_custom(const double* x, Scratch& scratch) {
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
  const HexJob job_;
  const Plan plan_;
  State<double> s_;
  Sums<double> sums_;
  Packed wide_[kInput];
  std::vector<LegPack> packs_;
  Table<kShare> share_ = {};
  Table<kVector> right_ = {}, load_ = {};
  double positions_[kRows];
  CustomLeg custom_[kLegs];
  OwnLeg own_[kLegs];
};

}  // namespace

std::unique_ptr<HexMotion> make_motion(const Hexapod& hexapod, const double* base) {
  return std::make_unique<LanesMotion>(hexapod, base);
}

}  // namespace zveno
