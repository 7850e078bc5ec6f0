#include "call.hpp"

#include <structmember.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>

#include <zveno/batch/compute.hpp>
#include <zveno/functions/failure.hpp>
#include <zveno/solve/close.hpp>
#include <zveno/support/compiler.hpp>

#include "convert.hpp"
#include "interrupt.hpp"
#include "registers.hpp"
#include "result.hpp"
#include "types.hpp"

namespace zveno::bindings {

// ---- parameters

Keywords keywords_of(const FunctionRow& row) {
  Keywords names;
  const auto add = [&](Param p) { names.emplace_back(index_of(p), interned(name_of(p))); };
  for (const Param p : row.params) add(p);
  if (row.has(kAlsoBy)) add(Param::wrt);
  if (row.has(kSeveral)) add(Param::outputs);
  for (const Param p : {Param::on_error, Param::status, Param::out, Param::threads}) add(p);
  return names;
}

std::string keyword_only(const FunctionRow& row) {
  return std::string(row.has(kAlsoBy) ? "wrt, " : "") + (row.has(kSeveral) ? "outputs, " : "") +
         "on_error, status, out and threads";
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

namespace {

// one of two words
bool second_of(const Context& c, const char* what, PyObject* arg, const char* first, const char* second, bool fallback) {
  if (!arg) return fallback;
  if (PyUnicode_Check(arg)) {
    if (PyUnicode_CompareWithASCIIString(arg, first) == 0) return false;
    if (PyUnicode_CompareWithASCIIString(arg, second) == 0) return true;
  }
  throw py::value_error(std::string(c.function) + ": " + what + " is " + text_of(arg) + ", expected '" + first + "' or '" +
                        second + "'");
}

// code of the method; null: the first one, or 0
int method_of(const Context& c, const FunctionRow& row, PyObject* arg) {
  if (!arg) return row.methods.count ? row.methods[0].code : 0;
  const bool text = PyUnicode_Check(arg);
  for (const MethodName& m : row.methods)
    if (text && PyUnicode_CompareWithASCIIString(arg, m.name) == 0) return m.code;
  std::vector<std::string> names;
  for (const MethodName& m : row.methods) names.push_back(m.name);
  const std::string expected = text_of(arg) + ", expected one of " + listed(names);
  if (!text) throw py::type_error(std::string(c.function) + ": method is " + expected);
  throw py::value_error(std::string(c.function) + ": unknown method " + expected);
}

// the place of one of several words; null: the first
int word_of(const Context& c, const char* what, PyObject* arg, std::initializer_list<const char*> words) {
  if (!arg) return 0;
  int k = 0;
  for (const char* word : words) {
    if (PyUnicode_Check(arg) && PyUnicode_CompareWithASCIIString(arg, word) == 0) return k;
    ++k;
  }
  const std::vector<std::string> names(words.begin(), words.end());
  throw py::value_error(std::string(c.function) + ": " + what + " is " + text_of(arg) + ", expected one of " +
                        listed(names));
}

// zveno.Section keeps what its cut is on this chain
std::shared_ptr<const SectionCut> section_of(const Context& c, const Chain& chain, const Arguments& a) {
  PyObject* const arg = a[Param::section];
  if (!arg) throw py::type_error(std::string(c.function) + ": argument 'section' is missing");
  static PyObject* const name = interned("_cut");
  const auto ask = py::reinterpret_steal<py::object>(PyObject_GetAttr(arg, name));
  if (!ask) {
    PyErr_Clear();
    throw py::type_error(std::string(c.function) + ": section is " + text_of(arg) + ", expected a zveno.Section");
  }
  const int frame = word_of(c, "frame", a[Param::frame], {"section", "link", "world"});
  const int parts = word_of(c, "parts", a[Param::parts], {"total", "static", "dynamic"});
  return ask(py::cast(&chain, py::return_value_policy::reference), c.function, frame, parts)
      .cast<std::shared_ptr<SectionCut>>();
}

// anything with as_matrix() is a rotation, and {"quaternion": (w, x, y, z)}
py::object rotation_of(const Context& c, PyObject* arg) {
  if (py::detail::npy_api::get().PyArray_Check_(arg)) return py::reinterpret_borrow<py::object>(arg);
  if (PyDict_Check(arg)) return adopted_function(Adopted::matrix_of)(c.function, py::handle(arg));
  static PyObject* const name = interned("as_matrix");
  PyObject* method = PyObject_GetAttr(arg, name);
  if (!method) {
    PyErr_Clear();
    return py::reinterpret_borrow<py::object>(arg);
  }
  return py::reinterpret_steal<py::object>(method)();
}

void read_point(const Context& c, PyObject* arg, LinkFrame& frame) {
  if (!arg) return;
  const Rowwise point = read_rows(c, {"point"}, arg, 3);
  require_finite(c, {"point"}, point);
  if (point.lead.nd) throw py::value_error(std::string(c.function) + ": point has more than one row, expected (3,)");
  frame.p_BoUo_B += times(frame.R_BU, Vec3<double>{point.data[0], point.data[1], point.data[2]});
}

}  // namespace

namespace {

[[noreturn]] ZVENO_COLD void refuse_name(const Context& c, const char* what, PyObject* name) {
  throw py::type_error(std::string(c.function) + ": " + what + " is " + (name ? text_of(name) : "missing") +
                       ", expected the name of a link");
}

[[noreturn]] ZVENO_COLD void refuse_link(const Context& c, const Chain& chain, const char* what, PyObject* name) {
  std::string known;
  py::list names;
  int shown = 0;
  for (const LinkSpec& l : chain.links()) {
    names.append(l.name);
    if (shown++ < 8) known += ", '" + l.name + "'";
  }
  throw py::value_error(std::string(c.function) + ": " + what + " " + text_of(name) + " is not in model '" + chain.name() +
                        "', expected one of '" + chain.base() + "'" + known + (shown > 8 ? ", ..." : "") +
                        nearest_text(name, names));
}

}  // namespace

LinkFrame frame_of(const Context& c, const Chain& chain, const char* what, PyObject* name) {
  if (!name || !PyUnicode_Check(name)) refuse_name(c, what, name);
  Py_ssize_t length = 0;
  const char* text = PyUnicode_AsUTF8AndSize(name, &length);  // null for lone surrogates: no link has such a name
  if (!text) PyErr_Clear();
  const int index = text ? chain.find_link(std::string(text, static_cast<std::size_t>(length))) : Chain::kNoLink;
  if (index == Chain::kNoLink) refuse_link(c, chain, what, name);
  if (index == Chain::kBase) return {kWorld, diagonal(1.0), {0, 0, 0}};
  return chain.frame(index);
}

void require_dict(const Context& c, PyObject* external) {
  if (!PyDict_Check(external))
    throw py::type_error(std::string(c.function) + ": external is a " + Py_TYPE(external)->tp_name +
                         ", expected a dict {link name: (..., 6) wrench}");
}

unsigned outputs_of(const Context& c, const FunctionRow& row, PyObject* arg) {
  if (!arg) return row.all();
  const auto known = [&] {
    std::vector<std::string> names;
    for (const Slot& s : row.outputs) names.push_back(s.name);
    return listed(names);
  };
  const auto expected = [&] { return ", expected some of " + known(); };
  if (PyUnicode_Check(arg) || !PySequence_Check(arg))
    throw py::type_error(std::string(c.function) + ": outputs is " + text_of(arg) +
                         ", expected a sequence of names: " + known());
  unsigned mask = 0;
  for (const py::handle& name : py::reinterpret_borrow<py::sequence>(arg)) {
    unsigned bit = 0;
    for (int k = 0; k < row.outputs.count; ++k)
      if (PyUnicode_Check(name.ptr()) && PyUnicode_CompareWithASCIIString(name.ptr(), row.outputs[k].name) == 0)
        bit = 1u << k;
    if (!bit) throw py::value_error(std::string(c.function) + ": outputs has " + text_of(name) + expected());
    mask |= bit;
  }
  if (!mask) throw py::value_error(std::string(c.function) + ": outputs is empty" + expected());
  return mask;
}

// ---- chains

namespace {

// the body of a joint of the user
int body_of_joint(const Context& c, const Chain& chain, const char* what, py::handle joint) {
  const std::vector<std::string>& names = chain.joint_names();
  const int n = chain.n();
  if (joint && PyUnicode_Check(joint.ptr())) {
    Py_ssize_t length = 0;
    const char* text = PyUnicode_AsUTF8AndSize(joint.ptr(), &length);  // null for lone surrogates: no such name
    if (!text) PyErr_Clear();
    py::list known;
    std::string shown;
    for (int k = 0; text && k < n; ++k)
      if (names[k].size() == static_cast<std::size_t>(length) && names[k].compare(text) == 0)
        return chain.body_of_joint()[k];
    for (int k = 0; k < n; ++k) {
      known.append(names[k]);
      if (k < 8) shown += (k ? ", '" : "'") + names[k] + "'";
    }
    throw py::value_error(std::string(c.function) + ": " + what + " " + text_of(joint) + " is no moving joint of model '" +
                          chain.name() + "', expected one of " + shown + (n > 8 ? ", ..." : "") +
                          nearest_text(joint, known));
  }
  const auto expected = [&] { return ", expected the name of a joint or its place in q, 0 to " + std::to_string(n - 1); };
  if (!joint || PyBool_Check(joint.ptr()) || !PyIndex_Check(joint.ptr()))
    throw py::type_error(std::string(c.function) + ": " + what + " is " + (joint ? text_of(joint) : "missing") + expected());
  const Py_ssize_t place = PyNumber_AsSsize_t(joint.ptr(), nullptr);  // clipped, not refused, if it is too large
  if (place == -1 && PyErr_Occurred()) throw py::error_already_set();
  if (place < 0 || place >= n)
    throw py::value_error(std::string(c.function) + ": " + what + " is " + text_of(joint) + expected());
  return chain.body_of_joint()[static_cast<std::size_t>(place)];
}

// joints to differentiate by, in the order of bodies
void read_by(const Context& c, const Chain& chain, PyObject* arg, Job& job) {
  if (!arg) return;
  if (PyUnicode_Check(arg) || !PySequence_Check(arg))
    throw py::type_error(std::string(c.function) + ": by is " + text_of(arg) +
                         ", expected a sequence of joints: names or places in q");
  const auto joints = py::reinterpret_borrow<py::sequence>(arg);
  const std::size_t count = joints.size();
  if (count > kMostOrders)
    throw py::value_error(std::string(c.function) + ": by has " + std::to_string(count) + " joints, expected at most " +
                          std::to_string(kMostOrders));
  static const char* const kBy[kMostOrders] = {"by[0]", "by[1]", "by[2]", "by[3]", "by[4]",  "by[5]",
                                               "by[6]", "by[7]", "by[8]", "by[9]", "by[10]", "by[11]"};
  for (std::size_t k = 0; k < count; ++k) job.by[k] = body_of_joint(c, chain, kBy[k], py::object(joints[k]));
  job.order = static_cast<int>(count);
  std::sort(job.by, job.by + count);
}

// whether joint a moves body b
bool carries(const Chain& chain, int a, int b) {
  while (b > a) b = chain.topology().parent[b];
  return a == b;
}

void require_path(const Context& c, const Chain& chain, const Job& job, PyObject* link) {
  const int body = job.frame.body;
  if (job.outboard ? job.i != body && carries(chain, body, job.i) : carries(chain, job.i, body)) return;
  const std::string& joint = chain.joint_names()[chain.user_index()[job.i]];
  const char* const what = job.outboard ? "' is not outboard of link " : "' does not move link ";
  const char* const expected =
      job.outboard ? "', expected one that it carries, or motion='link'" : "', expected a joint between it and the base";
  throw py::value_error(std::string(c.function) + ": joint '" + joint + what + text_of(link) + " of model '" + chain.name() +
                        expected);
}

int order_of(const Context& c, PyObject* arg) {
  if (!arg) return 1;
  if (PyBool_Check(arg) || !PyIndex_Check(arg))
    throw py::type_error(std::string(c.function) + ": order is " + text_of(arg) + ", expected 1 or 2");
  const Py_ssize_t order = PyNumber_AsSsize_t(arg, nullptr);
  if (order == -1 && PyErr_Occurred()) throw py::error_already_set();
  if (order != 1 && order != 2)
    throw py::value_error(std::string(c.function) + ": order is " + text_of(arg) + ", expected 1 or 2");
  return static_cast<int>(order);
}
double moving_mass(const Chain& chain) {
  double mass = 0;
  for (int b = 0; b < chain.n(); ++b) mass += chain.body(b).m;
  return mass;
}
}  // namespace

Job Face<Chain>::options(const Context& c, const Chain& chain, const FunctionRow& row, const Arguments& a) {
  Job job{&chain, static_cast<Function>(row.code), static_cast<Method>(method_of(c, row, a[Param::method]))};
  if (serial_only(job.method) && !chain.topology().serial)
    throw py::value_error(std::string(c.function) + ": method " + text_of(a[Param::method]) +
                          " exists only for serial chains, and model '" + chain.name() + "' branches");
  if (row.takes(Param::section))
    job.section = section_of(c, chain, a);
  else
    job.link_axes = second_of(c, "frame", a[Param::frame], "world", "link", row.has(kInLinkAxes));
  job.external_in_links = second_of(c, "external_frame", a[Param::external_frame], "world", "link", false);
  job.about_base = second_of(c, "about", a[Param::about], "com", "base", false);
  if ((job.function == Function::com || (row.takes(Param::about) && !job.about_base)) && !(moving_mass(chain) > 0))
    throw py::value_error(std::string(c.function) + ": the moving links of model '" + chain.name() +
                          "' have no mass, and so no centre of mass");
  if (row.takes(Param::link)) {
    job.frame = frame_of(c, chain, "link", a.slot[index_of(Param::link)]);
    read_point(c, a[Param::point], job.frame);
  }
  if (row.takes(Param::i)) job.i = body_of_joint(c, chain, "i", a.slot[index_of(Param::i)]);
  if (row.takes(Param::j)) job.j = body_of_joint(c, chain, "j", a.slot[index_of(Param::j)]);
  if (row.takes(Param::by)) read_by(c, chain, a[Param::by], job);
  job.outboard = second_of(c, "motion", a[Param::motion], "link", "outboard", false);
  if (job.function == Function::kinematic_derivative) require_path(c, chain, job, a.slot[index_of(Param::link)]);
  if (row.takes(Param::order) && order_of(c, a[Param::order]) == 2) {
    if (a[Param::method] && job.method != Method::zaremba)
      throw py::value_error(std::string(c.function) + ": method is " + text_of(a[Param::method]) +
                            ", expected 'zaremba', the only one of order 2");
    job.function = Function::mass_matrix_second_derivatives;
    job.method = Method::none;
  }
  return job;
}

void Face<Chain>::read(const Context& c, const Chain& chain, Work&, Param p, PyObject* arg, Arrays& arrays) {
  const Slot& slot = slot_of(p);
  arrays.read(c, {slot.name}, arg, p == Param::base_motion ? 9 : chain.n());
}

// ---- hexapods

HexJob Face<Hexapod>::options(const Context& c, const Hexapod& hexapod, const FunctionRow& row, const Arguments& a) {
  HexJob job{&hexapod, static_cast<HexFunction>(row.code)};
  job.newton = method_of(c, row, a[Param::method]) != 0;
  if (a[Param::start] && !job.newton && !hexapod.has_custom())
    throw py::value_error(std::string(c.function) + ": start is given, but method 'closed' does not start anywhere");
  if (row.takes(Param::base)) {
    if (!a[Param::base]) throw py::type_error(std::string(c.function) + ": argument 'base' is missing");
    job.base = body_of(c, "base", a[Param::base]);
  }
  return job;
}

void Face<Hexapod>::read(const Context& c, const Hexapod& hexapod, Work& job, Param p, PyObject* arg, Arrays& arrays) {
  const Slot& slot = slot_of(p);
  const Sizes sizes = sizes_of(job);
  if (p == Param::R) {
    const py::object rotation = rotation_of(c, arg);
    arrays.read(c, {slot.name}, rotation.ptr(), 3, 3);
    arrays.keep(rotation);
  } else if (p == Param::leg_tau) {  // (..., 6) of the actuated joints or (..., 6, nj) of all
    const py::object whole = as_array(c, {slot.name}, arg);
    const auto* proxy = py::detail::array_proxy(whole.ptr());
    if (!job.program) {  // which was made for one of them
      const py::ssize_t last = proxy->nd < 1 ? 0 : proxy->dimensions[proxy->nd - 1];
      job.actuated_only = last != hexapod.joints();
      if (job.actuated_only && last != kLegs)
        throw py::value_error(std::string(c.function) + ": tau has shape " + shape_text(proxy->dimensions, proxy->nd) +
                              ", expected (..., 6) for the actuated joints or (..., 6, " + std::to_string(hexapod.joints()) +
                              ") for all joints of model '" + hexapod.name() + "'");
    }
    arrays.read(c, {slot.name}, whole.ptr(), kLegs, job.actuated_only ? 0 : hexapod.joints());
    arrays.keep(whole);
  } else {
    arrays.read(c, {slot.name}, arg, slot.shape[0].of(sizes), slot.shape.count == 2 ? slot.shape[1].of(sizes) : 0);
  }
}

// ---- linkages

LinkageJob Face<Linkage>::options(const Context& c, const Linkage& linkage, const FunctionRow& row, const Arguments& a) {
  LinkageJob job{linkage, static_cast<LinkageFunction>(row.code), &choose_rows};
  job.tree.external_in_links = second_of(c, "external_frame", a[Param::external_frame], "world", "link", false);
  return job;
}

void Face<Linkage>::read(const Context& c, const Linkage& linkage, Work&, Param p, PyObject* arg, Arrays& arrays) {
  const Slot& slot = slot_of(p);
  const Sizes sizes = sizes_of(linkage);
  arrays.read(c, {slot.name}, arg, slot.shape[0].of(sizes), slot.shape.count == 2 ? slot.shape[1].of(sizes) : 0);
  if (p != Param::drive) return;
  const Rowwise& given = arrays.rows[arrays.rows.size() - 1];
  for (py::ssize_t i = 0; i < given.lead.count(); ++i)
    for (std::size_t k = 0; k < linkage.constraints().size(); ++k) {
      const double* x = given.data + i * given.tail + 2 * static_cast<py::ssize_t>(k);
      if (!linkage.constraints()[k].placed && (x[0] != 0 || x[1] != 0))
        throw py::value_error(std::string(c.function) + ": drive of constraint '" + linkage.constraints()[k].name +
                              "' is not zero, expected zeros: it relates coordinates and has no axis");
    }
}

// ---- the call

namespace {

[[noreturn]] void raise(const Context& c, const Chain& chain, const Failure& f, bool batch) {
  if (f.cause == Cause::massless) {
    const std::string where = batch ? " in row " + std::to_string(f.row) : "";
    const std::string& joint = chain.joint_names()[f.part];
    raise_error("SingularityError",
                std::string(c.function) + ": joint '" + joint + "' of model '" + chain.name() + "' moves no mass" + where +
                    ": its acceleration is not determined",
                {{"joint", py::str(joint)}, {"row", row_or_none(f.row, batch)}});
  }
  PyErr_SetString(PyExc_FloatingPointError,
                  (std::string(c.function) + ": result is not finite" + (batch ? " in row " + std::to_string(f.row) : "") +
                   ": arguments are too large for model '" + chain.name() + "'")
                      .c_str());
  throw py::error_already_set();
}

[[noreturn]] void raise(const Context& c, const Hexapod& hexapod, const Failure& f, bool batch) {
  if (f.cause == Cause::rotation)
    throw py::value_error(std::string(c.function) + ": R" + (batch ? " (row " + std::to_string(f.row) + ")" : "") +
                          " is not a rotation: expected R'R = 1 within 1e-9 and determinant +1");
  const CauseText& t = *find_cause(static_cast<int>(f.cause));
  const std::string text = std::string(c.function) + ": " + failure_text(hexapod, f, batch);
  if (t.kind == FailureKind::argument) throw py::value_error(text);
  if (t.kind == FailureKind::overflow) {
    PyErr_SetString(PyExc_FloatingPointError, text.c_str());
    throw py::error_already_set();
  }
  const bool whole = f.part < 0;
  raise_error(type_of(t.kind), text,
              {{"leg", whole ? py::object(py::none()) : py::object(py::str(hexapod.leg(f.part).name))},
               {"leg_index", whole ? py::object(py::none()) : py::object(py::int_(f.part))},
               {"cause", py::str(t.key)},
               {"margin", py::float_(f.margin)},
               {"row", row_or_none(f.row, batch)}});
}

[[noreturn]] void raise(const Context& c, const Linkage& linkage, const Failure& f, bool batch) {
  if (f.cause == Cause::massless || f.cause == Cause::overflow) raise(c, linkage.chain(), f, batch);
  const std::string where = batch ? " in row " + std::to_string(f.row) : "";
  const std::string who = std::string(c.function) + ": " + subject_of(linkage, f);
  if (f.cause == Cause::open) {
    char gap[80];
    std::snprintf(gap, sizeof gap, " is open by %.3g m (angles times %.3g m)", f.margin, linkage.length());
    throw py::value_error(who + gap + where + ", expected a q that meets it: close(q) finds one");
  }
  if (f.cause == Cause::slips) {
    char gap[80];
    std::snprintf(gap, sizeof gap, " opens at %.3g m/s (angles times %.3g m)", f.margin, linkage.length());
    throw py::value_error(
        who + gap + where +
        ", expected a qd that meets it: velocities(q, {joint: rate}) and project_velocity(q, qd) find one");
  }
  raise_error("SingularityError",
              who + " is singular here" + where +
                  ": its constraints depend on each other more than elsewhere, accelerations are not determined",
              {{"cause", py::str(find_cause(static_cast<int>(f.cause))->key)}, {"row", row_or_none(f.row, batch)}});
}

// `arg` as int16 of the leading shape
std::int16_t* status_of(const Context& c, PyObject* arg, const Lead& lead) {
  const std::string who = std::string(c.function) + ": status ",
                    expected = ", expected int16 of shape " + shape_text(lead.dims, lead.nd);
  if (!py::detail::npy_api::get().PyArray_Check_(arg))
    throw py::type_error(who + "is a " + Py_TYPE(arg)->tp_name + expected);
  if (is_masked(arg)) throw py::type_error(who + "is a masked array" + expected);
  const auto array = py::reinterpret_borrow<py::array>(arg);
  if (!array.dtype().equal(py::dtype::of<std::int16_t>()))
    throw py::type_error(who + "has dtype " + std::string(py::str(array.dtype())) + expected);
  bool same = array.ndim() == lead.nd;
  for (int i = 0; same && i < lead.nd; ++i) same = array.shape(i) == lead.dims[i];
  if (!same)
    throw py::value_error(who + "has shape " + shape_text(array.shape(), static_cast<int>(array.ndim())) + expected);
  if (!(array.flags() & py::array::c_style) || !array.writeable())
    throw py::value_error(who + "is not C-contiguous and writable, expected an array that is");
  return static_cast<std::int16_t*>(const_cast<void*>(array.data()));
}

// codes inside an array of numbers would be overwritten by them, or overwrite them
void require_apart(const Context& c, const Rows& rows, const double* data, std::ptrdiff_t size, const std::string& name) {
  const auto codes = reinterpret_cast<const char*>(rows.status), numbers = reinterpret_cast<const char*>(data);
  if (data && codes < numbers + size * sizeof(double) && numbers < codes + rows.count * sizeof(std::int16_t))
    throw py::value_error(std::string(c.function) + ": status shares memory with " + name +
                          ", expected an array of its own");
}

}  // namespace

template <class Model>
PyObject* run_call(const Context& c, typename Face<Model>::Work& job, Arrays& arrays, const Arguments& a) {
  const FunctionRow& row = Face<Model>::row(job);
  const auto& model = Face<Model>::model(job);
  LeadBuffer lead_dims;
  const Lead lead = broadcast(c, arrays.rows.data(), arrays.names.data(), arrays.rows.size(), lead_dims);
  Rows rows;
  Small<RowData, kFewLoads> loads;
  for (int k = 0; k < arrays.rows.size(); ++k) {
    const RowData data{arrays.rows[k].data, arrays.rows[k].stride};
    if (k < arrays.states)
      rows[arrays.param[k]] = data;
    else if (arrays.names[k].key)
      loads.push(data);
    else
      rows.parameters = data;
  }
  rows.external = loads.data();
  rows.count = lead.count();
  rows.check_inputs = true;
  const int threads = threads_of(c, a[Param::threads]);
  const bool nan = second_of(c, "on_error", a[Param::on_error], "raise", "nan", false);
  PyObject* const out = a[Param::out];
  const Sizes sizes = sizes_of(job);
  const auto result = [&](Name name, PyObject* given, const Tail& tail, double*& data) {
    return result_array(c, name, given, lead, tail.dims, tail.nd, arrays.rows.data(), arrays.names.data(),
                        arrays.rows.size(), data);
  };

  // ---- room for the results
  py::object results[kMostOutputs];
  if (row.has(kOneBlock)) {
    Tail tail(Shape{}, sizes);
    tail.dims[0] = static_cast<py::ssize_t>(block_size(job)), tail.nd = 1;
    results[0] = result({"out"}, out ? block_of(c, out) : nullptr, tail, rows.out[0]);
  } else if (row.has(kSeveral)) {
    open_results(
        c, row, wanted_of(job), out,
        [&](int k, Name name, PyObject* given) {
          results[k] = result(name, given, tail_of(job, row.outputs[k]), rows.out[k]);
          return output_size(job, k) * rows.count;
        },
        rows.out);
  } else {
    results[0] = result({"out"}, out, tail_of(job, row.outputs[0]), rows.out[0]);
  }
  py::object status = py::none();
  if (PyObject* given = a[Param::status]) {
    if (!nan) throw py::value_error(std::string(c.function) + ": status is given, but only on_error='nan' writes it");
    rows.status = status_of(c, given, lead);
    for (int k = 0; out && k < output_count(job); ++k)
      require_apart(c, rows, rows.out[k], rows.count * output_size(job, k), "out");
    for (int k = 0; k < arrays.rows.size(); ++k)
      require_apart(c, rows, arrays.rows[k].data, arrays.rows[k].lead.count() * arrays.rows[k].tail, arrays.names[k].text());
    status = py::reinterpret_borrow<py::object>(given);
  } else if (nan && (row.has(kOneBlock) || row.has(kPrivate))) {
    py::array_t<std::int16_t> codes(std::vector<py::ssize_t>(lead.dims, lead.dims + lead.nd));
    rows.status = codes.mutable_data();
    status = codes;
  }

  // ---- releasing the interpreter lock costs as much as a small kernel: it is held for work below a few microseconds
  Failure failure;
  if (rows.count * work_of(row, sizes) > 256) {
    Unlocked unlocked;
    failure = compute(*kernels, job, rows, threads, &unlocked.watch);
    if (unlocked.watch.stopped()) {
      // some rows are written and nothing tells which: none shall pass for a result
      constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
      for (int k = 0; out && k < output_count(job); ++k)
        if (rows.out[k]) std::fill_n(rows.out[k], rows.count * output_size(job, k), kNaN);
      if (rows.status) std::fill_n(rows.status, rows.count, std::int16_t{-1});
      unlocked.raise();
    }
  } else if (rows.count > 0) {
    failure = kernels->run(job, rows, 0, rows.count);
  }
  if (failure && !nan) {
    if (failure.cause == Cause::input)
      for (int k = 0; k < arrays.rows.size(); ++k) require_finite(c, arrays.names[k], arrays.rows[k]);
    raise(c, model, failure, lead.nd > 0);
  }

  if (row.has(kOneBlock)) return block_result(std::move(results[0]), job, std::move(status), out).release().ptr();
  if (row.has(kSeveral)) return named_result(row, results).release().ptr();
  if (rows.status && row.has(kPrivate)) return py::make_tuple(results[0], status).release().ptr();
  // energies of one state are numbers
  if (tail_of(job, row.outputs[0]).nd == 0 && lead.nd == 0 && !out) return PyFloat_FromDouble(rows.out[0][0]);
  return results[0].release().ptr();
}

namespace {

Job plain_job(const Chain& chain, const FunctionRow& row) {
  Job job{&chain, static_cast<Function>(row.code), static_cast<Method>(row.methods.count ? row.methods[0].code : 0)};
  job.link_axes = row.has(kInLinkAxes);
  return job;
}
int external_count(const Job& job) { return job.external_count; }
int external_count(const HexJob&) { return 0; }
int external_count(const LinkageJob& job) { return job.tree.external_count; }
LinkageJob plain_job(const Linkage& linkage, const FunctionRow& row) {
  return {linkage, static_cast<LinkageFunction>(row.code), &choose_rows};
}
HexJob plain_job(const Hexapod& hexapod, const FunctionRow& row) {
  HexJob job{&hexapod, static_cast<HexFunction>(row.code)};
  job.actuated_only = true;
  return job;
}

}  // namespace

namespace {

// of a tuple that was asked for before, as calls in a loop do
unsigned remembered_outputs(const Context& c, const FunctionRow& row, PyObject* arg) {
  struct Last {
    const FunctionRow* row = nullptr;
    py::object names;
    unsigned mask = 0;
  };
#ifdef Py_GIL_DISABLED
  static thread_local Last* const last = new Last;  // outlives the interpreter
#else
  static Last* const last = new Last;
#endif
  if (last->row == &row && last->names.ptr() == arg) return last->mask;
  const unsigned mask = outputs_of(c, row, arg);
  if (PyTuple_CheckExact(arg)) {  // does not change
    last->names = py::reinterpret_borrow<py::object>(arg);
    last->row = &row;
    last->mask = mask;
  }
  return mask;
}

}  // namespace

template <class Model>
PyObject* run_quickly(const Context& c, const Model& model, const FunctionRow& row, PyObject* const* args, Py_ssize_t count,
                      PyObject* kwnames) {
  static PyObject *const out_name = interned("out"), *const external_name = interned("external"),
                         *const outputs_name = interned("outputs");
  PyObject *out = nullptr, *external = nullptr;
  unsigned wanted = kEverything;
  if constexpr (std::is_same_v<Model, Linkage>)
    if (model.given()) return nullptr;
  if (count == row.required + 1 && count <= row.params.count && row.params[row.required] == Param::external)
    external = args[row.required];
  else if (count != row.required)
    return nullptr;
  for (Py_ssize_t k = 0, named = kwnames ? PyTuple_GET_SIZE(kwnames) : 0; k < named; ++k) {
    PyObject* name = PyTuple_GET_ITEM(kwnames, k);
    if (name == out_name && !row.has(kOneBlock))
      out = args[count + k];
    else if (name == external_name && !external && row.takes(Param::external))
      external = args[count + k];
    else if (name == outputs_name && row.has(kSeveral) && !row.has(kOneBlock))
      wanted = args[count + k] == Py_None ? kEverything : remembered_outputs(c, row, args[count + k]);
    else
      return nullptr;
  }
  if (row.takes(Param::about)) return nullptr;
  auto job = plain_job(model, row);
  job.outputs = wanted;
  const Sizes sizes = sizes_of(job);
  if (work_of(row, sizes) > 256) return nullptr;
  Rows rows;
  for (int k = 0; k < row.required; ++k) {
    const Param p = row.params[k];
    if constexpr (std::is_same_v<Model, Chain>)
      if (p == Param::link) {
        job.frame = frame_of(c, model, "link", args[k]);
        continue;
      }
    if (!is_array(p)) return nullptr;
    const Tail shape(slot_of(p).shape, sizes);
    const double* data = shape.nd == 1 ? plain_vector(args[k], shape.dims[0]) : plain_in(args[k], shape.nd, shape.dims);
    if (!data) return nullptr;
    rows[p] = {data, 0};
  }
  LinkFrame frames[kFewLoads];
  RowData loads[kFewLoads];
  if constexpr (!std::is_same_v<Model, Hexapod>)
    if (external && external != Py_None) {
      Job& tree = tree_of(job);
#ifdef Py_GIL_DISABLED
      return nullptr;  // another thread may change the dict
#endif
      if (!PyDict_Check(external) || PyDict_GET_SIZE(external) > kFewLoads) return nullptr;
      PyObject *link, *wrench;
      for (Py_ssize_t at = 0; PyDict_Next(external, &at, &link, &wrench); ++tree.external_count) {
        const double* data = PyUnicode_CheckExact(link) ? plain_vector(wrench, 6) : nullptr;
        if (!data) return nullptr;
        frames[tree.external_count] = frame_of(c, tree_of(model), "external link", link);
        loads[tree.external_count] = {data, 0};
      }
      tree.external_frames = frames;
      rows.external = loads;
    }
  rows.count = 1;
  rows.check_inputs = true;
  if (row.has(kOneBlock)) {
    const py::ssize_t size = block_size(job);
    py::object block = new_array(1, &size, rows.out[0]);
    if (kernels->run(job, rows, 0, 1)) return nullptr;
    return block_result(std::move(block), job, py::none(), nullptr).release().ptr();
  }
  const bool several = row.has(kSeveral);
  if (out && several && (wanted != kEverything || !PyTuple_Check(out) || PyTuple_GET_SIZE(out) != row.outputs.count))
    return nullptr;
  double number;
  KeptResults* kept = nullptr;
  if (several && !out) {
    static KeptResults of_rows[Face<Model>::kCount];
    kept = &of_rows[&row - Face<Model>::kRows];
    if (py::object result = kept->again(row, wanted & row.all(), sizes, rows.out)) {
      if (kernels->run(job, rows, 0, 1)) return nullptr;
      return result.release().ptr();
    }
    std::fill_n(rows.out, kMostOutputs, nullptr);
  }
  py::object results[kMostOutputs];
  unsigned left = wanted & row.all();
  for (int k = 0; left; ++k, left >>= 1) {
    if (!(left & 1)) continue;
    const Tail tail(row.outputs[k].shape, sizes);
    if (!out) {
      if (tail.nd == 0)
        rows.out[k] = &number;
      else
        results[k] = new_array(tail.nd, tail.dims, rows.out[k]);
      continue;
    }
    PyObject* given = several ? PyTuple_GET_ITEM(out, k) : out;
    if (!(rows.out[k] = plain_out(given, tail.nd, tail.dims))) return nullptr;
    const auto shared = [&](const double* data, std::ptrdiff_t size) {
      return overlaps(rows.out[k], numbers(row.outputs[k].shape, sizes), data, size);
    };
    for (int i = 0; i < row.required; ++i)
      if (const Param p = row.params[i]; is_array(p) && shared(rows[p].data, input_size(job, p))) return nullptr;
    for (int i = 0; i < external_count(job); ++i)
      if (shared(loads[i].data, 6)) return nullptr;
    for (int i = 0; i < k; ++i)
      if (shared(rows.out[i], numbers(row.outputs[i].shape, sizes))) return nullptr;
    results[k] = py::reinterpret_borrow<py::object>(given);
  }
  if (kernels->run(job, rows, 0, 1)) return nullptr;
  if (several) {
    py::object result = named_result(row, results);
    if (kept) kept->keep(result);
    return result.release().ptr();
  }
  return results[0] ? results[0].release().ptr() : PyFloat_FromDouble(number);
}

template PyObject* run_quickly<Chain>(const Context&, const Chain&, const FunctionRow&, PyObject* const*, Py_ssize_t,
                                      PyObject*);
template PyObject* run_quickly<Hexapod>(const Context&, const Hexapod&, const FunctionRow&, PyObject* const*, Py_ssize_t,
                                        PyObject*);
template PyObject* run_quickly<Linkage>(const Context&, const Linkage&, const FunctionRow&, PyObject* const*, Py_ssize_t,
                                        PyObject*);
template PyObject* run_call<Chain>(const Context&, Job&, Arrays&, const Arguments&);
template PyObject* run_call<Hexapod>(const Context&, HexJob&, Arrays&, const Arguments&);
template PyObject* run_call<Linkage>(const Context&, LinkageJob&, Arrays&, const Arguments&);
template PyObject* run_call<MovingChain>(const Context&, MotionJob&, Arrays&, const Arguments&);

}  // namespace zveno::bindings
