// One state after another of a hexapod in free flight, legs in lanes: docs/docking.md (D1)-(D6), docs/hexapods.md (51). Sums
// over the legs are made in their order.
#include <zveno/functions/free_motion.hpp>

#include <algorithm>
#include <vector>

#include <zveno/batch/custom_legs.hpp>
#include <zveno/batch/lanes.hpp>
#include <zveno/batch/rows.hpp>
#include <zveno/functions/free_equations.hpp>
#include <zveno/support/finite.hpp>

namespace zveno {
namespace {

constexpr int kShare = padded(leg::kFreeShare);
class LanesFreeMotion : public FreeMotion {
 public:
  explicit LanesFreeMotion(const Hexapod& hexapod) : hexapod_(hexapod), of_(hexapod), custom_(hexapod) {
    std::fill_n(s_.base, 9, 0.0), std::fill_n(s_.flow, 9, 0.0);
    std::fill_n(wide_, kInput, Packed(0.0));
    for (const LegGroup& group : hexapod.groups()) {
      const LegCalls calls = calls_of<Packed>(group.type, group.symmetric, BaseKind::free);
      for (int at = 0; at < group.count; at += kLanes) {
        LegPack pack{calls, group.params.number + at, {}, std::vector<CacheLine>(calls.lines)};
        const int end = std::min({group.count, kLegs, at + kLanes});
        for (int l = 0; l < kLanes; ++l) pack.legs[l] = kLegs + l;
        for (int k = at; k < end; ++k) pack.legs[k - at] = group.legs[k];
        packs_.push_back(std::move(pack));
      }
    }
    for (int k = 0; k < kLegs; ++k) actuated_[k] = hexapod.chain(k).actuated;
    one_ = kLanes >= kLegs && packs_.size() == 1 && !hexapod.has_custom();
    for (int k = 0; one_ && k < kLegs; ++k) one_ = packs_[0].legs[k] == k;
    set_base({});
  }

  void set_base(const BodySpec& b) override { of_.base = carrier_of(b); }

  bool place(const double* r, const double* R, const double* u, const double* start) override {
    std::copy_n(r, 3, s_.r), std::copy_n(R, 9, s_.R), std::copy_n(u, 6, s_.u);
    std::fill_n(s_.flow + 3, 3, 0.0);
    for (int i = 0; i < 3; ++i) wide_[i] = r[i];
    for (int i = 0; i < 9; ++i) wide_[3 + i] = R[i];
    for (int i = 0; i < 6; ++i) wide_[12 + i] = u[i];
    bool fine = true;
    for (LegPack& pack : packs_) {
      Packed measure[4], way, rates[4];
      pack.calls.place(pack.params, wide_, pack.held.data(), share_, measure);
      fine &= all_above(measure, 4, kTinySquare);
      pack.calls.driven(pack.held.data(), way, rates);
      if (one_) {
        store_first(way, position, kLegs), store_first(rates[actuated_[0]], rate, kLegs);
        break;
      }
      keep(pack);
      for (int l = 0; l < kLanes; ++l) {
        if (pack.legs[l] >= kLegs) continue;
        position[pack.legs[l]] = way[l];
        rate[pack.legs[l]] = rates[actuated_[pack.legs[l]]][l];
      }
    }
    if (hexapod_.has_custom()) fine = fine && custom_.place(s_, start, position, rate, rows_);
    if (!fine) return false;
    if (one_)
      add_lanes(0, kShare, sums_.total);
    else
      add_up(0, kShare, sums_.total);
    of_.make(s_.r, s_.R, s_.u, sums_);
    mass = of_.mass;
    std::copy_n(of_.moment, 3, moment), std::copy_n(of_.inertia, 6, inertia);
    return true;
  }

  void twist(const double* momentum, double* out) const override { of_.twist(momentum, out); }
  void momentum(const double* twist, double* out) const override { of_.momentum(twist, out); }
  double kinetic(const double* twist) const override { return of_.kinetic(twist); }

  bool finish(const double* omega, const double* tau, const double* wrench, const double* base_wrench) override {
    std::copy_n(wrench, 6, s_.wrench);
    std::copy_n(omega, 3, s_.flow + 3);
    for (int i = 0; i < 3; ++i) wide_[21 + i] = omega[i];
    for (LegPack& pack : packs_) {
      Packed forces[4] = {0.0, 0.0, 0.0, 0.0};
      double own[kLanes] = {};
      for (int l = 0; !one_ && l < kLanes; ++l)
        if (pack.legs[l] < kLegs) own[l] = tau[pack.legs[l]];
      forces[actuated_[pack.legs[0]]] = one_ ? Packed::of(tau, kLegs) : Packed::of(own, kLanes);
      pack.calls.move(pack.params, wide_, pack.held.data(), share_);
      pack.calls.drive(forces, pack.held.data(), share_ + leg::kRight, false);
      if (one_) break;
      for (const int from : {leg::kRight + 0, leg::kBaseRight + 0})  // the rest does not depend on velocities
        scatter(share_ + from, 6, kLanes, [&](int l) { return rows_[pack.legs[l]] + from; });
    }
    if (hexapod_.has_custom()) custom_.drive(s_, tau, rows_);
    double right[padded(6)], base_right[padded(6)];
    if (one_)
      add_lanes(leg::kRight, padded(6), right), add_lanes(leg::kBaseRight, padded(6), base_right);
    else
      add_up(leg::kRight, padded(6), right), add_up(leg::kBaseRight, padded(6), base_right);

    of_.finish(s_, base_wrench, right, base_right, acceleration, base_acceleration);
    return all_finite(acceleration, 6) & all_finite(base_acceleration, 6);
  }

 private:
  struct LegPack {
    LegCalls calls;
    const double* params;
    int legs[kLanes];
    std::vector<CacheLine> held;
  };

  void keep(const LegPack& pack) {
    scatter(share_, kShare, kLanes, [&](int l) { return rows_[pack.legs[l]]; });
  }
  // the same of legs that stand in order in one pack
  ZVENO_INLINE void add_lanes(int from, int count, double* out) const {
    for (int i = 0; i < count; i += kLanes) {
      Packed row[kLanes];
      load_transposed([&](int l) ZVENO_INLINED { return reinterpret_cast<const double*>(share_ + from + i + l); }, row);
      Packed sum = row[0];
      ZVENO_UNROLL
      for (int k = 1; k < std::min(kLegs, kLanes); ++k) sum += row[k];
      sum.store(out + i);
    }
  }
  void add_up(int from, int count, double* out) const {
    for (int i = 0; i < count; i += kLanes) {  // sums stay in registers
      Packed sum = Packed::load(rows_[0] + from + i);
      for (int k = 1; k < kLegs; ++k) sum += Packed::load(rows_[k] + from + i);
      sum.store(out + i);
    }
  }

  const Hexapod& hexapod_;
  FreeEquations<double> of_;
  int actuated_[kLegs];
  HexState<double> s_;
  Packed wide_[kInput], share_[kShare];
  std::vector<LegPack> packs_;
  bool one_;  // pack of all legs, in their order
  alignas(64) double rows_[kLegs + 8][kShare] = {};
  Sums<double> sums_;
  CustomLegs custom_;
};

}  // namespace

std::unique_ptr<FreeMotion> make_free_motion(const Hexapod& hexapod) { return std::make_unique<LanesFreeMotion>(hexapod); }

}  // namespace zveno
