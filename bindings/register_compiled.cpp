// Functions of one particular mechanism as expression graphs, and the object that calls the machine code made from them.
#include <pybind11/stl.h>

#include <memory>

#include <zveno/instruments/trace.hpp>
#include <zveno/support/finite.hpp>

#include "call.hpp"
#include "callable.hpp"
#include "registers.hpp"
#include "result.hpp"

namespace zveno::bindings {
namespace {

// numbers of a state: passing fewer on gains nothing, more of them leave the fastest cache
constexpr std::ptrdiff_t kLeastPassed = 32, kMostPassed = 256;

[[noreturn]] void fail(const Context& c, const std::string& text) {
  throw py::value_error(std::string(c.function) + ": " + text);
}

// what is decided when a function is compiled
template <class Model>
struct Choice {
  const FunctionRow* row = nullptr;
  typename Face<Model>::Work job{};
  unsigned given = 0;              // arrays that calls will give, a bit for each Param
  std::vector<LinkFrame> frames;   // of the external wrenches
  std::vector<py::object> loaded;  // their links
  std::vector<int> symbolic;       // bodies whose inertial parameters are arguments, or given below
  std::vector<int> pattern;        // see TraceOptions
  std::vector<double> numbers;
  int parameters = 0;  // so many of them are arguments
};

// the body that the joint of link `name` moves
int body_of_link(const Context& c, const Chain& chain, py::handle name) {
  const LinkFrame frame = frame_of(c, chain, "parameters of link", name.ptr());
  if (frame.body == kWorld) fail(c, "link " + text_of(name) + " does not move: its parameters have no effect");
  const int link = chain.find_link(name.cast<std::string>());
  if (&chain.frame(link) != &chain.joint_frame(frame.body))
    fail(c, "link " + text_of(name) + " is welded to a moving link: name that one for its parameters");
  return frame.body;
}

void finish(const Context& c, const Chain& chain, const py::dict& options, const Arguments& a, Choice<Chain>& choice) {
  if (PyObject* external = a[Param::external])
    for (const py::handle& name : py::reinterpret_borrow<py::tuple>(external)) {
      choice.frames.push_back(frame_of(c, chain, "external link", name.ptr()));
      choice.loaded.push_back(py::reinterpret_borrow<py::object>(name));
    }
  if (options.contains("symbolic"))
    for (const py::handle& name : py::tuple(options["symbolic"])) choice.symbolic.push_back(body_of_link(c, chain, name));
  if (const SectionCut* cut = choice.job.section.get())
    for (const int b : choice.symbolic)
      if (b == cut->body)
        fail(c, "the section cuts link '" + chain.links()[chain.joint_frame(b).link].name +
                    "' or what is welded to it: its inertial parameters cannot be arguments");
  choice.job.external_count = static_cast<int>(choice.frames.size());
  choice.job.external_frames = choice.frames.data();  // stays with a choice that is moved
  const std::size_t all = kInertial * choice.symbolic.size();
  choice.parameters = static_cast<int>(all);
  if (options.contains("pattern")) {
    choice.pattern = options["pattern"].cast<std::vector<int>>();
    if (choice.pattern.size() != all) fail(c, "pattern has " + std::to_string(choice.pattern.size()) + " places");
    choice.parameters = 0;
    for (const int place : choice.pattern) choice.parameters = std::max(choice.parameters, place + 1);
  }
  if (options.contains("numbers")) {
    choice.numbers = options["numbers"].cast<std::vector<double>>();
    if (choice.numbers.size() != all) fail(c, "numbers has " + std::to_string(choice.numbers.size()) + " of them");
    choice.parameters = 0;
  }
  choice.job.parameters = choice.parameters;
}
void finish(const Context& c, const Hexapod& hexapod, const py::dict& options, const Arguments&, Choice<Hexapod>& choice) {
  const bool forces = choice.given >> index_of(Param::leg_tau) & 1;
  choice.job.actuated_only = forces && options.contains("tau") && options["tau"].cast<std::string>() == "actuated";
  for (int k = 0; k < kLegs; ++k)
    if (hexapod.leg(k).type == LegType::custom)
      fail(c, "leg '" + hexapod.leg(k).name + "' is custom: closed by iteration, it has no fixed sequence of operations");
}

void finish(const Context& c, const Linkage& linkage, const py::dict&, const Arguments& a, Choice<Linkage>& choice) {
  const std::string model = "model '" + linkage.name() + "'";
  if (a[Param::external]) fail(c, "external wrenches on a linkage are not compiled: add them to tau by a Jacobian");
  if (linkage.given()) fail(c, "constraints of " + model + " are functions of time or state: calls, no code");
  if (choice.job.function == LinkageFunction::constraint_derivatives)
    fail(c, "constraint_derivatives is made by dual numbers, expected another function");
  if (judged_size(choice.job) && linkage.rows() && !linkage.chosen())
    fail(c, "no closed configuration of " + model + " was found at which equations could be chosen");
}

// Options by the names of parameters, and: arguments (names of the arrays that calls will give), symbolic (names of links),
// tau ("actuated" or "all"), outputs. Absent or None: not given. `who` stands in messages.
template <class Model>
Choice<Model> choose(const char* who, const Model& model, const std::string& function, const py::dict& options) {
  const Context c{who, model.name()};
  Choice<Model> choice;
  choice.row = find_row<Model>(function);
  if (!choice.row || choice.row->has(kPrivate))
    fail(c, "unknown function '" + function + "', expected one of " + listed_functions<Model>());
  const FunctionRow& row = *choice.row;
  Arguments a;
  for (const OptionText& o : kOptions) {
    if (o.param == Param::parameters || !options.contains(o.name)) continue;
    PyObject* value = py::object(options[o.name]).ptr();  // the dict holds it
    if (value == Py_None) continue;
    if (o.param != Param::outputs && !row.takes(o.param)) fail(c, "function '" + function + "' takes no " + o.name);
    if (o.param == Param::outputs && !row.has(kSeveral)) fail(c, "function '" + function + "' has one result");
    a.slot[index_of(o.param)] = value;
  }
  if (row.takes(Param::section) && !a[Param::section]) fail(c, "function '" + function + "' needs a section");
  if (row.takes(Param::base) && !a[Param::base]) fail(c, "function '" + function + "' needs a base");

  std::vector<std::string> wanted, known;
  for (const py::handle& name : py::tuple(options["arguments"])) wanted.push_back(name.cast<std::string>());
  for (const Param p : row.params) {
    if (!is_array(p) || p == Param::start || p == Param::t) continue;
    known.push_back(name_of(p));
    const auto times = std::count(wanted.begin(), wanted.end(), name_of(p));
    if (times > 1) fail(c, "arguments has '" + known.back() + "' twice");
    if (times) choice.given |= 1u << index_of(p);
    // a pose, or the state of a chain, is never left out
    const bool needed =
        std::is_same_v<Model, Hexapod> ? p == Param::r || p == Param::R : p != Param::base_motion && p != Param::drive;
    if (!times && needed) fail(c, "arguments lacks '" + known.back() + "'");
  }
  for (const std::string& name : wanted)
    if (std::find(known.begin(), known.end(), name) == known.end())
      fail(c, "function '" + function + "' takes no argument '" + name + "', expected some of " + listed(known));

  choice.job = Face<Model>::options(c, model, row, a);
  choice.job.outputs = outputs_of(c, row, a[Param::outputs]);
  finish(c, model, options, a, choice);
  return choice;
}

template <class Model>
Graph trace_call(const Model& model, const std::string& function, const py::dict& options, const std::string& who,
                 bool regroup, std::size_t limit) {
  const Choice<Model> choice = choose<Model>(who.c_str(), model, function, options);
  const py::gil_scoped_release release;
  return trace(choice.job, {choice.given, choice.symbolic, choice.pattern, choice.numbers, regroup, limit});
}

// Numbers in the rows of the arrays that generated code passes on, see Program; none where it would not pay.
template <class Model>
std::vector<std::ptrdiff_t> streamed_rows(const Model& model, const std::string& function, const py::dict& options) {
  const Choice<Model> choice = choose<Model>("compile", model, function, options);
  std::vector<std::ptrdiff_t> sizes;
  std::ptrdiff_t total = 0;
  for (int k = 0; k < output_count(choice.job); ++k) {
    const std::ptrdiff_t size = output_size(choice.job, k);
    if ((choice.row->has(kSeveral) && !(choice.job.outputs >> k & 1)) || size <= kShortRow) continue;
    sizes.push_back(size), total += size;
  }
  if (total < kLeastPassed || total > kMostPassed) sizes.clear();
  return sizes;
}

// ---- the objects that call the machine code

struct Compiled {
  virtual ~Compiled() = default;
  virtual PyObject* call(PyObject* const* args, Py_ssize_t count, PyObject* kwnames) const = 0;
  static std::unique_ptr<Compiled> make(const py::tuple& t);
};

template <class Model>
struct CompiledOf final : Compiled {
  py::object model, code;  // kept alive
  Choice<Model> choice;
  Program program;
  Keywords names;
  std::size_t positional = 0;

