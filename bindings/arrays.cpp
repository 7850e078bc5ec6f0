#include "arrays.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include <zveno/support/pool.hpp>

namespace zveno::bindings {

PyTypeObject* the_array_type = nullptr;
PyObject* the_float64 = nullptr;

namespace {

const py::detail::npy_api* the_api = nullptr;  // pybind11's own way to it checks a flag every time
const py::detail::npy_api& api() { return *the_api; }
const py::detail::PyArray_Proxy* proxy(PyObject* a) { return py::detail::array_proxy(a); }

PyObject* float64() { return the_float64; }

std::string prefix(const Context& c, Name name) { return std::string(c.function) + ": " + name.text() + " "; }

std::string expected(const Context& c, py::ssize_t tail, py::ssize_t inner) {
  const std::string n = std::to_string(tail) + (inner ? ", " + std::to_string(inner) : "");
  return "expected (" + n + (inner ? ")" : ",)") + " or (..., " + n + ") for model '" + c.model + "'";
}

void refuse_masked(const Context& c, Name name, PyObject* arg) {
  if (is_masked(arg))
    throw py::type_error(prefix(c, name) +
                         "is a masked array, expected plain numbers: what is under the mask would be taken for data");
}

// anything array-like -> C-contiguous float64
py::object converted(const Context& c, Name name, PyObject* arg) {
  const py::object asarray = py::module_::import("numpy").attr("asarray");
  if (arg == Py_None || PyUnicode_Check(arg) || PyBytes_Check(arg) || PyDict_Check(arg))
    throw py::type_error(prefix(c, name) + "is a " + Py_TYPE(arg)->tp_name + ", expected an array of numbers");
  refuse_masked(c, name, arg);
  py::object array;
  try {
    array = asarray(py::handle(arg));
  } catch (py::error_already_set& e) {
    if (e.matches(PyExc_ValueError) || e.matches(PyExc_TypeError))
      throw py::type_error(prefix(c, name) + "is not an array of numbers: " + std::string(py::str(e.value())));
    throw;
  }
  const std::string kind = py::str(array.attr("dtype").attr("kind"));
  if (kind.find_first_of("iuf") == std::string::npos)
    throw py::type_error(prefix(c, name) + "has dtype " + std::string(py::str(array.attr("dtype"))) +
                         ", expected real numbers (float64)");
  auto result = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(array);
  if (!result) throw py::error_already_set();
  return py::object(std::move(result));
}

}  // namespace

bool is_masked(PyObject* arg, int depth) {
  if (api().PyArray_Check_(arg)) {
    PyObject* module = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy.ma");  // loaded if there are any
    return module && py::isinstance(arg, py::handle(module).attr("MaskedArray"));
  }
  if (depth > 0 && (PyList_Check(arg) || PyTuple_Check(arg)))
    for (const py::handle& item : py::reinterpret_borrow<py::sequence>(arg))
      if (is_masked(item.ptr(), depth - 1)) return true;
  return false;
}

constexpr std::size_t kLongest = 120;  // letters of a value in a message

bool overlaps(const double* a, std::ptrdiff_t na, const double* b, std::ptrdiff_t nb) { return a < b + nb && b < a + na; }

void initialise_arrays() {
  the_api = &py::detail::npy_api::get();
  the_array_type = reinterpret_cast<PyTypeObject*>(the_api->PyArray_Type_);
  the_float64 = py::dtype::of<double>().release().ptr();
}

std::string Name::text() const {
  if (!key) return name;
  return std::string(name) + "[" + text_of(key) + "]";
}

std::string shape_text(const py::ssize_t* dims, int nd) {
  std::string s = "(";
  for (int i = 0; i < nd; ++i) s += std::to_string(dims[i]) + (i + 1 < nd ? ", " : nd == 1 ? "," : "");
  return s + ")";
}

const double* plain_in(PyObject* arg, int nd, const py::ssize_t* dims) {
  if (!plain(arg)) return nullptr;
  const auto* a = proxy(arg);
  bool same = a->nd == nd;
  for (int i = 0; same && i < nd; ++i) same = a->dimensions[i] == dims[i];
  return same ? reinterpret_cast<const double*>(a->data) : nullptr;
}

double* plain_out(PyObject* arg, int nd, const py::ssize_t* dims) {
  const double* data = plain_in(arg, nd, dims);
  const bool writable = data && (proxy(arg)->flags & py::detail::npy_api::NPY_ARRAY_WRITEABLE_);
  return writable ? const_cast<double*>(data) : nullptr;
}

py::object new_array(int nd, const py::ssize_t* dims, double*& data) {
  PyObject* descriptor = float64();
  Py_INCREF(descriptor);  // stolen by the call
  PyObject* array = api().PyArray_NewFromDescr_(api().PyArray_Type_, descriptor, nd, dims, nullptr, nullptr, 0, nullptr);
  if (!array) throw py::error_already_set();
  data = reinterpret_cast<double*>(proxy(array)->data);
  return py::reinterpret_steal<py::object>(array);
}

namespace {

// Blocks of memory between two arrays. It outlives the interpreter, whose last arrays may give theirs back.
class Spare {
 public:
  static Spare& one() {
    static Spare* const spare = new Spare;
    return *spare;
  }

