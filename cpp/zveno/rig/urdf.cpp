#include <zveno/rig/urdf.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>
#include <vector>

#include <zveno/rig/text.hpp>

namespace zveno {
namespace {

constexpr std::size_t kMostElements = 1000000;
constexpr std::size_t kDeepest = 64;

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool allowed(unsigned c) { return c >= 0x20 ? c != 0xfffe && c != 0xffff : c == '\t' || c == '\n' || c == '\r'; }
// of tags and keys: all that URDF knows are ASCII
bool name_character(char c, bool first) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':') return true;
  return !first && ((c >= '0' && c <= '9') || c == '-' || c == '.');
}

// ---- XML: elements in the order of the text, attributes as they stand there

struct Attribute {
  std::string_view key, raw;
};

struct Element {
  std::string_view tag;
  std::size_t line;
  std::size_t parent;             // of the first one: itself
  std::size_t end;                // behind the last element inside
  std::size_t attribute, behind;  // where its attributes are
};

struct Document {
  std::vector<Element> elements;
  std::vector<Attribute> attributes;
};

// What stands for a character between & and ;. False: nothing that is known here.
bool read_reference(std::string_view name, unsigned& c) {
  static constexpr std::pair<std::string_view, char> kNamed[] = {
      {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
  for (const auto& [known, meant] : kNamed)
    if (name == known) return c = static_cast<unsigned char>(meant), true;
  if (name.size() < 2 || name[0] != '#') return false;
  const bool hex = name[1] == 'x';
  const unsigned base = hex ? 16 : 10;
  const std::string_view digits = name.substr(hex ? 2 : 1);
  if (digits.empty()) return false;
  c = 0;
  for (const char x : digits) {
    const unsigned digit = x >= '0' && x <= '9'   ? static_cast<unsigned>(x - '0')
                           : x >= 'a' && x <= 'f' ? static_cast<unsigned>(x - 'a' + 10)
                           : x >= 'A' && x <= 'F' ? static_cast<unsigned>(x - 'A' + 10)
                                                  : 16;
    if (digit >= base) return false;
    c = c * base + digit;
    if (c > 0x10ffff) return false;
  }
  return allowed(c) && !(c >= 0xd800 && c < 0xe000);
}

// A value that Xml has checked.
std::string decoded(std::string_view raw) {
  std::string out;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] == '&') {
      unsigned c = 0;
      const std::size_t end = raw.find(';', i);
      read_reference(raw.substr(i + 1, end - i - 1), c);
      put_character(out, c);
      i = end;
    } else if (raw[i] == '\r' && i + 1 < raw.size() && raw[i + 1] == '\n') {
      continue;  // one end of a line
    } else {
      out += blank(raw[i]) ? ' ' : raw[i];
    }
  }
  return out;
}

class Xml {
 public:
  explicit Xml(std::string_view text) : text_(text) {}

  Document whole() {
    if (begins("\xef\xbb\xbf")) at_ += 3;
    skip();
    if (begins("<?xml") && at_ + 5 < text_.size() && blank(text_[at_ + 5])) declaration();
    while (at_ < text_.size()) {
      if (text_[at_] != '<')
        characters();
      else if (begins("<!--"))
        comment();
      else if (begins("<![CDATA["))
        data();
      else if (begins("<!"))
        fail("a document type declaration is not allowed");
      else if (begins("<?"))
        instruction();
      else if (begins("</"))
        close();
      else
        open();
    }
    if (!open_.empty()) fail({"<", shortened(made_.elements[open_.back()].tag), "> has no end"});
    if (made_.elements.empty()) fail("there is no element");
    return std::move(made_);
  }