  CompiledOf(const py::tuple& t, const py::dict& options)
      : model(t[0]),
        code(t[3]),
        choice(choose<Model>("compile", t[0].cast<const Model&>(), t[1].cast<std::string>(), options)) {
    const auto address = [&](int i) { return reinterpret_cast<Program::Call>(t[i].cast<std::uintptr_t>()); };
    program = {address(4), address(5), reinterpret_cast<decltype(program.passing)>(t[6].cast<std::uintptr_t>())};
    choice.job.program = &program;
    const auto add = [&](Param p) { names.emplace_back(index_of(p), interned(name_of(p))); };
    for (const Param p : choice.row->params)
      if (is_array(p) ? choice.given >> index_of(p) & 1 : p == Param::external) add(p);
    if (choice.parameters) add(Param::parameters);
    positional = names.size();
    for (const Param p : {Param::on_error, Param::status, Param::out, Param::threads}) add(p);
    set_quick();
  }

  // What the common call needs: one state in plain arrays, nothing else asked for. Worked out once.
  struct Quick {
    static constexpr int kMost = 32;  // joints
    static constexpr int kMostJudged = 256;
    int inputs = 0;  // 0: no such call
    py::ssize_t size_in[4] = {};
    struct Result {
      int of = 0, nd = 0;
      py::ssize_t dims[4] = {};
      std::ptrdiff_t size = 0;
    } result[kMostOutputs];  // those that are wanted
    int results = 0;
    int n = 0;                           // pivots
    int judged = 0;                      // of linkages: what has to be positive, pivots included
    const double* tiny_pivot = nullptr;  // of forward dynamics
    PyObject* out = nullptr;             // the keyword
  } quick;

