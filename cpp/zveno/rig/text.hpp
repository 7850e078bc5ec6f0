// What readers of untrusted text share: characters of UTF-8, decimal numbers, the error that says where.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

namespace zveno {

// text that is not what it should be: where it is wrong
class TextError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

constexpr std::size_t kMostBytes = std::size_t{64} << 20;

// Reads the character at text[at]; returns how many bytes it has, 0 if they are not UTF-8.
std::size_t read_character(std::string_view text, std::size_t at, unsigned& character);
void put_character(std::string& out, unsigned character);

// A decimal number that fills `text`, digits first; false: it is none, or too large or small for a double.
bool read_number(std::string_view text, double& x);

// for messages: one string of several, in less code than sums of them; the first bytes of a name
std::string joined(std::initializer_list<std::string_view> parts);
std::string shortened(std::string_view text);

}  // namespace zveno
