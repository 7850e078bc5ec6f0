#include <zveno/rig/description.hpp>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <set>

#include <zveno/math/quaternion.hpp>
#include <zveno/rig/json.hpp>

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
  std::vector<std::string> names(const char* key) const {
    std::vector<std::string> out;
    if (!find(key)) return out;
    for (const Value& v : list(key).items) {
      if (v.kind != Kind::text) refuse(where_, key, &v, "names of links");
      out.push_back(v.text);
    }
    if (std::set<std::string>(out.begin(), out.end()).size() != out.size())
      fail(where_, std::string(key) + " names a link twice");
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

std::vector<JointLaw> laws_of(const Object& o, std::size_t count) {
  std::vector<JointLaw> laws(count);
  if (!o.find("laws")) return laws;
  const Value& all = o.list("laws");
  if (all.items.size() != count)
    fail(o.where(), "laws has " + std::to_string(all.items.size()) + " entries, expected " + std::to_string(count));
  for (std::size_t k = 0; k < count; ++k) {
    const Value& v = all.items[k];
    if (v.kind == Kind::null) continue;
    const std::string where = item("laws", k);
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

// ---- starts

void require_finite(const std::string& where, const std::vector<double>& x) {
  for (const double v : x)
    if (!std::isfinite(v)) fail(where, "has a number that is not finite");
}

void read_start(const Object& o, const std::vector<double>& nominal, Description& d) {
  const Value* given = o.find("start");
  Value none;
  none.kind = Kind::object;
  if (d.chain) {
    const auto n = static_cast<std::size_t>(d.chain->n());
    d.start.assign(2 * n, 0.0);
    const Object start(given ? *given : none, "start", {"q", "qd"});
    if (start.find("q")) start.numbers("q", n, d.start.data());
    if (start.find("qd")) start.numbers("qd", n, d.start.data() + n);
  } else {
    d.start.assign(13, 0.0);
    const Object start(given ? *given : none, "start", {"r", "quaternion", "u"});
    if (start.find("r"))
      start.numbers("r", 3, d.start.data()), start.numbers("quaternion", 4, d.start.data() + 3);
    else if (!nominal.empty())
      std::copy_n(nominal.data(), 3, d.start.data()), quaternion(nominal.data() + 3, d.start.data() + 3);
    else
      fail("start", "r is missing, and the hexapod has no nominal pose");
    if (start.find("u")) start.numbers("u", 6, d.start.data() + 7);
  }
  require_finite("start", d.start);
}

}  // namespace

Description read_description(std::string_view text) {
  const Value value = json::parse(text);
  if (value.kind != Kind::object) fail("rig", "is " + json::shown(value) + ", expected an object");
  const Value* format = value.find("format");
  const std::string kind = format && format->kind == Kind::text ? format->text : "";
  Value bare;
  const Value *model = &value, *rig = &value;
  if (kind == "zveno.chain" || kind == "zveno.hexapod") {  // a model alone: everything else as by default
    bare.kind = Kind::object;
    rig = &bare;
  } else if (kind != "zveno.rig") {
    refuse("rig", "format", format, "'zveno.rig', 'zveno.chain' or 'zveno.hexapod'");
  }
  const Object o(*rig, "rig",
                 {"format", "version", "model", "period", "substeps", "method", "laws", "start", "external", "poses",
                  "base_motion", "most_held", "jump", "servo", "note"});
  if (rig != &bare) {
    o.require("zveno.rig");
    model = &o.at("model", "a chain or a hexapod");
  }
  const Value* its = model->kind == Kind::object ? model->find("format") : nullptr;
  Description d;
  std::vector<double> nominal;
  if (its && its->kind == Kind::text && its->text == "zveno.chain")
    d.chain = chain_of(*model);
  else if (its && its->kind == Kind::text && its->text == "zveno.hexapod")
    d.hexapod = hexapod_of(*model, nominal);
  else
    refuse("model", "format", its, "'zveno.chain' or 'zveno.hexapod'");
  if (d.chain && d.chain->n() == 0) fail("chain", "has no moving joint");

  d.period = o.number("period", d.period);
  if (!(d.period > 0 && d.period <= 1e6)) refuse("rig", "period", o.find("period"), "a number > 0, s");
  d.substeps = o.whole("substeps", 1, 1, 10000);
  const std::string method = o.text("method", "rk4");
  if (method != "rk4" && method != "semi-implicit") refuse("rig", "method", o.find("method"), "'rk4' or 'semi-implicit'");
  d.semi_implicit = method != "rk4";
  d.laws = laws_of(o, d.chain ? static_cast<std::size_t>(d.chain->n()) : kLegs);
  read_start(o, nominal, d);
  d.external = o.names("external"), d.poses = o.names("poses");
  if (d.hexapod && !(d.external.empty() && d.poses.empty()))
    fail("rig", "external and poses are of chains, and the model is a hexapod");
  for (const auto* names : {&d.external, &d.poses})
    for (const std::string& name : *names)
      if (const int link = d.chain->find_link(name); link == Chain::kNoLink || link == Chain::kBase)
        fail("rig", "there is no link '" + name.substr(0, 60) + "' in chain '" + d.chain->name() + "'");
  d.base_motion = o.truth("base_motion");
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
