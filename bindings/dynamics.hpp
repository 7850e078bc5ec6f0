// What the methods of a chain and its compiled functions have in common: signatures, arguments, the call itself.
#pragma once

#include <iterator>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <zveno/functions/job.hpp>

#include "arrays.hpp"
#include "calls.hpp"

namespace zveno::bindings {

enum class Param { q, qd, third, external, method, link, point, frame, parameters, out, threads };

struct Signature {
  Function function;
  const char* name;
  std::vector<std::pair<Param, const char*>> params;  // in positional order; out and threads are keyword-only
  std::vector<std::pair<const char*, Method>> methods;
  const char* doc;
};

using P = Param;
constexpr int kParams = 11;

// arguments by kind
struct Arguments {
  PyObject* slot[kParams] = {};
  PyObject* operator[](Param p) const { return slot[static_cast<int>(p)]; }
};

// null if there is none
const Signature* find_signature(const std::string& function);
std::string list_of_functions();

// A list that stays on the stack while it is short: a call allocates nothing but its result. Its memory is not initialised:
// clearing what is not used costs as much as reading an array.
constexpr int kFewLoads = 4;
template <class T, int kInline>
class Small {
 public:
  Small() = default;
  Small(const Small&) = delete;
  Small& operator=(const Small&) = delete;
  ~Small() {
    for (int i = 0; i < size_ && i < kInline; ++i) few()[i].~T();
  }
  // the object that `make` returns, built in its place
  template <class Make>
  void push_made(const Make& make) {
    if (size_ < kInline) {
      ::new (static_cast<void*>(few() + size_)) T(make());
    } else {
      if (more_.empty()) more_.assign(std::make_move_iterator(few()), std::make_move_iterator(few() + kInline));
      more_.push_back(make());
    }
    ++size_;
  }
  void push(const T& x) {
    push_made([&] { return x; });
  }
  T* data() { return size_ > kInline ? more_.data() : few(); }
  T& operator[](int i) { return data()[i]; }
  int size() const { return size_; }

 private:
  T* few() { return std::launder(reinterpret_cast<T*>(bytes_)); }

  alignas(T) unsigned char bytes_[kInline * sizeof(T)];
  std::vector<T> more_;
  int size_ = 0;
};

// array arguments of a call: q, qd, third, then the external wrenches, then inertial parameters
struct Arrays {
  Small<Rowwise, 4 + kFewLoads> rows;
  Small<Name, 4 + kFewLoads> names;

  void read(const Context& c, Name name, PyObject* arg, py::ssize_t tail, py::ssize_t inner = 0) {
    names.push(name);
    rows.push_made([&] { return read_rows(c, name, arg, tail, inner); });
  }
  void read_states(const Context& c, const Signature& s, const Arguments& a, int n) {
    for (const auto& [param, name] : s.params) {
      if (param != P::q && param != P::qd && param != P::third) continue;
      if (!a[param]) throw py::type_error(std::string(s.name) + ": argument '" + name + "' is missing");
      read(c, {name}, a[param], n);
    }
  }
};

// throws unless the model has it, or the method fits the model; `arg` null: the first one
Method method_of(const Chain& chain, const Signature& s, PyObject* arg);
LinkFrame frame_of(const Context& c, const Chain& chain, const char* what, PyObject* name);
bool link_axes(const Context& c, PyObject* arg, bool fallback);
void read_point(const Context& c, PyObject* arg, LinkFrame& frame);
void require_dict(const Context& c, PyObject* external);
bool about_a_link(Function f);

// shape of one result; returns the number of its dimensions
int result_tail(Function f, int n, py::ssize_t (&tail)[2]);

// whether a computation is long enough to give the interpreter lock away for it
bool worth_releasing(Function f, std::ptrdiff_t rows, std::ptrdiff_t n);

// the arrays have been read, the job is complete
PyObject* run_call(const Context& c, const Signature& s, const Job& job, Arrays& arrays, PyObject* out, PyObject* threads);

}  // namespace zveno::bindings
