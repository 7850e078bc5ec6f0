// Random mechanisms and states from fixed seeds, and the table of everything that can be computed with them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <zveno/functions/job.hpp>

// the same numbers on every platform, unlike the distributions of <random>
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits();
  double uniform(double low, double high);
  int below(int count);
  bool chance(double p) { return uniform(0, 1) < p; }
  std::vector<double> vector(std::ptrdiff_t count, double low = -2, double high = 2);
  zveno::Vec3<double> vector3(double size);
  zveno::Mat3<double> rotation();

 private:
  std::uint64_t state_;
};

constexpr double kPi = 3.14159265358979323846;

zveno::Mat3<double> rotation_about(const zveno::Vec3<double>& axis, double angle);

struct Wanted {
  int n = 6;  // moving joints, revolute and prismatic
  bool branching = false;
  bool shuffled = false;  // links listed in any order
  bool rotor = false, friction = false, spring = false;
};

// a physically possible link with a random placement, named `name`
zveno::LinkSpec random_link(Random& random, const std::string& name, const std::string& parent, zveno::LinkKind kind);
// every third link is a fixed one on average; some placements are multiples of a right angle, as real robots have
std::vector<zveno::LinkSpec> random_links(Random& random, const Wanted& wanted);
void shuffle(Random& random, std::vector<zveno::LinkSpec>& links);
zveno::Chain make(const std::vector<zveno::LinkSpec>& links);
// n = 1 .. most, serial and branching, with and without rotors, friction, springs and a shuffled order
std::vector<Wanted> mechanisms(int most);

struct NamedJob {
  std::string name;
  zveno::Job job;
};

// arrays that a function takes, the motion of the base left out
std::vector<zveno::Param> arrays_of(zveno::Function function);

// Every function, every method that `chain` allows, both axes; `loads` are the frames of external wrenches (may be empty)
// and must outlive the jobs. Frames of interest: the base, and the tip's.
std::vector<NamedJob> every_job(const zveno::Chain& chain, const std::vector<zveno::LinkFrame>& loads);
// frames of some of the links, the base among them
std::vector<zveno::LinkFrame> random_loads(Random& random, const zveno::Chain& chain);

// The states of a batch as evaluate() wants them: `x[k]` holds q, qd, third row by row, `external` the wrenches of all
// frames of a state side by side. A stride of 0 repeats the first row.
class States {
 public:
  States(const zveno::Job& job, const double* const (&x)[3], const double* external, std::ptrdiff_t count,
         bool repeat_rates = false, bool repeat_external = false);
  // rows [first, first + count) into `out`, one array per result
  zveno::Rows rows(std::ptrdiff_t first, std::ptrdiff_t count, double* const* out);

 private:
  zveno::RowData in_[zveno::kInputs] = {};
  std::vector<zveno::RowData> external_, shifted_;
  int results_;
};

inline int result_count(zveno::Function f) { return zveno::row_of(f).outputs.count; }