  void set_quick() {
    if constexpr (std::is_same_v<Model, Chain>) {
      const FunctionRow& row = *choice.row;
      const Sizes sizes = sizes_of(choice.job);
      if (sizes[Size::n] > Quick::kMost || row.outputs[0].shape.count == 0 || !choice.loaded.empty() || choice.parameters ||
          work_of(row, sizes) > 256)
        return;
      int inputs = 0;
      for (const Param p : row.params)
        if (is_array(p) && (choice.given >> index_of(p) & 1)) {
          if (inputs == 4) return;
          quick.size_in[inputs++] = static_cast<py::ssize_t>(input_size(p, sizes));
        }
      for (int k = 0; k < row.outputs.count; ++k) {
        if (!(choice.job.outputs >> k & 1)) continue;
        typename Quick::Result& result = quick.result[quick.results++];
        result.of = k;
        result.size = numbers(row.outputs[k].shape, sizes);
        for (const Dim& d : row.outputs[k].shape) result.dims[result.nd++] = d.of(sizes);
      }
      quick.inputs = inputs;
      quick.out = interned("out");
      quick.n = sizes[Size::n];
      if (row.has(kSolves)) quick.tiny_pivot = choice.job.chain->tiny_pivot().data();
    }
    if constexpr (std::is_same_v<Model, Linkage>) {
      const LinkageJob& job = choice.job;
      const int n = job.linkage->chain().n();
      if (judged_size(job) > Quick::kMostJudged || n > Quick::kMost) return;
      int inputs = 0;
      for (const Param p : choice.row->params)
        if (is_array(p) && (choice.given >> index_of(p) & 1)) {
          if (inputs == 4 || input_size(job, p) != n) return;
          quick.size_in[inputs++] = n;
        }
      quick.inputs = inputs;
      quick.n = n;
      quick.judged = judged_size(job);
      quick.tiny_pivot = job.linkage->chain().tiny_pivot().data();
    }
  }