 private:
  [[noreturn]] void fail(std::initializer_list<std::string_view> what) {
    const char* cut = at_ >= text_.size() ? ": the text is cut short" : "";
    throw TextError(joined({"not XML: ", joined(what), " at line ", std::to_string(line()), cut}));
  }
  [[noreturn]] void fail(std::string_view what) { fail({what}); }
  // of at_, which never goes back
  std::size_t line() {
    line_ += static_cast<std::size_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(counted_),
                                                 text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n'));
    counted_ = at_;
    return line_;
  }
  bool begins(std::string_view word) const { return text_.substr(at_, word.size()) == word; }
  bool skip() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && blank(text_[at_])) ++at_;
    return at_ > begin;
  }
  void expect(char c) {
    if (at_ >= text_.size() || text_[at_] != c) fail({"expected '", {&c, 1}, "'"});
    ++at_;
  }
  void character() {
    unsigned c = 0;
    const std::size_t bytes = read_character(text_, at_, c);
    if (bytes == 0) fail("not UTF-8");
    if (!allowed(c)) fail("a control character");
    at_ += bytes;
  }
  void reference() {
    unsigned c;
    const std::size_t end = text_.substr(at_, 16).find(';');
    if (end == text_.npos || !read_reference(text_.substr(at_ + 1, end - 1), c)) fail("an unknown entity");
    at_ += end + 1;
  }
  // to behind `end`
  void until(std::string_view end, const char* what) {
    while (!begins(end)) {
      if (at_ >= text_.size()) fail({what, " without its end"});
      character();
    }
    at_ += end.size();
  }
  std::string_view name() {
    const std::size_t begin = at_;
    if (at_ >= text_.size() || !name_character(text_[at_], true)) fail("expected a name");
    while (at_ < text_.size() && name_character(text_[at_], false)) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  std::string_view value() {
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '"' && quote != '\'') fail("expected a value in quotes");
    const std::size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '<') fail("'<' in a value");
      text_[at_] == '&' ? reference() : character();
    }
    expect(quote);
    return text_.substr(begin, at_ - begin - 1);
  }

  // version, then encoding, then standalone
  void declaration() {
    at_ += 5;
    std::size_t next = 0;
    for (bool apart = skip(); !begins("?>"); apart = skip()) {
      static constexpr std::string_view kKeys[] = {"version", "encoding", "standalone"};
      if (!apart) fail("expected a blank");
      const std::string_view key = name();
      const std::size_t which = static_cast<std::size_t>(std::find(kKeys, kKeys + 3, key) - kKeys);
      if (which == 3 || which < next || (next == 0 && which != 0)) fail({"'", shortened(key), "' in the declaration"});
      next = which + 1;
      skip(), expect('='), skip();
      std::string said(value());
      if (which == 1)
        std::transform(said.begin(), said.end(), said.begin(),
                       [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
      if (which == 0 ? said != "1.0" : which == 1 ? said != "utf-8" && said != "us-ascii" : said != "yes" && said != "no")
        fail({"the ", key, " is '", shortened(said), which == 1 ? "', expected utf-8," : "'"});
    }
    if (next == 0) fail("a declaration without its version");
    at_ += 2;
  }
  void comment() {
    at_ += 4;
    until("--", "a comment");
    expect('>');
  }
  void data() {
    if (open_.empty()) fail("text outside of elements");
    at_ += 9;
    until("]]>", "CDATA");
  }
  void instruction() {
    at_ += 2;
    const std::string_view target = name();
    if (target.size() == 3 && (target[0] | 32) == 'x' && (target[1] | 32) == 'm' && (target[2] | 32) == 'l')
      fail("a declaration that is not the first");
    if (!begins("?>") && !skip()) fail("expected a blank");
    until("?>", "an instruction");
  }
  void characters() {
    while (at_ < text_.size() && text_[at_] != '<') {
      if (open_.empty() && !blank(text_[at_])) fail("text outside of elements");
      if (begins("]]>")) fail("']]>' in a text");
      text_[at_] == '&' ? reference() : character();
    }
  }
  void close() {
    at_ += 2;
    const std::string_view tag = name();
    skip(), expect('>');
    if (open_.empty() || made_.elements[open_.back()].tag != tag) fail({"</", shortened(tag), "> without its beginning"});
    finish();
  }
  void finish() {
    made_.elements[open_.back()].end = made_.elements.size();
    open_.pop_back();
  }
  void open() {
    Element e;
    e.line = line();
    ++at_;
    e.tag = name();
    if (open_.empty() && !made_.elements.empty()) fail({"a second root element <", shortened(e.tag), ">"});
    if (open_.size() >= kDeepest) fail({"<", shortened(e.tag), "> is nested too deeply"});
    if (made_.elements.size() >= kMostElements) fail("too many elements");
    e.parent = open_.empty() ? 0 : open_.back();
    e.attribute = made_.attributes.size();
    while (true) {
      const bool apart = skip();
      if (at_ >= text_.size() || text_[at_] == '>' || text_[at_] == '/') break;
      if (!apart) fail("expected a blank");
      const std::string_view key = name();
      for (std::size_t k = e.attribute; k < made_.attributes.size(); ++k)
        if (made_.attributes[k].key == key) fail({"the attribute '", shortened(key), "' stands twice"});
      if (made_.attributes.size() - e.attribute >= kMostAttributes) fail("too many attributes");
      skip(), expect('='), skip();
      made_.attributes.push_back({key, value()});
    }
    e.behind = made_.attributes.size();
    open_.push_back(made_.elements.size());
    made_.elements.push_back(e);
    const bool empty = at_ < text_.size() && text_[at_] == '/';
    if (empty) ++at_;
    expect('>');
    if (empty) finish();
  }

  static constexpr std::size_t kMostAttributes = 256;
  std::string_view text_;
  std::size_t at_ = 0, line_ = 1, counted_ = 0;
  Document made_;
  std::vector<std::size_t> open_;
};

// ---- URDF

double snapped(double angle) {
  constexpr double kRight = 3.14159265358979323846 / 2, kSnap = 1e-11;
  const double right = std::fabs(angle) < 100 ? kRight * std::nearbyint(angle / kRight) : angle;
  return std::fabs(angle - right) <= kSnap ? right : angle;
}

Mat3<double> about_axis(int axis, double angle) {
  const auto clean = [](double x) { return std::fabs(x) < 1e-15 ? 0.0 : x; };
  const double c = clean(std::cos(angle)), s = clean(std::sin(angle));
  const int j = (axis + 1) % 3, k = (axis + 2) % 3;
  Mat3<double> R = diagonal(1.0);
  R(j, j) = R(k, k) = c;
  R(k, j) = s, R(j, k) = -s;
  return R;
}

// sums in the order of `product` of python/zveno/_rotation.py
Mat3<double> product(const Mat3<double>& a, const Mat3<double>& b) {
  Mat3<double> r;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) r(i, j) = a(i, 0) * b(0, j) + a(i, 1) * b(1, j) + a(i, 2) * b(2, j);
  return r;
}