  struct Block {
    void* data;
    std::size_t size;
  };
  Block take(std::size_t size) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (std::size_t i = blocks_.size(); i-- > 0;) {
        const Block found = blocks_[i];
        if (found.size < size || found.size / 2 > size) continue;
        blocks_[i] = blocks_.back();
        blocks_.pop_back();
        kept_ -= found.size;
        return found;
      }
    }
    return {::operator new(size, kAlignment), size};
  }
  void give(const Block& block) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (kept_ + block.size <= kMostSpare && blocks_.size() < blocks_.capacity()) {
        blocks_.push_back(block);  // allocates nothing: this is called by destructors
        kept_ += block.size;
        return;
      }
    }
    ::operator delete(block.data, kAlignment);
  }

 private:
  static constexpr std::align_val_t kAlignment{64};
  Spare() { blocks_.reserve(256); }

  std::mutex mutex_;
  std::vector<Block> blocks_;
  std::size_t kept_ = 0;
};

}  // namespace

py::array_t<double> recycled_array(const std::vector<py::ssize_t>& shape) {
  std::size_t size = sizeof(double);
  for (const py::ssize_t n : shape)
    size = n == 0 || size <= kMostRecycled ? size * static_cast<std::size_t>(n) : size;  // no overflow
  if (size < kLeastRecycled || size > kMostRecycled) return py::array_t<double>(shape);
  auto block = std::make_unique<Spare::Block>(Spare::one().take(size));
  const auto give = [](void* p) {
    const std::unique_ptr<Spare::Block> block(static_cast<Spare::Block*>(p));
    Spare::one().give(*block);
  };
  double* const data = static_cast<double*>(block->data);
  const py::capsule owner(block.get(), give);
  static_cast<void>(block.release());
  return py::array_t<double>(shape, data, owner);
}

Rowwise read_rows(const Context& c, Name name, PyObject* arg, py::ssize_t tail, py::ssize_t inner) {
  Rowwise r;
  if (!plain(arg)) {
    r.owner = converted(c, name, arg);
    arg = r.owner.ptr();
  }
  const auto* a = proxy(arg);
  const int own = inner ? 2 : 1;
  if (a->nd < own || a->dimensions[a->nd - own] != tail || (inner && a->dimensions[a->nd - 1] != inner))
    throw py::value_error(prefix(c, name) + "has shape " + shape_text(a->dimensions, a->nd) + ", " +
                          expected(c, tail, inner));
  if (a->nd - own > Lead::kMost)
    throw py::value_error(prefix(c, name) + "has " + std::to_string(a->nd) + " dimensions, at most " +
                          std::to_string(Lead::kMost + own) + " are accepted");
  r.data = reinterpret_cast<const double*>(a->data);
  r.tail = inner ? tail * inner : tail;
  r.inner = inner;
  r.lead = {a->nd - own, a->dimensions};
  return r;
}

py::object as_array(const Context& c, Name name, PyObject* arg) {
  return plain(arg) ? py::reinterpret_borrow<py::object>(arg) : converted(c, name, arg);
}

void require_finite(const Context& c, Name name, const Rowwise& r) {
  const py::ssize_t size = r.lead.count() * r.tail;
  for (py::ssize_t i = 0; i < size; ++i) {
    if (std::isfinite(r.data[i])) continue;
    const std::string where = r.lead.nd ? " (row " + std::to_string(i / r.tail) + ")" : "";
    throw py::value_error(prefix(c, name) + "is not finite: element " + std::to_string(i % r.tail) + where + " is " +
                          std::string(py::str(py::float_(r.data[i]))));
  }
}

Lead broadcast(const Context& c, Rowwise* args, const Name* names, int count, LeadBuffer& buffer) {
  Lead lead{0, buffer};
  for (int k = 0; k < count; ++k) {
    const Lead& l = args[k].lead;
    if (l.nd > lead.nd) {  // new leading dimensions: move the known ones to the end
      std::copy_backward(buffer, buffer + lead.nd, buffer + l.nd);
      std::copy(l.dims, l.dims + (l.nd - lead.nd), buffer);
      lead.nd = l.nd;
    }
    for (int i = 1; i <= l.nd; ++i) {
      py::ssize_t& w = buffer[lead.nd - i];
      const py::ssize_t d = l.dims[l.nd - i];
      if (w == 1) w = d;
      if (d != w && d != 1) {
        std::string text = std::string(c.function) + ": arguments do not broadcast: ";
        for (int j = 0; j <= k; ++j) {
          std::vector<py::ssize_t> dims(args[j].lead.dims, args[j].lead.dims + args[j].lead.nd);
          if (args[j].inner) dims.push_back(args[j].tail / args[j].inner);
          dims.push_back(args[j].inner ? args[j].inner : args[j].tail);
          text +=
              std::string(j ? ", " : "") + names[j].text() + " " + shape_text(dims.data(), static_cast<int>(dims.size()));
        }
        throw py::value_error(text);
      }
    }
  }
  const py::ssize_t rows = lead.count();
  for (int k = 0; k < count; ++k) {
    Rowwise& a = args[k];
    const py::ssize_t own = a.lead.count();
    if (own == rows) {
      a.stride = a.tail;
    } else if (own == 1) {
      a.stride = 0;
    } else {
      // a copy with every row written out
      py::array_t<double> wide(rows * a.tail);
      double* to = wide.mutable_data();
      for (py::ssize_t row = 0; row < rows; ++row) {
        py::ssize_t rest = row, source = 0, step = 1;
        for (int i = 1; i <= a.lead.nd; ++i) {
          const py::ssize_t whole = lead.dims[lead.nd - i], own_dim = a.lead.dims[a.lead.nd - i];
          source += own_dim == 1 ? 0 : rest % whole * step;
          rest /= whole;
          step *= own_dim;
        }
        std::copy_n(a.data + source * a.tail, a.tail, to + row * a.tail);
      }
      a.data = to;
      a.lead = lead;
      a.owner = std::move(wide);
      a.stride = a.tail;
    }
  }
  return lead;
}