  // the same of linkages
  PyObject* single_of_linkage(PyObject* const* args) const {
    const double* in[4];
    double judged[Quick::kMostJudged], *out[kMostOutputs + 1];
    bool finite = true;
    for (int k = 0; k < quick.inputs; ++k) {
      in[k] = plain_vector(args[k], quick.size_in[k]);
      if (!in[k]) return nullptr;
      finite &= all_finite(in[k], quick.size_in[k]);
    }
    if (!finite) return nullptr;
    const FunctionRow& row = *choice.row;
    const Sizes sizes = sizes_of(choice.job);
    py::object results[kMostOutputs];
    int count = 0;
    for (int k = 0; k < row.outputs.count; ++k) {
      if (!(choice.job.outputs >> k & 1)) continue;
      const Tail tail(row.outputs[k].shape, sizes);
      results[k] = new_array(tail.nd, tail.dims, out[count++]);
    }
    out[count] = judged;
    program.one(in, out);
    count = 0;
    for (int k = 0; k < row.outputs.count; ++k)
      if (results[k]) finite &= all_finite(out[count++], numbers(row.outputs[k].shape, sizes));
    for (int i = 0; i < quick.judged; ++i) finite &= judged[i] > (i < quick.n ? quick.tiny_pivot[i] : 0.0);
    if (!finite) return nullptr;
    return row.has(kSeveral) ? named_result(row, results).release().ptr() : results[0].release().ptr();
  }

  // null without an error: something is unusual or wrong, and the long way tells what. kMost: results, 1 or several.
  template <int kMost>
  PyObject* single(PyObject* const* args, PyObject* given) const {
    constexpr bool several = kMost > 1;
    const int count = several ? quick.results : 1;
    if (given && several && (!PyTuple_Check(given) || PyTuple_GET_SIZE(given) != count)) return nullptr;
    const double* in[4];
    double pivot[Quick::kMost];
    double* out[kMost + 1];
    bool finite = true;
    for (int k = 0; k < quick.inputs; ++k) {
      in[k] = plain_vector(args[k], quick.size_in[k]);
      if (!in[k]) return nullptr;
      finite &= all_finite(in[k], quick.size_in[k]);
    }
    if (!finite) return nullptr;
    py::object results[kMost];
    for (int r = 0; r < count; ++r) {
      const typename Quick::Result& result = quick.result[r];
      py::object& made = results[several ? result.of : 0];
      if (!given) {
        made = new_array(result.nd, result.dims, out[r]);
        continue;
      }
      PyObject* const to = several ? PyTuple_GET_ITEM(given, r) : given;
      if (!(out[r] = plain_out(to, result.nd, result.dims))) return nullptr;
      for (int k = 0; k < quick.inputs; ++k)
        if (overlaps(out[r], result.size, in[k], quick.size_in[k])) return nullptr;
      for (int k = 0; k < r; ++k)
        if (overlaps(out[r], result.size, out[k], quick.result[k].size)) return nullptr;
      made = py::reinterpret_borrow<py::object>(to);
    }
    out[count] = pivot;
    program.one(in, out);
    for (int r = 0; r < count; ++r) finite &= all_finite(out[r], quick.result[r].size);
    if (!finite) return nullptr;
    for (int b = 0; quick.tiny_pivot && b < quick.n; ++b)  // one by one: vectors would wait for what was just stored
      if (!(pivot[b] > quick.tiny_pivot[b])) return nullptr;
    if constexpr (several) return named_result(*choice.row, results).release().ptr();
    return results[0].release().ptr();
  }