struct Joint {
  LinkSpec link;  // but for the body
  std::size_t child;
};

class Urdf {
 public:
  explicit Urdf(std::string_view text) : document_(Xml(text).whole()) {}

  std::shared_ptr<const Chain> chain() {
    const Element& robot = document_.elements[0];
    if (robot.tag != "robot") fail(robot, "", {"the root element is <", shortened(robot.tag), ">, expected <robot>"});
    read_links(robot);
    read_joints(robot);
    const std::size_t root = root_of();
    const std::string base = name_of(links_[root]);
    check_body(body(links_[root], who("link", base)), base, joined({"link '", base, "': "}));
    std::vector<LinkSpec> order;
    std::vector<std::size_t> pending(children_[root].rbegin(), children_[root].rend());
    while (!pending.empty()) {
      Joint& joint = joints_[pending.back()];
      pending.pop_back();
      joint.link.body = body(links_[joint.child], who("link", joint.link.name));
      order.push_back(std::move(joint.link));
      pending.insert(pending.end(), children_[joint.child].rbegin(), children_[joint.child].rend());
    }
    if (order.size() < joints_.size()) fail(robot, "", "links hang in a cycle of joints");
    if (order.empty()) fail(robot, "", "there is no joint");
    const std::string name = text(robot, "name");
    return std::make_shared<const Chain>(name.empty() ? "robot" : name, base, Vec3<double>{0, 0, -9.81}, std::move(order));
  }

 private:
  [[noreturn]] static void fail(const Element& e, std::string_view owner, std::initializer_list<std::string_view> what) {
    const char* colon = owner.empty() ? "" : ": ";
    throw ModelError("", joined({"URDF, line ", std::to_string(e.line), ": ", owner, colon, joined(what)}));
  }
  [[noreturn]] static void fail(const Element& e, std::string_view owner, std::string_view what) { fail(e, owner, {what}); }
  static std::string who(const char* what, const std::string& name) { return joined({what, " '", shortened(name), "'"}); }

  // null: there is none
  const Attribute* attribute(const Element& e, std::string_view key) const {
    for (std::size_t k = e.attribute; k < e.behind; ++k)
      if (document_.attributes[k].key == key) return &document_.attributes[k];
    return nullptr;
  }
  // empty: there is none, or it is
  std::string text(const Element& e, std::string_view key) const {
    const Attribute* a = attribute(e, key);
    return a ? decoded(a->raw) : std::string();
  }
  std::string needed(const Element& e, std::string_view key, const std::string& owner) const {
    std::string found = text(e, key);
    if (found.empty()) fail(e, owner, {"<", shortened(e.tag), "> has no ", key});
    return found;
  }
  std::string name_of(std::size_t e) const { return text(document_.elements[e], "name"); }

