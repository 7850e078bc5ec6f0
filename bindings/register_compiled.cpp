// Functions of one chain as expression graphs, and the object that calls the machine code made from them.
#include <pybind11/stl.h>

#include <memory>

#include <zveno/instruments/trace.hpp>
#include <zveno/support/finite.hpp>

#include "callable.hpp"
#include "dynamics.hpp"
#include "registers.hpp"

namespace zveno::bindings {
namespace {

// what is decided when a function is compiled
struct Choice {
  const Signature* signature;
  std::vector<LinkFrame> frames;  // of the external wrenches
  std::vector<int> symbolic;      // bodies whose inertial parameters are arguments
  Job job;
};

[[noreturn]] void fail(const Context& c, const std::string& text) {
  throw py::value_error(std::string(c.function) + ": " + text);
}

bool takes(const Signature& s, Param p) {
  for (const auto& [param, name] : s.params)
    if (param == p) return true;
  return false;
}

// the body that the joint of link `name` moves
int body_of(const Context& c, const Chain& chain, py::handle name) {
  const LinkFrame frame = frame_of(c, chain, "parameters of link", name.ptr());
  if (frame.body == kWorld) fail(c, "link " + text_of(name) + " does not move: its parameters have no effect");
  const int link = chain.find_link(name.cast<std::string>());
  if (&chain.frame(link) != &chain.joint_frame(frame.body))
    fail(c, "link " + text_of(name) + " is welded to a moving link: name that one for its parameters");
  return frame.body;
}

// options: method, link, point, frame, external (names), symbolic (names); absent or None: not given
Choice choose(const Chain& chain, const std::string& function, const py::dict& options) {
  const Context c{"compile", chain.name()};
  Choice choice;
  choice.signature = find_signature(function);
  if (!choice.signature) fail(c, "unknown function '" + function + "', expected one of " + list_of_functions());
  const Signature& s = *choice.signature;
  const auto given = [&](const char* key, Param p) -> PyObject* {
    PyObject* value = options.contains(key) ? py::object(options[key]).ptr() : nullptr;  // the dict holds it
    if (!value || value == Py_None) return nullptr;
    if (!takes(s, p)) fail(c, "function '" + function + "' takes no " + key);
    return value;
  };
  Signature named = s;
  named.name = c.function;
  Job& job = choice.job;
  PyObject* method = given("method", P::method);
  job = Job{&chain, s.function, method_of(chain, named, method)};
  job.link_axes = link_axes(c, given("frame", P::frame), s.function == Function::reactions);
  PyObject* link = given("link", P::link);
  PyObject* point = given("point", P::point);
  if (about_a_link(s.function)) {
    job.frame = frame_of(c, chain, "link", link);
    read_point(c, point, job.frame);
  }
  if (PyObject* external = given("external", P::external))
    for (const py::handle& name : py::reinterpret_borrow<py::tuple>(external))
      choice.frames.push_back(frame_of(c, chain, "external link", name.ptr()));
  if (options.contains("symbolic"))
    for (const py::handle& name : py::tuple(options["symbolic"])) choice.symbolic.push_back(body_of(c, chain, name));
  job.external_count = static_cast<int>(choice.frames.size());
  job.parameters = kInertial * static_cast<int>(choice.symbolic.size());
  return choice;
}

Graph trace(const Chain& chain, const std::string& function, const py::dict& options, bool regroup, std::size_t limit) {
  Choice choice = choose(chain, function, options);
  choice.job.external_frames = choice.frames.data();
  const py::gil_scoped_release release;
  return trace_chain(choice.job, {choice.symbolic, regroup, limit});
}

// ---- the objects that call the machine code

struct State {
  py::object chain, code;  // kept alive
  Choice choice;
  Program program;
  Keywords names;
  std::size_t positional = 0;
  std::vector<py::object> loaded;  // links of the external wrenches

  // (chain, function, options, code, scalar address, vector address, lanes)
  static std::unique_ptr<State> make(const py::tuple& t) {
    if (t.size() != 7) throw py::type_error("Compiled: expected 7 arguments");
    require_lanes("Compiled", t[6]);
    const auto address = [&](int i) { return reinterpret_cast<Program::Call>(t[i].cast<std::uintptr_t>()); };
    auto state = std::make_unique<State>();
    state->chain = t[0];
    state->code = t[3];
    const auto options = t[2].cast<py::dict>();
    Choice& choice = state->choice = choose(t[0].cast<const Chain&>(), t[1].cast<std::string>(), options);
    state->program = {address(4), address(5)};
    choice.job.external_frames = choice.frames.data();
    choice.job.program = &state->program;
    if (options.contains("external"))
      for (const py::handle& link : py::tuple(options["external"]))
        state->loaded.push_back(py::reinterpret_borrow<py::object>(link));
    const auto add = [&](Param p, const char* name) { state->names.emplace_back(static_cast<int>(p), interned(name)); };
    for (const auto& [param, name] : choice.signature->params)
      if (param == P::q || param == P::qd || param == P::third || param == P::external) add(param, name);
    if (!choice.symbolic.empty()) add(P::parameters, "parameters");
    state->positional = state->names.size();
    add(P::out, "out"), add(P::threads, "threads");
    state->set_quick();
    return state;
  }

