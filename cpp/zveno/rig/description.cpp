#include <zveno/rig/description.hpp>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <set>

#include <zveno/math/quaternion.hpp>
#include <zveno/rig/json.hpp>
#include <zveno/rig/urdf.hpp>

namespace zveno {
namespace {

using json::Value;
using Kind = Value::Kind;

constexpr int kVersion = 1;

[[noreturn]] void fail(const std::string& where, const std::string& what) { throw ModelError("", where + ": " + what); }
[[noreturn]] void refuse(const std::string& where, const char* key, const Value* v, const char* expected) {
  fail(where, std::string(key) + " is " + (v ? json::shown(*v) : "missing") + ", expected " + expected);
}

// an object of which every key is known
class Object {
 public:
  Object(const Value& value, std::string where, std::initializer_list<const char*> keys)
      : value_(value), where_(std::move(where)) {
    if (value.kind != Kind::object) fail(where_, "is " + json::shown(value) + ", expected an object");
    for (const auto& [key, ignored] : value.members) {
      bool known = false;
      for (const char* k : keys) known |= key == k;
      if (!known) fail(where_, "unknown key '" + key.substr(0, 60) + "'");
    }
  }

  const std::string& where() const { return where_; }
  void rename(const std::string& where) { where_ = where; }

  // null: absent, or null in the text
  const Value* find(const char* key) const {
    const Value* v = value_.find(key);
    return v && v->kind != Kind::null ? v : nullptr;
  }
  const Value& at(const char* key, const char* expected) const {
    if (const Value* v = find(key)) return *v;
    refuse(where_, key, value_.find(key), expected);
  }
  const Value& list(const char* key) const {
    const Value& v = at(key, "a list");
    if (v.kind != Kind::list) refuse(where_, key, &v, "a list");
    return v;
  }
  std::string text(const char* key) const {
    const Value& v = at(key, "a string");
    if (v.kind != Kind::text || v.text.empty()) refuse(where_, key, &v, "a string that is not empty");
    return v.text;
  }
  std::string text(const char* key, const std::string& fallback) const { return find(key) ? text(key) : fallback; }
  double number(const char* key) const {
    const Value& v = at(key, "a number");
    if (v.kind != Kind::number) refuse(where_, key, &v, "a number");
    return v.number;
  }
  double number(const char* key, double fallback) const { return find(key) ? number(key) : fallback; }
  double amount(const char* key, double fallback = 0) const {
    const double x = number(key, fallback);
    if (!(x >= 0)) refuse(where_, key, find(key), "a number >= 0");
    return x;
  }
  int whole(const char* key, int fallback, int low, int high) const {
    const double x = number(key, fallback);
    if (!(x >= low && x <= high) || x != std::floor(x))
      refuse(where_, key, find(key), ("a whole number from " + std::to_string(low) + " to " + std::to_string(high)).c_str());
    return static_cast<int>(x);
  }
  int sign(const char* key) const {
    const double x = number(key, 1);
    if (x != 1 && x != -1) refuse(where_, key, find(key), "1 or -1");
    return static_cast<int>(x);
  }
  bool truth(const char* key) const {
    const Value* v = find(key);
    if (v && v->kind != Kind::boolean) refuse(where_, key, v, "true or false");
    return v && v->truth;
  }
  void numbers(const char* key, std::size_t count, double* out) const {
    const std::string expected = "a list of " + std::to_string(count) + " numbers";
    const Value& v = at(key, expected.c_str());
    if (v.kind != Kind::list || v.items.size() != count) refuse(where_, key, &v, expected.c_str());
    for (std::size_t i = 0; i < count; ++i) {
      if (v.items[i].kind != Kind::number) refuse(where_, key, &v.items[i], "numbers");
      out[i] = v.items[i].number;
    }
  }
  Vec3<double> vector(const char* key) const {
    double x[3];
    numbers(key, 3, x);
    return {x[0], x[1], x[2]};
  }
  Vec3<double> vector(const char* key, const Vec3<double>& fallback) const { return find(key) ? vector(key) : fallback; }
  Mat3<double> matrix(const char* key) const {
    const Value& v = at(key, "3 rows of 3 numbers");
    if (v.kind != Kind::list || v.items.size() != 3) refuse(where_, key, &v, "3 rows of 3 numbers");
    Mat3<double> m;
    for (int i = 0; i < 3; ++i) {
      const Value& row = v.items[static_cast<std::size_t>(i)];
      if (row.kind != Kind::list || row.items.size() != 3) refuse(where_, key, &row, "3 rows of 3 numbers");
      for (int j = 0; j < 3; ++j) {
        const Value& x = row.items[static_cast<std::size_t>(j)];
        if (x.kind != Kind::number) refuse(where_, key, &x, "3 rows of 3 numbers");
        m(i, j) = x.number;
      }
    }
    return m;
  }
  Mat3<double> matrix(const char* key, const Mat3<double>& fallback) const { return find(key) ? matrix(key) : fallback; }
  std::vector<std::string> names(const char* key, const char* what = "link") const {
    std::vector<std::string> out;
    if (!find(key)) return out;
    for (const Value& v : list(key).items) {
      if (v.kind != Kind::text) refuse(where_, key, &v, (std::string("names of ") + what + "s").c_str());
      out.push_back(v.text);
    }
    if (std::set<std::string>(out.begin(), out.end()).size() != out.size())
      fail(where_, std::string(key) + " names one " + what + " twice");
    return out;
  }
  // "format" and "version"
  void require(const char* format) const {
    const std::string given = text("format");
    if (given != format) fail(where_, "format is '" + given.substr(0, 60) + "', expected '" + format + "'");
    const double version = number("version");
    if (version != kVersion)
      fail(where_, "version is " + json::shown(at("version", "")) + ", expected " + std::to_string(kVersion) +
                       (version > kVersion ? ": a newer zveno has written it" : ""));
  }

