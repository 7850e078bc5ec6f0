#include <zveno/rig/json.hpp>

#include <cstdio>
#include <unordered_set>

namespace zveno::json {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Value whole() {
    if (text_.substr(0, 3) == "\xef\xbb\xbf") at_ = 3;
    Value value = read(0);
    skip();
    if (at_ < text_.size()) fail("more text after its end");
    return value;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    std::size_t line = 1, column = 1;
    for (std::size_t i = 0; i < at_ && i < text_.size(); ++i) text_[i] == '\n' ? (++line, column = 1) : ++column;
    const char* cut = at_ >= text_.size() ? ": the text is cut short" : "";
    throw TextError("not JSON: " + what + " at line " + std::to_string(line) + ", column " + std::to_string(column) + cut);
  }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      ++at_;
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void expect(char c) {
    if (at_ >= text_.size() || text_[at_] != c) fail(std::string("expected '") + c + "'");
    ++at_;
  }
  bool word(std::string_view w) {
    if (text_.substr(at_, w.size()) != w) return false;
    at_ += w.size();
    return true;
  }

  Value read(int depth) {
    if (depth > kDeepest) fail("nested too deeply");
    if (++values_ > kMostValues) fail("more than a million values");
    skip();
    Value v;
    switch (peek()) {
      case '{': return object(depth);
      case '[':
        v.kind = Value::Kind::list;
        ++at_;
        for (skip(); peek() != ']'; skip()) {
          if (!v.items.empty()) expect(',');
          v.items.push_back(read(depth + 1));
        }
        ++at_;
        return v;
      case '"':
        v.kind = Value::Kind::text;
        v.text = string();
        return v;
      default: break;
    }
    if (word("null")) return v;
    v.kind = Value::Kind::boolean;
    if (word("true")) return v.truth = true, v;
    if (word("false")) return v;
    v.kind = Value::Kind::number;
    v.number = number();
    return v;
  }

  Value object(int depth) {
    Value v;
    v.kind = Value::Kind::object;
    std::unordered_set<std::string> keys;
    ++at_;
    for (skip(); peek() != '}'; skip()) {
      if (!v.members.empty()) expect(','), skip();
      if (peek() != '"') fail("expected a key");
      std::string key = string();
      if (!keys.insert(key).second) fail("the key '" + key.substr(0, 60) + "' stands twice");
      skip();
      expect(':');
      v.members.emplace_back(std::move(key), read(depth + 1));
    }
    ++at_;
    return v;
  }

  unsigned hex() {
    unsigned code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = peek();
      code *= 16;
      if (c >= '0' && c <= '9')
        code += static_cast<unsigned>(c - '0');
      else if (c >= 'a' && c <= 'f')
        code += static_cast<unsigned>(c - 'a' + 10);
      else if (c >= 'A' && c <= 'F')
        code += static_cast<unsigned>(c - 'A' + 10);
      else
        fail("expected four hexadecimal digits");
    }
    return code;
  }

  std::string string() {
    std::string out;
    expect('"');
    while (true) {
      if (at_ >= text_.size()) fail("a string without its end");
      const char c = text_[at_];
      if (c == '"') return ++at_, out;
      if (static_cast<unsigned char>(c) < 0x20) fail("a control character in a string");
      if (c != '\\') {
        character(out);
        continue;
      }
      ++at_;
      const char e = peek();
      ++at_;
      switch (e) {
        case '"': out += '"'; break;
        case '\\': out += '\\'; break;
        case '/': out += '/'; break;
        case 'b': out += '\b'; break;
        case 'f': out += '\f'; break;
        case 'n': out += '\n'; break;
        case 'r': out += '\r'; break;
        case 't': out += '\t'; break;
        case 'u': escaped(out); break;
        default: --at_, fail("an unknown escape");
      }
    }
  }

  void escaped(std::string& out) {
    unsigned c = hex();
    if (c >= 0xdc00 && c < 0xe000) fail("half of a character");
    if (c >= 0xd800 && c < 0xdc00) {
      if (!word("\\u")) fail("half of a character");
      const unsigned low = hex();
      if (low < 0xdc00 || low >= 0xe000) fail("half of a character");
      c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    }
    if (c == 0) fail("a zero in a string");  // names go to C
    put_character(out, c);
  }

  void character(std::string& out) {
    unsigned c;
    const std::size_t bytes = read_character(text_, at_, c);
    if (bytes == 0) fail("not UTF-8");
    out.append(text_.substr(at_, bytes));
    at_ += bytes;
  }

  static bool digit(char c) { return c >= '0' && c <= '9'; }
  void digits() {
    if (!digit(peek())) fail("expected a value");
    while (digit(peek())) ++at_;
  }

  double number() {
    const std::size_t begin = at_;
    if (peek() == '-') ++at_;
    if (peek() == '0')
      ++at_;
    else
      digits();
    if (peek() == '.') ++at_, digits();
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      digits();
    }
    double x = 0;
    if (!read_number(text_.substr(begin, at_ - begin), x)) at_ = begin, fail("a number that is too large or small");
    return x + 0.0;  // no negative zeros
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t values_ = 0;
};

}  // namespace

Value parse(std::string_view text) {
  if (text.size() > kMostBytes) throw TextError("not JSON of zveno: more than 64 MiB");
  if (text.find('\0') != text.npos) throw TextError("not JSON: a zero byte");
  return Reader(text).whole();
}

std::string shown(const Value& v) {
  char buffer[40];
  switch (v.kind) {
    case Value::Kind::null: return "null";
    case Value::Kind::boolean: return v.truth ? "true" : "false";
    case Value::Kind::number: std::snprintf(buffer, sizeof buffer, "%.6g", v.number); return buffer;
    case Value::Kind::text: return "'" + v.text.substr(0, 60) + (v.text.size() > 60 ? "...'" : "'");
    case Value::Kind::list: return "a list of " + std::to_string(v.items.size());
    default: return "an object";
  }
}

}  // namespace zveno::json
