#include <zveno/model/linkage.hpp>

#include <algorithm>
#include <cmath>

namespace zveno {
namespace {

std::vector<int> ancestors(const Topology& topology, int body) {
  std::vector<int> path;
  for (; body != kWorld; body = topology.parent[body]) path.push_back(body);
  return path;
}

std::vector<PathStep> path_between(const Topology& topology, int a, int b) {
  const std::vector<int> to_a = ancestors(topology, a), to_b = ancestors(topology, b);
  const auto in = [](const std::vector<int>& path, int x) { return std::find(path.begin(), path.end(), x) != path.end(); };
  std::vector<PathStep> path;
  for (const int x : to_a)
    if (!in(to_b, x)) path.push_back({x, false});
  for (const int x : to_b)
    if (!in(to_a, x)) path.push_back({x, true});
  return path;
}

bool is_identity(const Mat3<double>& R) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      if (R(i, j) != (i == j ? 1.0 : 0.0)) return false;
  return true;
}

// fewer joints are solved at once
constexpr int kFewJoints = 10;

std::vector<LoopGroup> groups_of(const Topology& topology, const std::vector<LoopConstraint>& constraints) {
  const int n = topology.size();
  std::vector<int> first(n);  // the lowest body of the group of each
  for (int b = 0; b < n; ++b) first[b] = b;
  for (const LoopConstraint& c : constraints) {
    if (c.path.empty()) continue;
    int least = n;
    for (const PathStep& step : c.path) least = std::min(least, first[step.body]);
    std::vector<int> joined;
    for (const PathStep& step : c.path) joined.push_back(first[step.body]);
    for (int& x : first)
      if (std::find(joined.begin(), joined.end(), x) != joined.end()) x = least;
  }
  std::vector<LoopGroup> groups;
  std::vector<int> place(n, -1), group(n, -1);
  for (int b = 0; b < n; ++b) {
    if (first[b] == b) group[b] = static_cast<int>(groups.size()), groups.emplace_back();
    LoopGroup& g = groups[group[b] = group[first[b]]];
    place[b] = static_cast<int>(g.bodies.size());
    g.bodies.push_back(b);
    const int parent = topology.parent[b];
    const bool inside = parent != kWorld && group[parent] == group[b];
    if (!inside) g.carrier = parent;
    g.topology.parent.push_back(inside ? place[parent] : kWorld);
  }
  for (LoopGroup& g : groups) {
    g.topology.find_ends();
    for (int i = 0; i < g.topology.size(); ++i) {
      g.topology.first_run.push_back(static_cast<int>(g.topology.ancestor_runs.size()));
      std::vector<int> path = ancestors(g.topology, g.topology.parent[i]);
      for (auto x = path.rbegin(); x != path.rend(); ++x) g.topology.ancestor_runs.push_back({*x, *x + 1});
      if (i + 1 == g.topology.size()) g.topology.first_run.push_back(static_cast<int>(g.topology.ancestor_runs.size()));
    }
  }
  for (std::size_t k = 0; k < constraints.size(); ++k) {
    const LoopConstraint& c = constraints[k];
    if (c.path.empty()) continue;
    const int g = group[c.path[0].body];
    const auto inside = [&](int body) { return body != kWorld && group[body] == g ? place[body] : kWorld; };
    groups[g].constraints.push_back(static_cast<int>(k));
    groups[g].ends.push_back({inside(c.a.body), inside(c.b.body)});
  }
  return groups;
}

}  // namespace

Linkage::Linkage(std::shared_ptr<const Chain> chain, double length, double open, int given,
                 std::vector<LoopConstraint> constraints, std::vector<LoopRow> rows)
    : chain_(std::move(chain)),
      length_(length),
      open_(open),
      slip_(std::isfinite(open) ? 1e-12 * length * length : open),
      given_(given),
      constraints_(std::move(constraints)),
      rows_(std::move(rows)),
      of_row_(rows_.size(), 0) {
  for (const LoopRow& row : rows_) turns_.push_back(row.type == RowType::dots || row.type == RowType::screw);
  const int n = chain_->n();
  const Topology& topology = chain_->topology();
  std::vector<bool> held(n, false);
  for (std::size_t k = 0; k < constraints_.size(); ++k) {
    LoopConstraint& c = constraints_[k];
    for (int i = 0; i < c.count; ++i) of_row_[c.first + i] = static_cast<int>(k);
    has_unplaced_ |= !c.placed;
    if (!c.placed) continue;
    for (LoopSide* side : {&c.a, &c.b}) side->aligned = is_identity(side->R);
    c.path = path_between(topology, c.a.body, c.b.body);
    for (const LoopSide* side : {&c.a, &c.b})
      if (side->body != kWorld) held[side->body] = true;
  }
  groups_ = groups_of(topology, constraints_);
  whole_.topology.parent = topology.parent;
  for (int b = 0; b < n; ++b) whole_.bodies.push_back(b);
  for (std::size_t k = 0; k < constraints_.size(); ++k) {
    const LoopConstraint& c = constraints_[k];
    whole_.constraints.push_back(static_cast<int>(k));
    whole_.ends.push_back({c.placed ? c.a.body : kWorld, c.placed ? c.b.body : kWorld});
  }
  const auto complete = [&](LoopGroup& g) {
    for (const int b : g.bodies) g.joints.push_back(chain_->user_index()[b]);
    std::sort(g.joints.begin(), g.joints.end());
    for (const int k : g.constraints)
      for (int i = 0; i < constraints_[k].count; ++i) g.rows.push_back(constraints_[k].first + i);
  };
  for (LoopGroup& g : groups_) complete(g);
  complete(whole_);
  int closed = 0;
  bool free = has_unplaced_;  // rows that no joint moves belong to no group
  for (const LoopGroup& g : groups_) closed += !g.constraints.empty();
  for (const LoopConstraint& c : constraints_) free |= c.placed && c.path.empty();
  grouped_ = closed > 1 && n >= kFewJoints && !free;
  choice_.active.resize(rows_.size());
  for (int i = 0; i < this->rows(); ++i) choice_.active[i] = i;
  choice_.assign_roles();

  // a massless member with one child and nothing else on it hands its wrench on unchanged: docs/constraints.md (L22)
  // counts it once
  std::vector<int> children(n, 0);
  for (int b = 0; b < n; ++b)
    if (topology.parent[b] != kWorld) ++children[topology.parent[b]];
  weight_.assign(n, 1.0);
  for (int b = 0; b < n; ++b) {
    const BodyParams<double>& body = chain_->body(b);
    const Sym3<double>& I = body.I_BBo_B;
    const bool massless = body.m == 0 && I.xx == 0 && I.yy == 0 && I.zz == 0;
    if (massless && children[b] == 1 && !held[b]) weight_[b] = 0;
  }
}

std::vector<const LoopGroup*> Linkage::parts() const {
  if (!grouped_) return {&whole_};
  std::vector<const LoopGroup*> parts;
  for (const LoopGroup& group : groups_)
    if (!group.constraints.empty()) parts.push_back(&group);
  return parts;
}

}  // namespace zveno