py::object result_array(const Context& c, Name name, PyObject* out, const Lead& lead, const py::ssize_t* tail, int tail_nd,
                        const Rowwise* args, const Name* names, int count, double*& data) {
  py::ssize_t dims[Lead::kMost + 2 + Shape::kCapacity];
  int nd = 0;
  for (int i = 0; i < lead.nd; ++i) dims[nd++] = lead.dims[i];
  for (int i = 0; i < tail_nd; ++i) dims[nd++] = tail[i];
  if (out == nullptr || out == Py_None) return new_array(nd, dims, data);
  if (!api().PyArray_Check_(out))
    throw py::type_error(prefix(c, name) + "is a " + Py_TYPE(out)->tp_name + ", expected a float64 array of shape " +
                         shape_text(dims, nd));
  refuse_masked(c, name, out);
  const auto* a = proxy(out);
  bool same = a->nd == nd;
  for (int i = 0; same && i < nd; ++i) same = a->dimensions[i] == dims[i];
  if (!same)
    throw py::value_error(prefix(c, name) + "has shape " + shape_text(a->dimensions, a->nd) + ", expected " +
                          shape_text(dims, nd));
  if (a->descr != float64() && !py::dtype::of<double>().equal(py::reinterpret_borrow<py::object>(a->descr)))
    throw py::type_error(prefix(c, name) + "has dtype " + std::string(py::str(py::handle(a->descr))) + ", expected float64");
  if ((a->flags & kContiguousAligned) != kContiguousAligned)
    throw py::value_error(prefix(c, name) + "is not C-contiguous and aligned, expected an array that is");
  if (!(a->flags & py::detail::npy_api::NPY_ARRAY_WRITEABLE_))
    throw py::value_error(prefix(c, name) + "is read-only, expected a writable array");
  data = reinterpret_cast<double*>(a->data);
  std::ptrdiff_t size = 1;
  for (int i = 0; i < nd; ++i) size *= dims[i];
  for (int k = 0; k < count; ++k)
    if (overlaps(data, size, args[k].data, args[k].lead.count() * args[k].tail))
      throw py::value_error(prefix(c, name) + "shares memory with " + names[k].text() + ", expected an array of its own");
  return py::reinterpret_borrow<py::object>(out);
}

std::string text_of(py::handle h) {
  PyObject* ascii = PyObject_ASCII(h.ptr());  // repr may hold lone surrogates, which no message can carry
  if (!ascii) throw py::error_already_set();
  const std::string text = py::reinterpret_steal<py::str>(ascii);
  return text.size() <= kLongest ? text : text.substr(0, kLongest - 3) + "...";
}

std::string nearest_text(py::handle name, const py::list& known) {
  if (PyUnicode_GET_LENGTH(name.ptr()) >= 100) return {};
  const py::list found = py::module_::import("difflib").attr("get_close_matches")(name, known, 1);
  return found.empty() ? std::string() : "; did you mean " + text_of(found[0]) + "?";
}

int threads_of(const Context& c, PyObject* arg) {
  if (!arg || arg == Py_None) return 1;
  const long threads = PyBool_Check(arg) || !PyIndex_Check(arg)
                           ? -1
                           : PyLong_AsLong(py::reinterpret_steal<py::object>(PyNumber_Index(arg)).ptr());
  if (PyErr_Occurred()) PyErr_Clear();
  if (threads < 0 || threads > kMostThreads)
    throw py::value_error(std::string(c.function) + ": threads is " + text_of(arg) +
                          ", expected None, 0 (as many as this process may use) or a number up to " +
                          std::to_string(kMostThreads));
  return static_cast<int>(threads);
}

PyObject* interned(const char* name) {
  PyObject* s = PyUnicode_InternFromString(name);
  if (!s) throw py::error_already_set();
  return s;
}

}  // namespace zveno::bindings
