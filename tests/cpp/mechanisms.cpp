#include "mechanisms.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

using namespace zveno;

// splitmix64
std::uint64_t Random::bits() {
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

double Random::uniform(double low, double high) {
  return low + (high - low) * (static_cast<double>(bits() >> 11) * 0x1p-53);
}

int Random::below(int count) { return static_cast<int>(bits() % static_cast<std::uint64_t>(count)); }

std::vector<double> Random::vector(std::ptrdiff_t count, double low, double high) {
  std::vector<double> x(static_cast<std::size_t>(count));
  for (double& xi : x) xi = uniform(low, high);
  return x;
}

Vec3<double> Random::vector3(double size) {
  const std::vector<double> x = vector(3, -size, size);
  return {x[0], x[1], x[2]};
}

Mat3<double> Random::rotation() { return rotation_about(vector3(1) + Vec3<double>{0, 0, 1e-3}, uniform(-kPi, kPi)); }

// Rodrigues
Mat3<double> rotation_about(const Vec3<double>& axis, double angle) {
  const Mat3<double> e = skew(axis * (1 / std::sqrt(dot(axis, axis))));
  return diagonal(1.0) + e * std::sin(angle) + times(e, e) * (1 - std::cos(angle));
}

LinkSpec random_link(Random& random, const std::string& name, const std::string& parent, LinkKind kind) {
  LinkSpec link;
  link.name = name;
  link.parent = parent;
  link.joint_name = name + "_joint";
  link.kind = kind;
  link.position = random.vector3(0.4);
  if (random.chance(0.4)) {
    const Mat3<double> unit = diagonal(1.0);
    link.rotation = rotation_about(unit.col(random.below(3)), kPi / 2 * random.below(4));
    link.axis = unit.col(random.below(3)) * (random.chance(0.5) ? 1.0 : -1.0);
  } else {
    link.rotation = random.rotation();
    link.axis = random.vector3(1) + Vec3<double>{0, 0, 2};
  }
  link.body.mass = random.uniform(0.5, 3);
  link.body.com = random.vector3(0.2);
  const double a = random.uniform(0.01, 0.05), b = random.uniform(0.01, 0.05), c = random.uniform(0.01, 0.05);
  link.body.inertia = dense(rotated(random.rotation(), Sym3<double>{a + b, 0, 0, b + c, 0, a + c}));
  return link;
}

std::vector<LinkSpec> random_links(Random& random, const Wanted& wanted) {
  std::vector<LinkSpec> links;
  std::vector<std::string> names{"base"};
  auto parent = [&] { return wanted.branching ? names[random.below(static_cast<int>(names.size()))] : names.back(); };
  for (int i = 0; i < wanted.n; ++i) {
    if (random.chance(0.3)) {
      links.push_back(random_link(random, "weld" + std::to_string(i), parent(), LinkKind::fixed));
      names.push_back(links.back().name);
    }
    const LinkKind kind = random.chance(0.35) ? LinkKind::prismatic : LinkKind::revolute;
    links.push_back(random_link(random, "link" + std::to_string(i), parent(), kind));
    names.push_back(links.back().name);
    if (wanted.rotor) links.back().rotor_inertia = random.uniform(0, 0.5);
    if (wanted.friction) links.back().friction = random.uniform(0, 0.5);
    if (wanted.spring && random.chance(0.7)) {
      links.back().stiffness = random.uniform(0, 2);
      if (random.chance(0.7)) links.back().rest = random.uniform(-1, 1);
    }
  }
  links.push_back(random_link(random, "tool", parent(), LinkKind::fixed));
  if (wanted.shuffled) shuffle(random, links);
  return links;
}

void shuffle(Random& random, std::vector<LinkSpec>& links) {
  for (int i = static_cast<int>(links.size()); i > 1; --i) std::swap(links[i - 1], links[random.below(i)]);
}

Chain make(const std::vector<LinkSpec>& links) { return Chain("random", "base", {0.3, -0.2, -9.81}, links); }

std::vector<Wanted> mechanisms(int most) {
  std::vector<Wanted> all;
  for (int n = 1; n <= most; ++n) {
    all.push_back({n, false, false, n % 2 == 0, n % 3 == 0});
    all.push_back({n, false, true, true, true, true});
    all.push_back({n, true, false, n % 2 == 1, n % 3 == 1, n % 3 == 2});
    all.push_back({n, true, true, true, true, true});
  }
  return all;
}

std::vector<Param> arrays_of(Function function) {
  std::vector<Param> arrays;
  for (const Param p : row_of(function).params)
    if (is_array(p) && p != Param::base_motion) arrays.push_back(p);
  return arrays;
}

namespace {

// through the first link, or the last one, with everything that hangs on it
std::shared_ptr<const SectionCut> section_of(const Chain& chain, SectionAxes axes) {
  const int first = chain.find_link("link0"), link = first == Chain::kNoLink ? chain.joint_frame(chain.n() - 1).link : first;
  std::vector<int> welded, carried;
  for (int i = 0; i < static_cast<int>(chain.links().size()); ++i) {
    const LinkSpec& other = chain.links()[i];
    if (other.parent == chain.links()[link].name) (other.kind == LinkKind::fixed ? welded : carried).push_back(i);
  }
  Mat3<double> R = diagonal(0.0);
  R(0, 1) = R(1, 2) = R(2, 0) = 1;
  return std::make_shared<SectionCut>(
      cut_of(chain, link, {0.1, -0.2, 0.3}, R, inertia_of(chain.links()[link].body), welded, carried, true, axes));
}

}  // namespace

std::vector<NamedJob> every_job(const Chain& chain, const std::vector<LinkFrame>& loads) {
  std::vector<NamedJob> jobs;
  for (const FunctionRow& row : chain_table::kRows) {
    const auto add = [&](const std::string& name, int method, bool link_axes, bool tip, bool about_base) {
      Job job{&chain, static_cast<Function>(row.code), static_cast<Method>(method)};
      if (serial_only(job.method) && !chain.topology().serial) return;
      if (row.takes(Param::external) && !loads.empty()) {
        job.external_frames = loads.data();
        job.external_count = static_cast<int>(loads.size());
      }
      job.link_axes = link_axes;
      job.about_base = about_base;
      if (row.takes(Param::section)) job.section = section_of(chain, link_axes ? SectionAxes::link : SectionAxes::section);
      if (tip) {
        job.frame = chain.joint_frame(chain.n() - 1);
        job.frame.p_BoUo_B += Vec3<double>{0.1, -0.2, 0.3};
      }
      if (row.takes(Param::by) && tip == (job.function == Function::kinematic_derivative)) {
        job.order = 2;
        job.by[0] = job.by[1] = chain.n() - 1;
      }
      jobs.push_back({name, job});
    };
    const std::string name = row.name;
    for (const MethodName& m : row.methods) add(name + " " + m.name, m.code, false, false, false);
    if (row.methods.count) continue;
    for (const bool link_axes : {false, true})
      for (const bool tip : {false, true})
        for (const bool about_base : {false, true}) {
          if ((link_axes && !row.takes(Param::frame)) || (tip && !row.takes(Param::link)) ||
              (about_base && !row.takes(Param::about)))
            continue;
          add(name + (link_axes ? " link" : "") + (tip ? " of the tip" : "") + (about_base ? " about the base" : ""), 0,
              link_axes, tip, about_base);
        }
  }
  return jobs;
}

std::vector<LinkFrame> random_loads(Random& random, const Chain& chain) {
  std::vector<LinkFrame> loads{{kWorld, diagonal(1.0), {0, 0, 0}}};
  const int count = static_cast<int>(chain.links().size());
  for (int i = 0; i < 3; ++i) loads.push_back(chain.frame(random.below(count)));
  return loads;
}

States::States(const Job& job, const double* const (&x)[3], const double* external, std::ptrdiff_t count, bool repeat_rates,
               bool repeat_external)
    : results_(result_count(job.function)) {
  int k = 0;  // functions get nothing for what they do not take
  for (const Param p : arrays_of(job.function)) {
    in_[index_of(p)] = {x[std::min(k, 2)], count == 1 || (k == 1 && repeat_rates) ? 0 : job.chain->n()};
    ++k;
  }
  for (k = 0; k < job.external_count; ++k)
    external_.push_back({external + 6 * k, count == 1 || repeat_external ? 0 : 6 * job.external_count});
  shifted_ = external_;
}

Rows States::rows(std::ptrdiff_t first, std::ptrdiff_t count, double* const* out) {
  Rows rows;
  for (int k = 0; k < kInputs; ++k)
    if (in_[k].data) rows[static_cast<Param>(k)] = {in_[k].row(first), in_[k].stride};
  for (std::size_t k = 0; k < external_.size(); ++k) shifted_[k].data = external_[k].row(first);
  rows.external = shifted_.empty() ? nullptr : shifted_.data();
  for (int k = 0; k < results_; ++k) rows.out[k] = out[k];
  rows.count = count;
  return rows;
}