 private:
  const Value& value_;
  std::string where_;
};

std::string item(const char* list, std::size_t i) { return std::string(list) + "[" + std::to_string(i) + "]"; }

// ---- models

LinkSpec link_of(const Value& value, std::size_t i, const std::string& previous) {
  Object o(value, item("links", i),
           {"name", "parent", "joint", "joint_name", "axis", "position", "rotation", "mass", "com", "inertia", "lower",
            "upper", "velocity", "effort", "rotor_inertia", "friction", "stiffness", "rest"});
  LinkSpec link;
  link.name = o.text("name");
  o.rename("link '" + link.name.substr(0, 60) + "'");
  link.parent = o.text("parent", previous);
  const std::string kind = o.text("joint", "revolute");
  if (kind == "fixed")
    link.kind = LinkKind::fixed;
  else if (kind == "prismatic")
    link.kind = LinkKind::prismatic;
  else if (kind != "revolute" && kind != "continuous")
    refuse(o.where(), "joint", o.find("joint"), "revolute, prismatic or fixed");
  link.joint_name = o.text("joint_name", link.name + "_joint");
  link.axis = o.vector("axis", link.axis);
  link.position = o.vector("position", link.position);
  link.rotation = o.matrix("rotation", link.rotation);
  link.body = {o.number("mass", 0), o.vector("com", {0, 0, 0}), o.matrix("inertia", diagonal(0.0))};
  link.rotor_inertia = o.amount("rotor_inertia");
  link.friction = o.amount("friction");
  link.stiffness = o.amount("stiffness");
  link.rest = o.number("rest", 0);
  for (const char* limit : {"lower", "upper", "velocity", "effort"}) o.number(limit, 0);
  return link;
}

// gravity: instead of its own
std::shared_ptr<const Chain> chain_of(const Value& value, const Vec3<double>* gravity = nullptr) {
  const Object o(value, "chain", {"format", "version", "name", "base", "gravity", "links", "note"});
  o.require("zveno.chain");
  std::vector<LinkSpec> links;
  const std::string base = o.text("base");
  std::string previous = base;
  for (const Value& v : o.list("links").items) {
    links.push_back(link_of(v, links.size(), previous));
    previous = links.back().name;
  }
  const Vec3<double> own = o.vector("gravity");
  return std::make_shared<const Chain>(o.text("name"), base, gravity ? *gravity : own, std::move(links));
}

BodySpec body_of_value(const Value& value, const std::string& where) {
  const Object o(value, where, {"mass", "inertia", "com"});
  return {o.number("mass"), o.vector("com", {0, 0, 0}), o.matrix("inertia")};
}

LegType leg_type_of(const Object& o) {
  const std::string type = o.text("type");
  for (const LegTraits& row : kLegTraits)
    if (type == row.name) return row.type;
  if (type != "custom") refuse(o.where(), "type", o.find("type"), "UPS, SPU, UCU, RUS, RSU or custom");
  return LegType::custom;
}

LegSpec leg_of(const Value& value, std::size_t i, const Vec3<double>& gravity) {
  Object o(value, item("legs", i),
           {"type",  "name",  "base",         "ring",         "base_frame", "ring_frame", "crank_frame", "tip_frame",
            "inner", "outer", "inner_length", "outer_length", "reflected",  "elbow",      "spin_branch", "lower",
            "upper", "chain", "link",         "point",        "axis",       "ring_axis",  "start",       "actuated"});
  LegSpec leg;
  leg.type = leg_type_of(o);
  leg.name = o.text("name", "leg" + std::to_string(i + 1));
  o.rename("leg '" + leg.name.substr(0, 60) + "'");
  leg.ring = o.vector("ring");
  leg.elbow = o.sign("elbow");
  leg.spin_branch = o.sign("spin_branch");
  for (const char* limit : {"lower", "upper"}) o.number(limit, 0);
  if (leg.type != LegType::custom) {
    leg.base = o.vector("base");
    // what is left open needs the nominal pose: Python fills it in
    leg.base_frame = o.matrix("base_frame");
    leg.ring_frame = o.matrix("ring_frame", leg.ring_frame);
    leg.crank_frame = o.matrix("crank_frame", leg.crank_frame);
    leg.tip_frame = o.matrix("tip_frame", leg.tip_frame);
    if (traits_of(leg.type).spins) o.matrix("ring_frame");
    leg.inner_length = o.number("inner_length");
    leg.outer_length = o.number("outer_length");
    leg.inner = body_of_value(o.at("inner", "a body"), o.where() + ": inner");
    leg.outer = body_of_value(o.at("outer", "a body"), o.where() + ": outer");
    leg.reflected = o.amount("reflected");
    return leg;
  }
  leg.chain = chain_of(o.at("chain", "a chain"), &gravity);
  leg.link = o.text("link");
  leg.point = o.vector("point", {0, 0, 0});
  leg.universal = o.find("axis") != nullptr;
  if (leg.universal) leg.axis = o.vector("axis"), leg.ring_axis = o.vector("ring_axis");
  leg.start.resize(o.list("start").items.size());
  o.numbers("start", leg.start.size(), leg.start.data());
  leg.actuated = o.text("actuated");
  return leg;
}

// nominal: pose in which it is assembled, r and R; empty: none
std::shared_ptr<const Hexapod> hexapod_of(const Value& value, std::vector<double>& nominal) {
  const Object o(value, "hexapod",
                 {"format", "version", "name", "gravity", "nominal", "platform", "legs", "note", "origin"});
  o.require("zveno.hexapod");
  const Vec3<double> gravity = o.vector("gravity");
  const BodySpec platform = body_of_value(o.at("platform", "a body"), "platform");
  if (platform.com.x() != 0 || platform.com.y() != 0 || platform.com.z() != 0)
    fail("platform", "com is not zero: save() of a hexapod writes it about its centre of mass");
  std::vector<LegSpec> legs;
  std::set<std::string> names;
  for (const Value& v : o.list("legs").items) {
    if (legs.size() == kLegs) fail("hexapod", "legs has more than six entries");
    legs.push_back(leg_of(v, legs.size(), gravity));
    if (!names.insert(legs.back().name).second) fail("hexapod", "two legs have the name '" + legs.back().name + "'");
  }
  if (const Value* pose = o.find("nominal")) {
    if (pose->kind != Kind::list || pose->items.size() != 2) refuse("hexapod", "nominal", pose, "null or [r, R]");
    Value pair;
    pair.kind = Kind::object;
    pair.members = {{"r", pose->items[0]}, {"R", pose->items[1]}};
    const Object both(pair, "nominal", {"r", "R"});
    const Vec3<double> r = both.vector("r");
    const Mat3<double> R = both.matrix("R");
    nominal = {r.x(), r.y(), r.z()};
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) nominal.push_back(R(i, j));
  }
  return std::make_shared<const Hexapod>(o.text("name"), platform, gravity, std::move(legs));
}

// ---- laws

// [name, numbers...]
Term term_of(const Value& v, const std::string& where) {
  if (v.kind != Kind::list || v.items.empty() || v.items[0].kind != Kind::text)
    fail(where, "a term is " + json::shown(v) + ", expected [name, numbers...]");
  const std::string& kind = v.items[0].text;
  const std::string who = where + ": " + kind.substr(0, 60);
  const auto list = [&](std::size_t i) {
    std::vector<double> out;
    if (v.items[i].kind != Kind::list) fail(who, "has " + json::shown(v.items[i]) + ", expected a list of numbers");
    for (const Value& x : v.items[i].items) {
      if (x.kind != Kind::number) fail(who, "has " + json::shown(x) + ", expected a number");
      out.push_back(x.number);
    }
    return out;
  };
  const auto fields = [&](std::size_t count) {
    if (v.items.size() != count + 1)
      fail(who, "has " + std::to_string(v.items.size() - 1) + " fields, expected " + std::to_string(count));
  };
  // null: infinite
  const auto x = [&](std::size_t i) {
    const Value& item = v.items[i];
    if (item.kind == Kind::null) return std::numeric_limits<double>::infinity();
    if (item.kind != Kind::number) fail(who, "has " + json::shown(item) + ", expected a number");
    return item.number;
  };
  // what is divided by, or what must not be negative
  const auto above = [&](std::size_t i, bool zero) {
    const double number = x(i);
    if (!(zero ? number >= 0 : number > 1e-100))
      fail(who, "has " + json::shown(v.items[i]) + ", expected a number " + (zero ? ">= 0" : "> 0"));
    return number;
  };
  const auto finite = [&](std::size_t i) {
    if (v.items[i].kind == Kind::null) fail(who, "has null, expected a number");
    return x(i);
  };
  const auto servo = [&] { return ServoOf<double>{above(1, true), above(2, true), above(3, false)}; };
  if (kind == "spring_damper") return fields(4), SpringDamper{finite(1), finite(2), finite(3), finite(4)};
  if (kind == "dry_friction") return fields(2), DryFriction{finite(1), above(2, false)};
  if (kind == "stops") return fields(4), Stops{v.items[1].kind == Kind::null ? -x(1) : x(1), x(2), finite(3), finite(4)};
  if (kind == "bumpers") {
    fields(5);
    const double lower = v.items[1].kind == Kind::null ? -x(1) : x(1);
    return Bumpers{lower, x(2), finite(3), above(4, true), above(5, false)};
  }
  if (kind == "eddy_brake") return fields(2), EddyBrake{finite(1), above(2, false)};
  if (kind == "lugre") {
    fields(6);
    const LuGre law{above(1, false), above(2, false), above(3, false), above(4, false), above(5, true), above(6, true)};
    if (law.breakaway < law.force) fail(who, "has a breakaway force below the sliding one");
    return law;
  }
  if (kind == "slip_clutch") {
    fields(2);
    const double terms = finite(2);
    if (!(terms >= 0 && terms <= 1000) || terms != std::floor(terms)) fail(who, "has a wrong number of terms");
    return SlipClutch{above(1, false), static_cast<int>(terms)};
  }
  if (kind == "servo_constant") return fields(4), Servo{servo(), Constant{finite(4)}};
  if (kind == "servo_ramp") return fields(7), Servo{servo(), Ramp{finite(4), finite(5), above(6, false), finite(7)}};
  if (kind == "servo_table") {
    fields(5);
    auto samples = std::make_shared<Samples>(Samples{list(4), list(5)});
    if (samples->times.empty() || samples->times.size() != samples->values.size())
      fail(who, "needs as many values as times, at least one");
    for (std::size_t i = 1; i < samples->times.size(); ++i)
      if (!(samples->times[i] > samples->times[i - 1])) fail(who, "has times that do not increase");
    return Servo{servo(), Table{std::move(samples)}};
  }
  fail(where, "unknown term '" + kind.substr(0, 60) + "'");
}

std::vector<JointLaw> laws_of(const Object& o, std::size_t count, const char* key = "laws") {
  std::vector<JointLaw> laws(count);
  if (!o.find(key)) return laws;
  const Value& all = o.list(key);
  if (all.items.size() != count)
    fail(o.where(),
         std::string(key) + " has " + std::to_string(all.items.size()) + " entries, expected " + std::to_string(count));
  for (std::size_t k = 0; k < count; ++k) {
    const Value& v = all.items[k];
    if (v.kind == Kind::null) continue;
    const std::string where = item(key, k);
    if (v.kind != Kind::list) fail(where, "is " + json::shown(v) + ", expected null or a list of terms");
    std::vector<Term> terms;
    for (const Value& term : v.items) terms.push_back(term_of(term, where));
    try {
      laws[k] = JointLaw(std::move(terms));
    } catch (const std::invalid_argument& e) {
      fail(where, e.what());
    }
  }
  return laws;
}

// ---- what is given as lists of numbers: written by Python, from what it hands to its own runs

// null where `absent` is a number
double number_of(const Value& v, const std::string& where, const double* absent = nullptr) {
  if (v.kind == Kind::null && absent) return *absent;
  if (v.kind == Kind::boolean) return v.truth ? 1.0 : 0.0;
  if (v.kind != Kind::number) fail(where, "has " + json::shown(v) + ", expected a number");
  return v.number;
}

const std::vector<Value>& items_of(const Value& v, std::string_view where, std::size_t count) {
  if (v.kind != Kind::list || v.items.size() != count)
    fail(std::string(where), "is " + json::shown(v) + ", expected a list of " + std::to_string(count));
  return v.items;
}

int count_of(const Value& v, const std::string& where, int low, int high) {
  const double x = number_of(v, where);
  if (!(x >= low && x <= high) || x != std::floor(x))
    fail(where,
         "has " + json::shown(v) + ", expected a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  return static_cast<int>(x);
}

// ---- linkages

LoopSide loop_side_of(const Chain& chain, const Value& v, const std::string& where) {
  const std::vector<Value>& t = items_of(v, where, 3);
  if (t[0].kind != Kind::text) fail(where, "has " + json::shown(t[0]) + ", expected the name of a link");
  Value pair;
  pair.kind = Kind::object;
  pair.members = {{"R", t[1]}, {"p", t[2]}};
  const Object both(pair, where, {"R", "p"});
  const int link = chain.find_link(t[0].text);
  if (link == Chain::kNoLink) fail(where, "there is no link '" + t[0].text.substr(0, 60) + "'");
  const LinkFrame frame = link == Chain::kBase ? LinkFrame{kWorld, diagonal(1.0), {0, 0, 0}} : chain.frame(link);
  LoopSide side;
  side.body = frame.body;
  side.R = times(frame.R_BU, both.matrix("R"));
  side.p = frame.p_BoUo_B + times(frame.R_BU, both.vector("p"));
  side.R_U = frame.R_BU;
  return side;
}

// [type, axis, [[i, j, k]...], scale, c, given, name]
LoopRow loop_row_of(const Value& v, const std::string& where) {
  static constexpr const char* kTypes[] = {"along", "dots", "rod", "screw", "coupling"};
  const std::vector<Value>& t = items_of(v, where, 7);
  LoopRow row;
  int type = 0;
  while (type < 5 && (t[0].kind != Kind::text || t[0].text != kTypes[type])) ++type;
  if (type == 5) fail(where, "has an equation " + json::shown(t[0]) + ", expected along, dots, rod, screw or coupling");
  row.type = static_cast<RowType>(type);
  row.axis = count_of(t[1], where, 0, 2);
  if (t[2].kind != Kind::list || t[2].items.size() > 2) fail(where, "has more than two products of axes");
  for (const Value& product : t[2].items) {
    const std::vector<Value>& x = items_of(product, where, 3);
    row.term[row.terms++] = {count_of(x[0], where, 0, 2), count_of(x[1], where, 0, 2), number_of(x[2], where)};
  }
  row.scale = number_of(t[3], where), row.c = number_of(t[4], where);
  count_of(t[5], where, -1, -1);  // nothing that moves in time leaves Python
  if (t[6].kind == Kind::text) row.name = t[6].text;
  return row;
}

std::shared_ptr<const Linkage> linkage_of(const std::shared_ptr<const Chain>& chain, const Value& value) {
  const Object o(value, "loops", {"length", "open", "choice", "constraints"});
  std::vector<LoopConstraint> all;
  std::vector<LoopRow> rows;
  const auto n = static_cast<std::size_t>(chain->n());
  for (const Value& v : o.list("constraints").items) {
    const std::string where = item("constraints", all.size());
    const std::vector<Value>& t = items_of(v, where, 5);
    LoopConstraint c;
    if (t[0].kind == Kind::text) c.name = t[0].text;
    c.placed = t[1].kind != Kind::null;
    if (c.placed) c.a = loop_side_of(*chain, t[1], where), c.b = loop_side_of(*chain, t[2], where);
    c.coefficients.assign(n, 0.0);
    if (t[3].kind != Kind::null) {
      const std::vector<Value>& k = items_of(t[3], where, n);
      for (std::size_t b = 0; b < n; ++b)
        c.coefficients[b] = number_of(k[static_cast<std::size_t>(chain->user_index()[b])], where);
    }
    c.first = static_cast<int>(rows.size());
    if (t[4].kind != Kind::list || t[4].items.empty() || t[4].items.size() > 6) fail(where, "has no equations, or too many");
    for (const Value& row : t[4].items) {
      rows.push_back(loop_row_of(row, where));
      if (c.placed == (rows.back().type == RowType::coupling)) fail(where, "has an equation of another kind of constraint");
    }
    c.count = static_cast<int>(rows.size()) - c.first;
    all.push_back(std::move(c));
  }
  const std::size_t count = rows.size();
  if (count == 0) fail("loops", "has no constraints");
  const double length = o.number("length"), open = o.number("open");
  if (!(length > 0 && open > 0)) fail("loops", "length or open is not positive");
  auto linkage = std::make_shared<Linkage>(chain, length, open, 0, std::move(all), std::move(rows));
  const Object chosen(o.at("choice", "an object"), "choice", {"active", "redundant", "zero"});
  RowChoice choice;
  std::vector<char> seen(count);
  for (const auto& [key, to] : {std::pair{"active", &choice.active}, std::pair{"redundant", &choice.redundant}})
    for (const Value& v : chosen.list(key).items) {
      const int row = count_of(v, "choice", 0, static_cast<int>(count) - 1);
      if (seen[static_cast<std::size_t>(row)]++) fail("choice", "names a row twice");
      to->push_back(row);
    }
  if (choice.active.size() + choice.redundant.size() != count) fail("choice", "does not name every row");
  if (choice.active.size() > n) fail("choice", "has more active rows than joints");
  choice.zero = chosen.whole("zero", 0, 0, static_cast<int>(choice.redundant.size()));
  choice.assign_roles();
  linkage->choose(std::move(choice));
  return linkage;
}

// ---- dockings

RingShape shape_of(const Value& v, const std::string& where) {
  const std::vector<Value>& t = items_of(v, where, 17);
  const auto x = [&](std::size_t i) { return number_of(t[i], where); };
  RingShape s;
  if (t[0].kind != Kind::list || t[0].items.empty() || t[0].items.size() > docking::kMostLatches)
    fail(where, "has " + json::shown(t[0]) + ", expected the angles of 1 to 16 petals");
  for (const Value& angle : t[0].items) s.angles.push_back(number_of(angle, where));
  s.sign = x(1) != 0 ? 1 : -1;
  s.root_radius = x(2), s.tip_radius = x(3), s.height = x(4), s.root_half_angle = x(5), s.tip_half_angle = x(6);
  s.edge_radius = x(7), s.face_radius = x(8), s.face_half_width = x(9);
  s.fillet = x(10), s.window = x(11), s.extension = x(12), s.thickness = x(13);
  if (!(s.height > 0)) fail(where, "has a height that is not positive");
  s.edge_nodes = count_of(t[14], where, 1, 1000), s.side_nodes = count_of(t[15], where, 1, 1000);
  s.face_nodes = count_of(t[16], where, 1, 1000);
  return s;
}

docking::Move move_of(const Value& v, const std::string& where) {
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Value>& t = items_of(v, where, 7);
  docking::Move m;
  m.target = number_of(t[0], where), m.speed = number_of(t[1], where), m.stiffness = number_of(t[2], where);
  m.damping = number_of(t[3], where), m.tolerance = number_of(t[4], where), m.limit = number_of(t[5], where, &kNever);
  m.start = number_of(t[6], where, &kNone);
  if (!(m.speed > 0 && m.limit >= 0)) fail(where, "has a speed or a limit that is not positive");
  return m;
}

std::shared_ptr<const DockingModel> docking_of(const Value& value) {
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  const Object o(value, "docking",
                 {"format", "version", "name", "scenario", "a", "b", "contact_on", "contact", "range", "latches", "phases",
                  "thrusts", "holds"});
  o.require("zveno.docking");
  auto model = std::make_shared<DockingModel>();
  model->name = o.text("name");
  docking::Setup& s = model->setup;
  for (int k = 0; k < 2; ++k) {
    const char* key = k ? "b" : "a";
    const std::string where = std::string("vehicle '") + key + "'";
    const Object v(
        o.at(key, "a vehicle"), where,
        {"body", "interface", "ring", "offset", "r", "q", "ready", "attenuation", "common", "alignment", "retraction"});
    docking::VehicleSetup& to = s.vehicle[k];
    to.body = body_of_value(v.at("body", "a body"), where + ": body");
    if (!(to.body.mass > 0)) fail(where, "has no mass");
    to.shape = shape_of(v.at("interface", "a list"), where + ": interface");
    if (!v.find("ring")) continue;
    std::vector<double> nominal;
    model->ring[k] = hexapod_of(v.at("ring", "a hexapod"), nominal);
    to.ring = model->ring[k].get();
    to.offset = v.number("offset");
    v.numbers("r", 3, to.r), v.numbers("q", 4, to.q);
    for (const auto& [name, laws] :
         {std::pair{"ready", &to.ready}, std::pair{"attenuation", &to.attenuation}, std::pair{"common", &to.common}})
      *laws = laws_of(v, kLegs, name);
    to.alignment = move_of(v.at("alignment", "a list"), where + ": alignment");
    to.retraction = move_of(v.at("retraction", "a list"), where + ": retraction");
  }
  s.contact = o.truth("contact_on");
  const std::vector<Value>& c = items_of(o.at("contact", "a list"), "contact", 11);
  double x[11];
  for (std::size_t i = 0; i < 11; ++i) x[i] = number_of(c[i], "contact");
  s.law.edge = x[0], s.law.side = x[1], s.law.face = x[2], s.law.blend = x[3];
  std::fill_n(s.law.damping, kFeatures, x[4]);
  s.law.friction = x[5], s.law.creep_speed = x[6], s.law.hertz = x[7] > 1.25, s.law.sticking = x[8] != 0;
  s.law.mass = x[9], s.law.rebound = x[10];
  s.range = o.find("range") ? o.number("range") : kNever;
  const std::vector<Value>& l = items_of(o.at("latches", "a list"), "latches", 10);
  const auto latch = [&](std::size_t i) { return number_of(l[i], "latches", &kNever); };
  s.latches = {latch(0) != 0, count_of(l[1], "latches", 0, docking::kMostLatches),
               latch(2),      latch(3),
               latch(4),      latch(5),
               latch(6),      latch(7),
               latch(8),      latch(9)};
  const std::vector<Value>& p = items_of(o.at("phases", "a list"), "phases", 6);
  if (p[0].kind != Kind::list) fail("phases", "has no list of phases");
  for (const Value& phase : p[0].items) s.phases.enters[count_of(phase, "phases", 0, docking::kPhases - 1)] = true;
  s.phases.rest_speed = number_of(p[1], "phases"), s.phases.rest_rate = number_of(p[2], "phases");
  s.phases.dwell = number_of(p[3], "phases"), s.phases.attenuation_time = number_of(p[4], "phases", &kNever);
  s.phases.move_time = number_of(p[5], "phases", &kNever);
  for (const Value& v : o.list("thrusts").items) {
    const std::vector<Value>& t = items_of(v, "thrusts", 5);
    docking::ThrustSetup thrust;
    thrust.vehicle = count_of(t[0], "thrusts", 0, 1);
    const std::vector<Value>& wrench = items_of(t[1], "thrusts", 6);
    for (std::size_t i = 0; i < 6; ++i) thrust.wrench[i] = number_of(wrench[i], "thrusts");
    thrust.start = static_cast<docking::ThrustSetup::Start>(count_of(t[2], "thrusts", 0, 2));
    thrust.delay = number_of(t[3], "thrusts"), thrust.duration = number_of(t[4], "thrusts", &kNever);
    if (!(thrust.delay >= 0 && thrust.duration >= 0)) fail("thrusts", "has a negative time");
    s.thrusts.push_back(thrust);
  }
  for (const Value& v : o.list("holds").items) {
    const std::vector<Value>& t = items_of(v, "holds", 6);
    const auto y = [&](std::size_t i) { return number_of(t[i], "holds", &kNever); };
    s.holds.push_back({count_of(t[0], "holds", 0, 1), y(1), y(2), y(3), y(4), y(5)});
    if (!(s.holds.back().period > 0 && s.holds.back().period <= 1e6)) fail("holds", "has a period that is not positive");
  }
  return model;
}

// ---- sensors

Sensor sensor_of(const std::string& input, const Value& value) {
  const std::string where = "sensor of '" + input.substr(0, 60) + "'";
  const Object o(value, where, {"turns", "rotation", "position", "mass", "com", "gravity", "tare", "dead_band", "lag"});
  Sensor s;
  s.input = input;
  s.turns = !o.find("turns") || o.truth("turns");
  s.R = o.matrix("rotation", s.R);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      double product = 0;
      for (int k = 0; k < 3; ++k) product += s.R(k, i) * s.R(k, j);
      if (!(std::fabs(product - (i == j)) < 1e-6)) fail(where, "rotation is no rotation");
    }
  s.p = o.vector("position", s.p);
  s.mass = o.amount("mass");
  s.com = o.vector("com", s.com), s.gravity = o.vector("gravity", s.gravity);
  if (o.find("tare")) o.numbers("tare", 6, s.tare);
  if (o.find("dead_band")) o.numbers("dead_band", 6, s.dead_band);
  for (const double x : s.dead_band)
    if (!(x >= 0)) fail(where, "dead_band is negative");
  s.lag = o.amount("lag");
  return s;
}

// ---- starts

void require_finite(const std::string& where, const std::vector<double>& x) {
  for (const double v : x)
    if (!std::isfinite(v)) fail(where, "has a number that is not finite");
}

void read_start(const Object& o, const std::vector<double>& nominal, Description& d) {
  const Value* given = o.find("start");
  Value none;
  none.kind = Kind::object;
  if (d.docking) {
    static constexpr const char* kNames[] = {"closing", "offset", "tilt", "roll", "lateral", "rate", "gap"};
    d.start.reserve(20);
    static constexpr std::size_t kSizes[] = {1, 2, 2, 1, 2, 3, 1};
    const Object start(given ? *given : none, "start",
                       {"closing", "offset", "tilt", "roll", "lateral", "rate", "gap", "factors"});
    for (int i = 0; i < 7; ++i) {
      double x[3] = {};
      if (kSizes[i] == 1)
        x[0] = start.number(kNames[i]);
      else
        start.numbers(kNames[i], kSizes[i], x);
      d.start.insert(d.start.end(), x, x + kSizes[i]);
    }
    double factors[docking::Factors::kNumbers] = {1, 1, 1, 1, 1, 1, 1, 1};
    if (start.find("factors")) start.numbers("factors", docking::Factors::kNumbers, factors);
    for (const double x : factors)
      if (!(x > 0)) fail("start", "has a factor that is not positive");
    d.start.insert(d.start.end(), factors, factors + docking::Factors::kNumbers);
  } else if (d.chain) {
    const auto n = static_cast<std::size_t>(d.chain->n());
    d.start.assign(2 * n, 0.0);
    const Object start(given ? *given : none, "start", {"q", "qd"});
    if (start.find("q")) start.numbers("q", n, d.start.data());
    if (start.find("qd")) start.numbers("qd", n, d.start.data() + n);
  } else {
    d.start.assign(13, 0.0);
    const Object start(given ? *given : none, "start", {"r", "quaternion", "u"});
    if (start.find("r")) {
      start.numbers("r", 3, d.start.data()), start.numbers("quaternion", 4, d.start.data() + 3);
      double square = 0;
      for (int i = 3; i < 7; ++i) square += d.start[static_cast<std::size_t>(i)] * d.start[static_cast<std::size_t>(i)];
      if (!(std::fabs(square - 1) < 1e-6)) fail("start", "quaternion is no rotation: the sum of its squares is not 1");
    } else if (!nominal.empty()) {
      std::copy_n(nominal.data(), 3, d.start.data()), quaternion(nominal.data() + 3, d.start.data() + 3);
    } else {
      fail("start", "r is missing, and the hexapod has no nominal pose");
    }
    if (start.find("u")) start.numbers("u", 6, d.start.data() + 7);
  }
  require_finite("start", d.start);
}

}  // namespace

