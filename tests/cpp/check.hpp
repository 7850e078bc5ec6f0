// Laws and checks. LAW(name) { ... } registers a case under the name of its file; a failing check prints file, line and
// values, the case goes on, and the process returns non-zero.
#pragma once

#include <cstddef>
#include <sstream>
#include <string>

namespace check {

using Law = void (*)();

struct Registration {
  Registration(const char* file, const char* name, Law law);
};

// counts a failure and prints it, if not too many were printed already
void fail(const char* file, int line, const std::string& text);

// the same bits; NaN equals itself, -0.0 differs from 0.0
bool same_bits(double a, double b);
// exact: shortest decimal text and the bits
std::string text(double x);
inline std::string text(const std::string& x) { return "'" + x + "'"; }
inline std::string text(const char* x) { return text(std::string(x)); }
template <class T>
std::string text(const T& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

void same(const char* file, int line, const std::string& what, const double* got, const double* expected,
          std::ptrdiff_t count);
void near(const char* file, int line, const std::string& what, const double* got, const double* expected,
          std::ptrdiff_t count, double tolerance);

}  // namespace check

#define LAW(NAME)                                                      \
  static void NAME();                                                  \
  static const check::Registration NAME##_law(__FILE__, #NAME, &NAME); \
  static void NAME()

#define CHECK(CONDITION)                                           \
  do {                                                             \
    if (!(CONDITION)) check::fail(__FILE__, __LINE__, #CONDITION); \
  } while (false)

#define CHECK_EQUAL(GOT, EXPECTED)                                                                               \
  do {                                                                                                           \
    const auto& got_ = (GOT);                                                                                    \
    const auto& expected_ = (EXPECTED);                                                                          \
    if (!(got_ == expected_))                                                                                    \
      check::fail(__FILE__, __LINE__, #GOT " is " + check::text(got_) + ", expected " + check::text(expected_)); \
  } while (false)

// arrays, bit for bit; WHAT names the case
#define CHECK_SAME(WHAT, GOT, EXPECTED, COUNT) check::same(__FILE__, __LINE__, WHAT, GOT, EXPECTED, COUNT)

// arrays, to a tolerance relative to the largest expected number (or to 1)
#define CHECK_NEAR(WHAT, GOT, EXPECTED, COUNT, TOLERANCE) \
  check::near(__FILE__, __LINE__, WHAT, GOT, EXPECTED, COUNT, TOLERANCE)

// STATEMENT throws ERROR, whose message contains TEXT; the exception is then `error` in the block that follows, which
// may be empty
#define CHECK_THROWS(STATEMENT, ERROR, TEXT, ...)                                                                \
  do {                                                                                                           \
    bool thrown_ = false;                                                                                        \
    try {                                                                                                        \
      STATEMENT;                                                                                                 \
    } catch (const ERROR& error) {                                                                               \
      thrown_ = true;                                                                                            \
      if (std::string(error.what()).find(TEXT) == std::string::npos)                                             \
        check::fail(__FILE__, __LINE__, "message " + check::text(error.what()) + " lacks " + check::text(TEXT)); \
      __VA_ARGS__;                                                                                               \
    }                                                                                                            \
    if (!thrown_) check::fail(__FILE__, __LINE__, #STATEMENT " did not throw " #ERROR);                          \
  } while (false)