  // What the common call needs: one state in plain arrays, nothing else asked for. Worked out once.
  struct Quick {
    static constexpr int kMost = 32;  // joints
    int inputs = 0;                   // 0: no such call
    int n = 0, tail_nd = 0;
    py::ssize_t tail[2] = {};
    std::ptrdiff_t size = 0;
    const double* tiny_pivot = nullptr;  // of forward dynamics
    PyObject* out = nullptr;             // the keyword
  } quick;

  void set_quick() {
    const Job& job = choice.job;
    const int n = job.chain->n(), tail_nd = result_tail(job.function, n, quick.tail);
    if (n > Quick::kMost || tail_nd == 0 || job.function == Function::derivatives || !loaded.empty() ||
        !choice.symbolic.empty() || worth_releasing(job.function, 1, n))
      return;
    quick.inputs = input_count(job.function);
    quick.n = n;
    quick.out = interned("out");
    quick.tail_nd = tail_nd;
    quick.size = output_size(job.function, n);
    if (job.function == Function::forward_dynamics) quick.tiny_pivot = job.chain->tiny_pivot().data();
  }

  // null without an error: something is unusual or wrong, and the long way tells what
  PyObject* single(PyObject* const* args, PyObject* given) const {
    const double* in[3];
    double pivot[Quick::kMost];
    double* out[2] = {nullptr, pivot};
    if (given && !(out[0] = plain_out(given, quick.tail_nd, quick.tail))) return nullptr;
    bool finite = true;
    for (int k = 0; k < quick.inputs; ++k) {
      in[k] = plain_vector(args[k], quick.n);
      if (!in[k] || (given && overlaps(out[0], quick.size, in[k], quick.n))) return nullptr;
      finite &= all_finite(in[k], quick.n);
    }
    py::object result = given ? py::reinterpret_borrow<py::object>(given) : new_array(quick.tail_nd, quick.tail, out[0]);
    program.one(in, out);
    finite &= all_finite(out[0], quick.size);
    for (int b = 0; quick.tiny_pivot && b < quick.n; ++b) finite &= pivot[b] > quick.tiny_pivot[b];
    return finite ? result.release().ptr() : nullptr;
  }

  PyObject* call(PyObject* const* args, Py_ssize_t count, PyObject* kwnames) const {
    if (count == quick.inputs && count > 0) {
      const bool out_only = kwnames && PyTuple_GET_SIZE(kwnames) == 1 && PyTuple_GET_ITEM(kwnames, 0) == quick.out;
      if (!kwnames || out_only)
        if (PyObject* result = single(args, out_only ? args[count] : nullptr)) return result;
    }
    const Signature& s = *choice.signature;
    const Context c{s.name, choice.job.chain->name()};
    Arguments a;
    place_arguments(s.name, names, positional, "out and threads", args, count, kwnames, a.slot);
    Arrays arrays;
    arrays.read_states(c, s, a, choice.job.chain->n());
    if (!loaded.empty() || a[P::external]) read_loads(c, a[P::external], arrays);
    if (!choice.symbolic.empty()) {
      if (!a[P::parameters]) throw py::type_error(std::string(s.name) + ": argument 'parameters' is missing");
      arrays.read(c, {"parameters"}, a[P::parameters], static_cast<py::ssize_t>(choice.symbolic.size()), kInertial);
    }
    return run_call(c, s, choice.job, arrays, a[P::out], a[P::threads]);
  }

  void read_loads(const Context& c, PyObject* external, Arrays& arrays) const {
    if (external == Py_None) external = nullptr;
    if (loaded.empty()) {
      if (external) fail(c, "compiled without external wrenches, expected none; compile(..., external=[links]) takes them");
      return;
    }
    const auto links = [&] { return text_of(py::cast(loaded)); };
    if (!external) fail(c, "argument 'external' is missing: compiled with wrenches on " + links());
    require_dict(c, external);
    if (PyDict_GET_SIZE(external) != static_cast<Py_ssize_t>(loaded.size()))
      fail(c, "external has " + std::to_string(PyDict_GET_SIZE(external)) + " wrenches, expected those on " + links());
    for (const py::object& link : loaded) {
      PyObject* wrench = PyDict_GetItemWithError(external, link.ptr());
      if (!wrench) {
        if (PyErr_Occurred()) throw py::error_already_set();
        fail(c, "external has no wrench on link " + text_of(link));
      }
      const py::object held = py::reinterpret_borrow<py::object>(wrench);  // reading may run code that changes the dict
      arrays.read(c, {"external", link.ptr()}, wrench, 6);
      if (Rowwise& rows = arrays.rows[arrays.rows.size() - 1]; !rows.owner) rows.owner = held;
    }
  }
};

}  // namespace

void register_compiled(py::module_& m) {
  m.attr("Compiled") = Callable<State>::type("zveno._core.Compiled");
  m.def("trace_chain", &trace, py::arg("chain"), py::arg("function"), py::arg("options"), py::arg("regroup"),
        py::arg("limit"), "What a method computes for this chain, as a graph.");
  m.def(
      "body_parameters",
      [](const Chain& chain) {
        py::array_t<double> all({chain.n(), kInertial});
        for (int b = 0; b < chain.n(); ++b)
          body_parameters(chain, b, all.mutable_data() + static_cast<std::ptrdiff_t>(chain.user_index()[b]) * kInertial);
        return all;
      },
      py::arg("chain"),
      "Inertial parameters (n, 10) of the moving links in the order of joints, what is welded to them included.");
}

}  // namespace zveno::bindings