const std::string& name_of(const Description& d) {
  return d.docking ? d.docking->name : d.chain ? d.chain->name() : d.hexapod->name();
}
const char* kind_of(const Description& d) {
  return d.docking ? "docking" : d.linkage ? "linkage" : d.chain ? "chain" : "hexapod";
}

Description read_description(std::string_view text) {
  std::string_view urdf = looks_like_xml(text) ? text : std::string_view();
  const Value value = urdf.empty() ? json::parse(text) : Value{};
  if (urdf.empty() && value.kind != Kind::object) fail("rig", "is " + json::shown(value) + ", expected an object");
  const Value* format = value.find("format");
  const std::string kind = format && format->kind == Kind::text ? format->text : "";
  Value bare;
  const Value *model = &value, *rig = &value;
  if (kind == "zveno.linkage" || kind == "zveno.docking")
    fail("rig", "a file of a " + kind.substr(6) + " alone does not say how to compute with it: save_rig of Python does");
  if (kind == "zveno.chain" || kind == "zveno.hexapod" || !urdf.empty()) {  // a model alone: all else as by default
    bare.kind = Kind::object;
    rig = &bare;
  } else if (kind != "zveno.rig") {
    refuse("rig", "format", format, "'zveno.rig', 'zveno.chain' or 'zveno.hexapod'");
  }
  const Object o(*rig, "rig",
                 {"format", "version", "model", "period", "substeps", "method", "laws", "start", "external", "poses",
                  "base_motion", "most_held", "jump", "servo", "note", "loops", "contact_input", "sensor", "outputs"});
  if (rig != &bare) {
    o.require("zveno.rig");
    model = &o.at("model", "a mechanism");
    if (model->kind == Kind::text && looks_like_xml(model->text)) urdf = model->text;
  }
  const Value* its = model->kind == Kind::object ? model->find("format") : nullptr;
  Description d;
  std::vector<double> nominal;
  if (!urdf.empty())
    d.chain = chain_of_urdf(urdf);
  else if (its && its->kind == Kind::text && its->text == "zveno.chain")
    d.chain = chain_of(*model);
  else if (its && its->kind == Kind::text && its->text == "zveno.hexapod")
    d.hexapod = hexapod_of(*model, nominal);
  else if (its && its->kind == Kind::text && its->text == "zveno.docking")
    d.docking = docking_of(*model);
  else if (its && its->kind == Kind::text && its->text == "zveno.linkage")
    d.chain =
        chain_of(Object(*model, "linkage", {"format", "version", "chain", "constraints", "length"}).at("chain", "a chain")),
    d.linkage = linkage_of(d.chain, o.at("loops", "the equations of the constraints"));
  else
    refuse("model", "format", its, "'zveno.chain', 'zveno.hexapod', 'zveno.linkage' or 'zveno.docking'");
  if (o.find("loops") && !d.linkage) fail("rig", "loops are of linkages");
  if (d.chain && d.chain->n() == 0) fail("chain", "has no moving joint");

  d.period = o.number("period", d.period);
  if (!(d.period > 0 && d.period <= 1e6)) refuse("rig", "period", o.find("period"), "a number > 0 and at most 1e6, s");
  d.substeps = o.whole("substeps", 1, 1, 10000);
  const std::string method = o.text("method", "rk4");
  if (method != "rk4" && method != "semi-implicit") refuse("rig", "method", o.find("method"), "'rk4' or 'semi-implicit'");
  d.semi_implicit = method != "rk4";
  if (d.docking)
    for (const char* key : {"laws", "external", "poses", "base_motion", "servo"})
      if (o.find(key)) fail("rig", std::string(key) + " is given, but the model is a docking");
  if (d.docking && d.semi_implicit) fail("rig", "method is 'semi-implicit', expected 'rk4' for a docking");
  d.laws = laws_of(o, d.chain ? static_cast<std::size_t>(d.chain->n()) : kLegs);
  read_start(o, nominal, d);
  d.external = o.names("external"), d.poses = o.names("poses"), d.outputs = o.names("outputs", "output");
  if (o.find("outputs") && d.outputs.empty()) fail("rig", "outputs is empty, expected null or names of outputs");
  if (!d.chain && !(d.external.empty() && d.poses.empty()))
    fail("rig", "external and poses are of chains, and the model is a hexapod");
  for (const auto* names : {&d.external, &d.poses})
    for (const std::string& name : *names)
      if (const int link = d.chain->find_link(name); link == Chain::kNoLink || link == Chain::kBase)
        fail("rig", "there is no link '" + name.substr(0, 60) + "' in chain '" + d.chain->name() + "'");
  d.base_motion = o.truth("base_motion");
  d.contact_input = o.truth("contact_input");
  if (d.contact_input && !d.docking) fail("rig", "contact_input is of dockings");
  if (const Value* sensor = o.find("sensor")) {
    if (sensor->kind != Kind::object) refuse("rig", "sensor", sensor, "an object: sensors by input");
    for (const auto& [name, v] : sensor->members) d.sensors.push_back(sensor_of(name, v));
  }
  if (const Value* servo = o.find("servo")) {
    const Object gains(*servo, "servo", {"stiffness", "damping", "limit"});
    d.servo = true;
    d.gains = {gains.amount("stiffness"), gains.amount("damping"), std::numeric_limits<double>::infinity()};
    if (gains.find("limit")) d.gains.limit = gains.number("limit");
    if (!(d.gains.limit > 0)) fail("servo", "limit is not positive");
  }
  d.most_held = o.whole("most_held", 0, 0, 1000000000);
  if (const Value* jump = o.find("jump")) {
    if (jump->kind != Kind::object) refuse("rig", "jump", jump, "an object: numbers by input");
    for (const auto& [name, v] : jump->members) {
      if (v.kind != Kind::number || !(v.number > 0))
        fail("jump", "'" + name.substr(0, 60) + "' is " + json::shown(v) + ", expected a number > 0");
      d.jumps.emplace_back(name, v.number);
    }
  }
  return d;
}

}  // namespace zveno