  // one behind the other, those inside of `e` itself
  template <class F>
  void each(const Element& e, std::string_view tag, const F& f) const {
    const auto own = static_cast<std::size_t>(&e - document_.elements.data());
    for (std::size_t k = own + 1; k < e.end; k = document_.elements[k].end)
      if (document_.elements[k].tag == tag) f(document_.elements[k], k);
  }
  // null: there is none
  const Element* only(const Element& e, std::string_view tag, const std::string& owner) const {
    const Element* found = nullptr;
    each(e, tag, [&](const Element& child, std::size_t) {
      if (found) fail(child, owner, {"a second <", tag, ">"});
      found = &child;
    });
    return found;
  }
  const Element& inside(const Element& e, std::string_view tag, const std::string& owner) const {
    const Element* found = only(e, tag, owner);
    if (!found) fail(e, owner, {"<", shortened(e.tag), "> has no <", tag, ">"});
    return *found;
  }

  // false: the attribute is absent
  bool numbers(const Element& e, std::string_view key, const std::string& owner, int count, double* x) const {
    const Attribute* a = attribute(e, key);
    if (!a) return false;
    const std::string all = decoded(a->raw);
    const auto refuse = [&](std::string_view why) {
      fail(e, owner, {"<", shortened(e.tag), " ", key, "=\"", shortened(all), "\"> is ", why});
    };
    int found = 0;
    for (std::size_t at = 0;;) {
      while (at < all.size() && blank(all[at])) ++at;
      if (at == all.size()) break;
      std::size_t end = at;
      while (end < all.size() && !blank(all[end])) ++end;
      if (found == count) found = count + 1;
      if (found > count) break;
      const std::string_view word = std::string_view(all).substr(at, end - at);
      if (!decimal(word)) refuse("not a number");
      const bool minus = word[0] == '-';
      if (!read_number(word.substr(minus || word[0] == '+'), x[found])) refuse("too large or small");
      if (minus) x[found] = -x[found];
      ++found;
      at = end;
    }
    if (found != count) refuse(count == 1 ? "not a number" : "not 3 numbers");
    return true;
  }
  // [+-]?(digits.?digits* | .digits)([eE][+-]?digits)?
  static bool decimal(std::string_view word) {
    std::size_t at = 0;
    const auto sign = [&] { at += at < word.size() && (word[at] == '+' || word[at] == '-'); };
    const auto digits = [&] {
      const std::size_t begin = at;
      while (at < word.size() && word[at] >= '0' && word[at] <= '9') ++at;
      return at - begin;
    };
    sign();
    std::size_t any = digits();
    if (at < word.size() && word[at] == '.') ++at, any += digits();
    if (any == 0) return false;
    if (at < word.size() && (word[at] == 'e' || word[at] == 'E')) {
      ++at;
      sign();
      if (digits() == 0) return false;
    }
    return at == word.size();
  }
  double number(const Element& e, std::string_view key, const std::string& owner) const {
    double x = 0;
    needed(e, key, owner);
    numbers(e, key, owner, 1, &x);
    return x;
  }
  double number(const Element& e, std::string_view key, const std::string& owner, double fallback) const {
    double x = fallback;
    numbers(e, key, owner, 1, &x);
    return x;
  }
  Vec3<double> vector(const Element& e, std::string_view key, const std::string& owner) const {
    double x[3] = {};
    numbers(e, key, owner, 3, x);
    return {x[0], x[1], x[2]};
  }

  // R = Rz(yaw) Ry(pitch) Rx(roll)
  void origin(const Element& e, const std::string& owner, Vec3<double>& position, Mat3<double>& rotation) const {
    const Element* found = only(e, "origin", owner);
    if (!found) return;
    position = vector(*found, "xyz", owner);
    const Vec3<double> rpy = vector(*found, "rpy", owner);
    const Mat3<double> x = about_axis(0, snapped(rpy.x())), y = about_axis(1, snapped(rpy.y()));
    rotation = product(product(about_axis(2, snapped(rpy.z())), y), x);
  }

