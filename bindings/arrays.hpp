// Arrays across the boundary: the one place that checks shapes, types and numbers.
//
// The common case, a C-contiguous float64 array of exactly the right shape, is recognised without calling NumPy; anything
// else is converted or refused with the function's and the argument's name.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <string>
#include <vector>

#include <zveno/functions/job.hpp>

namespace zveno::bindings {

namespace py = pybind11;

// once, at import: the float64 descriptor, which native arrays share
void initialise_arrays();

// names used in messages
struct Context {
  const char* function;
  const std::string& model;
};

// an argument, or the entry `key` of an argument that is a dict
struct Name {
  const char* name = nullptr;
  PyObject* key = nullptr;
  std::string text() const;
};

// leading shape: of an argument (its array's own dimensions), or of a call (kept in LeadBuffer)
struct Lead {
  static constexpr int kMost = 30;
  int nd = 0;
  const py::ssize_t* dims = nullptr;
  py::ssize_t count() const {
    py::ssize_t c = 1;
    for (int i = 0; i < nd; ++i) c *= dims[i];
    return c;
  }
};
using LeadBuffer = py::ssize_t[Lead::kMost];

// a (..., tail) float64 array: C-contiguous data and the leading shape
struct Rowwise {
  py::object owner;  // keeps a converted copy alive; empty when the caller's own array is used
  const double* data = nullptr;
  Lead lead;
  py::ssize_t tail = 0;       // numbers of a row
  py::ssize_t inner = 0;      // columns of a row that is a matrix
  std::ptrdiff_t stride = 0;  // between rows of the broadcast batch, once known
};

// Reads `arg` as (..., tail), or with `inner` as (..., tail, inner). Throws with the context's names.
Rowwise read_rows(const Context& context, Name name, PyObject* arg, py::ssize_t tail, py::ssize_t inner = 0);

constexpr int kContiguousAligned = py::detail::npy_api::NPY_ARRAY_C_CONTIGUOUS_ | py::detail::npy_api::NPY_ARRAY_ALIGNED_;

extern PyTypeObject* the_array_type;
extern PyObject* the_float64;

// an array that needs no closer look; subclasses, of which some hold more than numbers, do
inline bool plain(PyObject* arg) {
  const auto* a = py::detail::array_proxy(arg);
  return Py_TYPE(arg) == the_array_type && a->descr == the_float64 && (a->flags & kContiguousAligned) == kContiguousAligned;
}

// Numbers of a float64 array of this shape as it is; null for anything that needs a closer look.
const double* plain_in(PyObject* arg, int nd, const py::ssize_t* dims);
inline const double* plain_vector(PyObject* arg, py::ssize_t n) {
  const auto* a = py::detail::array_proxy(arg);
  return plain(arg) && a->nd == 1 && a->dimensions[0] == n ? reinterpret_cast<const double*>(a->data) : nullptr;
}

// Where to write into a writable float64 array of this shape; null for anything that needs a closer look.
double* plain_out(PyObject* arg, int nd, const py::ssize_t* dims);

bool overlaps(const double* a, std::ptrdiff_t na, const double* b, std::ptrdiff_t nb);

py::object new_array(int nd, const py::ssize_t* dims, double*& data);

// A new array whose memory comes from one that nobody holds any more, if there is one of about its size, and waits for the
// next one afterwards: a page of new memory costs more than a step of a simulation. Small ones are kept by the C library,
// large ones have large pages.
constexpr std::size_t kLeastRecycled = 16 << 10, kMostRecycled = 4 << 20, kMostSpare = 32 << 20;  // bytes; of all that wait
py::array_t<double> recycled_array(const std::vector<py::ssize_t>& shape);

// `arg` itself if it is a plain float64 array, else a converted copy.
py::object as_array(const Context& context, Name name, PyObject* arg);

// Throws at the first number that is not finite. Kernels look for such rows themselves, on their threads; this names one.
void require_finite(const Context& context, Name name, const Rowwise& rows);

// Common leading shape of the arguments, in `buffer`; sets their strides, materialising those that need it.
Lead broadcast(const Context& context, Rowwise* args, const Name* names, int count, LeadBuffer& buffer);

// A new array, or the caller's `out` after checking it; shape = lead + tail.
py::object result_array(const Context& context, Name name, PyObject* out, const Lead& lead, const py::ssize_t* tail,
                        int tail_nd, const Rowwise* args, const Name* names, int count, double*& data);

// a masked array, or lists of some: what is under a mask is not data
bool is_masked(PyObject* arg, int depth = 3);

// how Python prints an object, in plain characters; long texts are cut
std::string text_of(py::handle h);

// "; did you mean ...?" if a name is near one of those known, else nothing
std::string nearest_text(py::handle name, const py::list& known);

// the argument `threads`: None is 1, 0 one per core
int threads_of(const Context& context, PyObject* arg);

PyObject* interned(const char* name);

// shape as Python prints it
std::string shape_text(const py::ssize_t* dims, int nd);

}  // namespace zveno::bindings