  PyObject* call(PyObject* const* args, Py_ssize_t count, PyObject* kwnames) const override {
    if constexpr (std::is_same_v<Model, Linkage>) {
      if (count == quick.inputs && count > 0 && !kwnames)
        if (PyObject* result = single_of_linkage(args)) return result;
    } else if (count == quick.inputs && count > 0) {
      const bool out_only = kwnames && PyTuple_GET_SIZE(kwnames) == 1 && PyTuple_GET_ITEM(kwnames, 0) == quick.out;
      if (!kwnames || out_only) {
        PyObject* const out = out_only ? args[count] : nullptr;
        PyObject* result = choice.row->has(kSeveral) ? single<kMostOutputs>(args, out) : single<1>(args, out);
        if (result) return result;
      }
    }
    const FunctionRow& row = *choice.row;
    auto job = choice.job;
    const Context c{row.name, Face<Model>::model(job).name()};
    Arguments a;
    place_arguments(
        row.name, names, positional, [] { return "on_error, status, out and threads"; }, args, count, kwnames, a.slot);
    Arrays arrays;
    read_states<Model>(c, job, a, row.params.count, choice.given, arrays);
    if (!choice.loaded.empty() || a[Param::external]) read_loads(c, a[Param::external], arrays);
    if (choice.parameters) {
      if (!a[Param::parameters]) throw py::type_error(std::string(row.name) + ": argument 'parameters' is missing");
      if (choice.pattern.empty())
        arrays.read(c, {"parameters"}, a[Param::parameters], static_cast<py::ssize_t>(choice.symbolic.size()), kInertial);
      else
        arrays.read(c, {"parameters"}, a[Param::parameters], choice.parameters);
    }
    return run_call<Model>(c, job, arrays, a);
  }

  void read_loads(const Context& c, PyObject* external, Arrays& arrays) const {
    if (choice.loaded.empty())
      fail(c, "compiled without external wrenches, expected none; compile(..., external=[links]) takes them");
    const auto links = [&] { return text_of(py::cast(choice.loaded)); };
    if (!external) fail(c, "argument 'external' is missing: compiled with wrenches on " + links());
    require_dict(c, external);
    if (PyDict_GET_SIZE(external) != static_cast<Py_ssize_t>(choice.loaded.size()))
      fail(c, "external has " + std::to_string(PyDict_GET_SIZE(external)) + " wrenches, expected those on " + links());
    for (const py::object& link : choice.loaded) {
      PyObject* wrench = PyDict_GetItemWithError(external, link.ptr());
      if (!wrench) {
        if (PyErr_Occurred()) throw py::error_already_set();
        fail(c, "external has no wrench on link " + text_of(link));
      }
      py::object held = py::reinterpret_borrow<py::object>(wrench);  // reading may run code that changes the dict
      arrays.read(c, {"external", link.ptr()}, wrench, 6);
      arrays.keep(std::move(held));
    }
  }
};

// (model, function, options, code, scalar address or 0, vector address, the one that passes rows on or 0, lanes)
std::unique_ptr<Compiled> Compiled::make(const py::tuple& t) {
  if (t.size() != 8) throw py::type_error("Compiled: expected 8 arguments");
  require_lanes("Compiled", t[7]);
  const auto options = t[2].cast<py::dict>();
  if (py::isinstance<Chain>(t[0])) return std::make_unique<CompiledOf<Chain>>(t, options);
  if (py::isinstance<Linkage>(t[0])) return std::make_unique<CompiledOf<Linkage>>(t, options);
  return std::make_unique<CompiledOf<Hexapod>>(t, options);
}

}  // namespace

void register_compiled(py::module_& m) {
  m.attr("Compiled") = Callable<Compiled>::type("zveno._core.Compiled");
  const char* const doc = "What a method computes for this mechanism, as a graph.";
  const auto add = [&](auto call) {
    m.def("trace", call, py::arg("model"), py::arg("function"), py::arg("options"), py::arg("who"), py::arg("regroup"),
          py::arg("limit"), doc);
  };
  add(&trace_call<Chain>);
  add(&trace_call<Hexapod>);
  add(&trace_call<Linkage>);
  const auto add_rows = [&](auto call) {
    m.def("streamed_rows", call, py::arg("model"), py::arg("function"), py::arg("options"));
  };
  add_rows(&streamed_rows<Chain>);
  add_rows(&streamed_rows<Hexapod>);
  add_rows(&streamed_rows<Linkage>);
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
