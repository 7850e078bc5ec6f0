// What a simulation records: one table of fields for each system. Arrays, the Python object, its columns, files and labels
// derive from it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace zveno {

// A dimension behind time. Labels are separated by blanks; a mechanism labels its legs and joints by itself.
struct Dimension {
  const char* name = nullptr;
  const char* labels = "";
  int size = 0;
};
constexpr int kOwnLegs = -1, kOwnJoints = -2;
constexpr Dimension kAxis{"axis", "x y z", 3}, kLegAxis{"leg", "", kOwnLegs}, kJointAxis{"joint", "", kOwnJoints},
    kWrenchAxis{"wrench_component", "fx fy fz mx my mz", 6};

struct Field {
  const char* name;
  const char* unit;
  const char* doc;
  Dimension dims[2] = {};
};

// place of a field in its table; a name that is not there does not compile
template <std::size_t N>
constexpr int field(const Field (&fields)[N], std::string_view name) {
  for (std::size_t i = 0; i < N; ++i)
    if (name == fields[i].name) return static_cast<int>(i);
  throw std::invalid_argument("no such field");
}

// a table and the sizes of one mechanism
struct Schema {
  const Field* fields;
  int count;
  int legs, joints;

  template <std::size_t N>
  Schema(const Field (&table)[N], int legs, int joints)
      : fields(table), count(static_cast<int>(N)), legs(legs), joints(joints) {}

  std::vector<std::ptrdiff_t> shape(int i) const {
    std::vector<std::ptrdiff_t> sizes;
    for (const Dimension& d : fields[i].dims)
      if (d.name) sizes.push_back(d.size == kOwnLegs ? legs : d.size == kOwnJoints ? joints : d.size);
    return sizes;
  }
};

// arrays of a simulation by field, a row for each recorded state; null: not wanted
struct Record {
  std::vector<double*> data;

  bool has(int field) const { return data[static_cast<std::size_t>(field)] != nullptr; }
  double* row(int field, int width, std::ptrdiff_t row) const {
    return has(field) ? data[static_cast<std::size_t>(field)] + row * width : nullptr;
  }
  void put(int field, std::ptrdiff_t row, double x) const {
    if (has(field)) *this->row(field, 1, row) = x;
  }
  template <int kWidth>
  void put(int field, std::ptrdiff_t row, const double* x) const {
    std::memcpy(this->row(field, kWidth, row), x, kWidth * sizeof(double));  // no call: the size is known
  }
  void put(int field, std::ptrdiff_t row, const double* x, int width) const {
    if (has(field)) std::copy_n(x, width, this->row(field, width, row));
  }
};

}  // namespace zveno