  BodySpec body(std::size_t link, const std::string& owner) const {
    BodySpec body;
    const Element* inertial = only(document_.elements[link], "inertial", owner);
    if (!inertial) return body;
    Mat3<double> R = diagonal(1.0), back;
    origin(*inertial, owner, body.com, R);
    body.mass = number(inside(*inertial, "mass", owner), "value", owner);
    const Element& tensor = inside(*inertial, "inertia", owner);
    static constexpr const char* kDiagonal[3] = {"ixx", "iyy", "izz"};
    static constexpr const char* kOthers[3] = {"iyz", "ixz", "ixy"};
    Mat3<double> I;
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3, k = (i + 2) % 3;
      I(i, i) = number(tensor, kDiagonal[i], owner);
      I(j, k) = I(k, j) = number(tensor, kOthers[i], owner, 0.0);
    }
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) back(i, j) = R(j, i);
    body.inertia = product(product(R, I), back);
    return body;
  }

  void read_links(const Element& robot) {
    for (std::size_t k = 1; k < robot.end; k = document_.elements[k].end) {
      const Element& e = document_.elements[k];
      if (e.tag.substr(0, 6) == "xacro:") fail(e, "", {"<", shortened(e.tag), ">: a xacro file, expand it to URDF first"});
      if (e.tag != "link") continue;
      const std::string name = needed(e, "name", "");
      if (!index_.emplace(name, links_.size()).second) fail(e, who("link", name), "defined twice");
      links_.push_back(k);
    }
    if (links_.empty()) fail(robot, "", "<robot> has no <link>");
    children_.resize(links_.size());
    carried_.resize(links_.size());
  }

  void read_joints(const Element& robot) {
    std::unordered_map<std::string, std::size_t> names;
    each(robot, "joint", [&](const Element& e, std::size_t) {
      std::size_t parent = 0;
      Joint joint = joint_of(e, parent);
      const std::string owner = who("joint", joint.link.joint_name);
      if (!names.emplace(joint.link.joint_name, 0).second) fail(e, owner, "defined twice");
      if (carried_[joint.child]) fail(e, owner, {who("link", joint.link.name), " has two parents"});
      carried_[joint.child] = true;
      children_[parent].push_back(joints_.size());
      joints_.push_back(std::move(joint));
    });
  }

  Joint joint_of(const Element& e, std::size_t& parent) const {
    Joint joint;
    LinkSpec& link = joint.link;
    link.joint_name = needed(e, "name", "");
    const std::string owner = who("joint", link.joint_name), kind = needed(e, "type", owner);
    if (kind == "fixed")
      link.kind = LinkKind::fixed;
    else if (kind == "prismatic")
      link.kind = LinkKind::prismatic;
    else if (kind == "floating" || kind == "planar")
      fail(e, owner, {kind, " joints are not supported, only chains on a fixed base are"});
    else if (kind != "revolute" && kind != "continuous")
      fail(e, owner, {"type=\"", shortened(kind), "\" is not a joint type"});
    const auto end = [&](std::string_view tag, std::string& name) {
      const Element& found = inside(e, tag, owner);
      name = needed(found, "link", owner);
      const auto known = index_.find(name);
      if (known == index_.end())
        fail(found, owner, {"<", tag, " link=\"", shortened(name), "\"> is not a link of this file"});
      return known->second;
    };
    parent = end("parent", link.parent);
    joint.child = end("child", link.name);
    origin(e, owner, link.position, link.rotation);
    if (link.kind == LinkKind::fixed) return joint;  // the rest of a weld means nothing
    link.axis = {1, 0, 0};
    if (const Element* axis = only(e, "axis", owner)) {
      needed(*axis, "xyz", owner);
      link.axis = vector(*axis, "xyz", owner);
    }
    if (const Element* limit = only(e, "limit", owner)) {
      for (const char* key : {"velocity", "effort"})
        if (number(*limit, key, owner, 0.0) < 0) fail(*limit, owner, {key, " is negative"});
      if (kind != "continuous")
        for (const char* key : {"lower", "upper"}) number(*limit, key, owner, 0.0);
    }
    if (const Element* dynamics = only(e, "dynamics", owner))
      for (const char* key : {"damping", "friction"}) number(*dynamics, key, owner, 0.0);
    if (const Element* mimic = only(e, "mimic", owner))
      fail(*mimic, owner, "a mimic joint: Linkage.from_urdf of Python couples it, save_rig writes it for C");
    return joint;
  }

  std::size_t root_of() const {
    std::size_t root = links_.size();
    for (std::size_t k = 0; k < links_.size(); ++k) {
      if (carried_[k]) continue;
      if (root < links_.size())
        fail(document_.elements[links_[k]], who("link", name_of(links_[k])),
             "not connected: it has no parent, and is not the first");
      root = k;
    }
    if (root == links_.size())
      fail(document_.elements[links_[0]], who("link", name_of(links_[0])), "is in a cycle of joints");
    return root;
  }

  Document document_;
  std::vector<std::size_t> links_;  // elements
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<Joint> joints_;
  std::vector<std::vector<std::size_t>> children_;  // joints of each link
  std::vector<bool> carried_;
};

}  // namespace

bool looks_like_xml(std::string_view text) {
  if (text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != text.npos && text[first] == '<';
}

std::shared_ptr<const Chain> chain_of_urdf(std::string_view text) {
  if (text.size() > kMostBytes) throw TextError("not URDF: more than 64 MiB");
  return Urdf(text).chain();
}

}  // namespace zveno
