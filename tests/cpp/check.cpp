// Runs the laws of the files named on the command line, or all of them.
#include "check.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <mutex>
#include <vector>

namespace check {
namespace {

struct Case {
  std::string file, name;
  Law law;
};

std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

std::mutex mutex;
int failures = 0;  // of the law that runs
constexpr int kMostPrinted = 10;

std::string stem(const std::string& path) {
  const std::size_t slash = path.find_last_of("/\\"), begin = slash == std::string::npos ? 0 : slash + 1;
  return path.substr(begin, path.find_last_of('.') - begin);
}

std::uint64_t bits(double x) {
  std::uint64_t b;
  std::memcpy(&b, &x, sizeof b);
  return b;
}

}  // namespace

Registration::Registration(const char* file, const char* name, Law law) { cases().push_back({stem(file), name, law}); }

void fail(const char* file, int line, const std::string& what) {
  const std::lock_guard lock(mutex);
  if (++failures <= kMostPrinted) std::printf("%s:%d: %s\n", file, line, what.c_str());
}

bool same_bits(double a, double b) { return bits(a) == bits(b); }

std::string text(double x) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.17g (%016llx)", x, static_cast<unsigned long long>(bits(x)));
  return buffer;
}

void same(const char* file, int line, const std::string& what, const double* got, const double* expected,
          std::ptrdiff_t count) {
  for (std::ptrdiff_t i = 0; i < count; ++i)
    if (!same_bits(got[i], expected[i]))
      return fail(file, line, what + ": element " + text(i) + " is " + text(got[i]) + ", expected " + text(expected[i]));
}

void near(const char* file, int line, const std::string& what, const double* got, const double* expected,
          std::ptrdiff_t count, double tolerance) {
  double scale = 1;
  for (std::ptrdiff_t i = 0; i < count; ++i) scale = std::max(scale, std::fabs(expected[i]));
  for (std::ptrdiff_t i = 0; i < count; ++i)
    if (!(std::fabs(got[i] - expected[i]) <= tolerance * scale))
      return fail(file, line,
                  what + ": element " + text(i) + " is " + text(got[i]) + ", expected " + text(expected[i]) + " to " +
                      text(tolerance * scale));
}

}  // namespace check

int main(int argc, char** argv) {
  const std::vector<std::string> wanted(argv + 1, argv + argc);
  int run = 0, failed = 0;
  for (const check::Case& c : check::cases()) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), c.file) == wanted.end()) continue;
    check::failures = 0;
    const auto start = std::chrono::steady_clock::now();
    try {
      c.law();
    } catch (const std::exception& e) {
      check::fail(c.file.c_str(), 0, std::string("unexpected exception: ") + e.what());
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%s %s/%s %.2f s\n", check::failures ? "FAIL" : "pass", c.file.c_str(), c.name.c_str(), seconds);
    std::fflush(stdout);
    ++run;
    failed += check::failures != 0;
  }
  std::printf("%d laws, %d failed\n", run, failed);
  return run == 0 || failed != 0;
}
