// JSON text to values, strictly: UTF-8 text, no comments, no NaN, no key twice. Text is untrusted.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <zveno/rig/text.hpp>

namespace zveno::json {

struct Value {
  enum class Kind { null, boolean, number, text, list, object };
  Kind kind = Kind::null;
  bool truth = false;
  double number = 0;
  std::string text;
  std::vector<Value> items;
  std::vector<std::pair<std::string, Value>> members;

  // of an object; null if there is none
  const Value* find(std::string_view key) const {
    for (const auto& [name, value] : members)
      if (name == key) return &value;
    return nullptr;
  }
};

constexpr int kDeepest = 32;
// a value takes a hundred bytes and more, its text two
constexpr std::size_t kMostValues = 1000000;

// throws TextError
Value parse(std::string_view text);

// a value in a message, short
std::string shown(const Value& value);

}  // namespace zveno::json
