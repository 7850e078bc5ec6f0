#include <zveno/model/reach.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <zveno/model/error.hpp>

namespace zveno {
namespace {

double distance(const Vec3<double>& a, const Vec3<double>& b) {
  const Vec3<double> d = a - b;
  return std::sqrt(dot(d, d));
}

// origins of the joints as the user has placed them, at q = 0
struct Origins {
  std::vector<Mat3<double>> R;
  std::vector<Vec3<double>> p;

  explicit Origins(const Chain& chain) : R(chain.n()), p(chain.n()) {
    for (int b = 0; b < chain.n(); ++b) {
      const BodyParams<double>& body = chain.body(b);
      const Turn<double> theta = chain.fixed_turn()[b];
      const JointFrame<double> X{theta, body.alpha, body.phi, chain.topology().placement[b], body.p_PJ};
      const int parent = chain.topology().parent[b];
      R[b] = parent == kWorld ? X.rotation() : times(R[parent], X.rotation());
      p[b] = parent == kWorld ? X.p : p[parent] + times(R[parent], X.p);
    }
  }
  Vec3<double> of(int body, const Vec3<double>& in_body) const {
    return body == kWorld ? in_body : p[body] + times(R[body], in_body);
  }
};

void add_bounds(ReachModel& model) {
  constexpr double kPi = 3.141592653589793, kInfinite = std::numeric_limits<double>::infinity();
  for (int b = 0; b < model.size(); ++b) {
    const bool revolute = model.revolute(b);
    const double lower = model.lower[b], upper = model.upper[b];
    const bool wide = revolute && upper - lower >= 2 * kPi;
    model.inner_lower.push_back(wide ? -kInfinite : lower);
    model.inner_upper.push_back(wide ? kInfinite : upper);
    // where a limit is missing: half a turn or the reach, from the other limit or from zero
    const double room = revolute ? kPi : model.reach;
    const auto open = [&](double other, int side) { return std::isfinite(other) ? other + 2 * side * room : side * room; };
    const double low = std::isfinite(lower) ? lower : open(upper, -1), high = std::isfinite(upper) ? upper : open(lower, 1);
    model.low.push_back(low);
    model.range.push_back(high - low);
    model.middle.push_back(0.5 * (low + high));
  }
}

}  // namespace

ReachModel make_reach_model(const Chain& chain, const std::vector<ReachWish>& wishes, const double* lower,
                            const double* upper) {
  const int n = chain.n();
  ReachModel model;
  std::vector<char> wanted(n, 0);
  for (const ReachWish& wish : wishes) {
    const LinkFrame& frame = chain.frame(wish.link);
    if (frame.body == kWorld)
      throw ModelError(chain.links()[wish.link].name, "no joint moves link '" + chain.links()[wish.link].name + "'");
    for (int b = frame.body; b != kWorld; b = chain.topology().parent[b]) wanted[b] = 1;
  }
  const Topology plain = chain.topology().without_hinges();
  std::vector<int> at(n, -1);
  for (int b = 0; b < n; ++b) {
    if (!wanted[b]) continue;
    at[b] = model.size();
    const int parent = plain.parent[b];
    model.topology.parent.push_back(parent == kWorld ? kWorld : at[parent]);
    model.topology.kind.push_back(plain.kind[b]);
    model.topology.placement.push_back(plain.placement[b]);
    model.topology.hinge.push_back(0);
    model.body.push_back(chain.body(b));
    model.offset.push_back(chain.offset()[b]);
    model.fixed_turn.push_back(chain.fixed_turn()[b]);
    model.place.push_back(chain.user_index()[b]);
    model.lower.push_back(lower[chain.user_index()[b]]);
    model.upper.push_back(upper[chain.user_index()[b]]);
  }
  const Origins origins(chain);
  for (const ReachWish& wish : wishes) {
    const LinkFrame& frame = chain.frame(wish.link);
    ReachFrame f{at[frame.body], frame.R_BU, frame.p_BoUo_B, {}, true,
                 true,           false,      false,          2,  std::vector<char>(model.body.size(), 0)};
    std::copy_n(wish.held, 6, f.held);
    f.whole = std::all_of(f.held, f.held + 6, [](bool held) { return held; });
    for (int i = 0; i < 9; ++i) f.straight &= f.R_BU(i / 3, i % 3) == (i % 4 == 0);
    const int turns = f.held[3] + f.held[4] + f.held[5];
    f.turned = turns == 1 || turns == 2;
    f.swing = turns == 2;
    for (int i = 0; i < 3 && f.swing; ++i)
      if (!f.held[3 + i]) f.spin = i;
    double reach = 0;
    Vec3<double> last = origins.of(frame.body, frame.p_BoUo_B);
    for (int b = frame.body; b != kWorld; b = chain.topology().parent[b]) {
      f.moved_by[at[b]] = 1;
      const Vec3<double> here = origins.of(b, chain.joint_frame(b).p_BoUo_B);
      reach += distance(last, here);
      last = here;
    }
    model.reach = std::max(model.reach, reach);
    model.frame.push_back(std::move(f));
  }
  if (!(model.reach > 0)) model.reach = 1;  // all origins in one point: no length matters
  model.length = 0.2 * model.reach, model.per_metre = 1.0 / model.length;
  add_bounds(model);
  return model;
}

}  // namespace zveno
