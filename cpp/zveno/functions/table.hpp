// A function of a mechanism is a row of a table: what it takes, what it gives, what it costs, and a paragraph about it.
// Everything that is not the algorithm derives from the row: parsing, broadcasting, shapes, batches, statuses, docstrings,
// stubs, traces and compiled functions, the lists that tests and benchmarks go through.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace zveno {

// What a call may be given. First the arrays.
enum class Param : std::uint8_t {
  // of chains
  q,
  qd,
  qdd,
  tau,
  // of the base: [a; Omega; Omega'] everywhere
  base_motion,
  // of chains
  weights,
  // of hexapods
  r,
  R,
  u,
  acceleration,
  wrench,
  leg_tau,
  omega,
  base_wrench,
  start,
  // of linkages
  t,
  multiplier,
  drive,
  given,
  // not arrays of the state
  external,
  external_frame,
  method,
  link,
  point,
  frame,
  about,
  base,
  parameters,
  section,
  parts,
  wrt,
  order,
  i,
  j,
  by,
  motion,
  // of every function, by keyword
  outputs,
  on_error,
  status,
  out,
  threads,
};
constexpr int kInputs = static_cast<int>(Param::given) + 1;
constexpr int kChainInputs = static_cast<int>(Param::weights) + 1;
constexpr int kParams = static_cast<int>(Param::threads) + 1;

constexpr int index_of(Param p) { return static_cast<int>(p); }
constexpr bool is_array(Param p) { return index_of(p) < kInputs; }

// what dimensions depend on
enum class Size : std::uint8_t {
  one,
  n,      // moving joints of a chain
  links,  // all links of a chain
  nj,     // places for the joints of a leg
  m,      // equations of a linkage
  k,      // constraints of a linkage
  given,  // numbers that its functions of time give
  pairs,  // pairs of a link of a chain and a joint that moves it
};
inline constexpr const char* kSizeNames[] = {"", "n", "N", "nj", "m", "k", "given", "P"};

struct Sizes {
  int value[8];

  constexpr int operator[](Size s) const { return value[static_cast<int>(s)]; }
  static constexpr Sizes of_chain(int n, int links, int pairs) { return {{1, n, links, 0, 0, 0, 0, pairs}}; }
  static constexpr Sizes of_hexapod(int nj) { return {{1, 0, 0, nj, 0, 0, 0, 0}}; }
  static constexpr Sizes of_linkage(int n, int links, int m, int k, int given) { return {{1, n, links, 0, m, k, given, 0}}; }
};

// a dimension: so many times one of the sizes
struct Dim {
  int factor = 0;
  Size size = Size::one;

  constexpr Dim() = default;
  constexpr Dim(int number) : factor(number) {}
  constexpr Dim(int factor, Size size) : factor(factor), size(size) {}
  constexpr int of(const Sizes& s) const { return factor * s[size]; }
};
constexpr Dim kN(1, Size::n), kNj(1, Size::nj), kTenLinks(10, Size::links), kTenPairs(10, Size::pairs), kM(1, Size::m),
    kK(1, Size::k);

// a short list in a constant
template <class T, int kMost>
struct List {
  static constexpr int kCapacity = kMost;
  T item[kMost] = {};
  int count = 0;

  constexpr List(std::initializer_list<T> list) {
    for (const T& x : list) item[count++] = x;
  }
  constexpr const T* begin() const { return item; }
  constexpr const T* end() const { return item + count; }
  constexpr const T& operator[](int i) const { return item[i]; }
};

using Shape = List<Dim, 4>;

constexpr std::ptrdiff_t numbers(const Shape& shape, const Sizes& s) {
  std::ptrdiff_t count = 1;
  for (const Dim& d : shape) count *= d.of(s);
  return count;
}

// an array of one state
struct Slot {
  const char* name;
  Shape shape;
  const char* unit;
  const char* text;
};

// arrays that are given, in the order of Param
inline constexpr Slot kSlots[] = {
    {"q", {kN}, "rad or m", "Joint coordinates."},
    {"qd", {kN}, "rad/s or m/s", "Joint rates."},
    {"qdd", {kN}, "rad/s^2 or m/s^2", "Joint accelerations."},
    {"tau", {kN}, "N m or N", "Joint efforts."},
    {"base_motion",
     {9},
     "m/s^2, rad/s, rad/s^2",
     "Acceleration of the base origin, angular velocity and angular acceleration of the base, in its own axes."},
    {"weights", {kN}, "1", "Weights nu of the joint efforts in the sum nu . tau."},
    {"r",
     {3},
     "m",
     "Centre of mass of the ring in the base frame; if R is None or not given, a whole pose: a 4x4 matrix, an object "
     "whose as_matrix() is one, (r, R)."},
    {"R",
     {3, 3},
     "1",
     "Ring axes to base axes, an object with as_matrix() or {'quaternion': (w, x, y, z)}; refused if it differs from a "
     "rotation by more than 1e-9."},
    {"u",
     {6},
     "m/s and rad/s",
     "Velocity of the centre in base axes and angular velocity in ring axes, relative to the base."},
    {"acceleration", {6}, "m/s^2 and rad/s^2", "Wanted u'."},
    {"wrench", {6}, "N and N m", "Force on the ring at its centre of mass in base axes, and moment in ring axes."},
    {"tau",
     {6},
     "N or N m",
     "Forces of the actuated joints, or of all joints (..., 6, nj); positive ones increase the coordinate."},
    {"omega", {3}, "rad/s", "Angular velocity of the base, base axes."},
    {"base_wrench", {6}, "N and N m", "Force and moment on the base at its centre of mass, base axes."},
    {"start", {6, kNj}, "rad or m", "Where Newton's method begins; default: the closed form, and the start of custom legs."},
    {"t", {}, "s", "Time, for constraints that move; the others do not ask for it."},
    {"multiplier", {kM}, "N", "Multipliers N of the equations."},
    {"drive",
     {kK, 2},
     "N and N m",
     "Drives in the joints that close loops: force along the axis of A on link B at its point, and moment about that axis; "
     "the opposite acts on A. 0 for relations of coordinates."},
    {"given", {Dim(1, Size::given)}, "1", "What functions of time and of the state give."},
};
static_assert(sizeof(kSlots) / sizeof(kSlots[0]) == kInputs);

constexpr const Slot& slot_of(Param p) { return kSlots[index_of(p)]; }

// numbers of one state; leg_tau may have more
constexpr int input_size(Param p, const Sizes& s) { return static_cast<int>(numbers(slot_of(p).shape, s)); }

// options and what every function has
struct OptionText {
  Param param;
  const char* name;
  const char* type;
  const char* fallback;  // as Python writes it
  const char* text;
};
inline constexpr OptionText kOptions[] = {
    {Param::external, "external", "dict, optional", "None",
     "{link name: (..., 6) wrench [force; moment]} acting on links at their origins, world axes, N and N m."},
    {Param::external_frame, "external_frame", "{'world', 'link'}", "'world'",
     "Axes of the external wrenches, in which they also keep their components while the links turn."},
    {Param::method, "method", "str", "", ""},
    {Param::link, "link", "str", "", "Name of a link, welded ones too, or of the base."},
    {Param::point, "point", "(3,) array, optional", "None", "Point in link axes, m; the link origin by default."},
    {Param::frame, "frame", "{'world', 'link'}", "", "Axes of the result."},
    {Param::about, "about", "{'com', 'base'}", "'com'",
     "Point that angular momentum is taken about: the centre of mass or the base origin."},
    {Param::base, "base", "Body", "", "The spacecraft that carries the mechanism; its com in the base frame."},
    {Param::parameters, "parameters", "(..., k, 10) array", "",
     "Inertial parameters of the links that were named: m, m c (3), Ixx, Ixy, Ixz, Iyy, Iyz, Izz."},
    {Param::section, "section", "Section", "", "The cut; see `zveno.Section`."},
    {Param::parts, "parts", "{'total', 'static', 'dynamic'}", "'total'",
     "'static' is at rest, with weight and external wrenches; 'dynamic' has neither, but joint rates, accelerations and "
     "the motion of the base. Together they are the total."},
    {Param::wrt, "wrt", "sequence, optional", "None",
     "What to differentiate by, instead of q, qd and qdd: some of 'q', 'qd', 'qdd', 'gravity', 'parameters', 'external'; "
     "the last "
     "two also with links, ('parameters', ['tool']). Gives an object with dtau_dq, ..., dtau_dgravity (..., n, 3), "
     "dtau_dparameters (..., n, 10 k), dtau_dexternal (..., n, 6 k)."},
    {Param::order, "order", "{1, 2}", "1", "First or second derivatives."},
    {Param::i, "i", "str or int", "", "Joint, by its name or its place in q."},
    {Param::j, "j", "str or int", "", "Joint, by its name or its place in q."},
    {Param::by, "by", "sequence of str or int", "()",
     "Joints to differentiate by, at most 12, in any order; a joint may be there more than once. None: no derivative."},
    {Param::motion, "motion", "{'link', 'outboard'}", "'link'",
     "'link': motion of the link relative to the base, joint i inboard of it. 'outboard': motion relative to the link of "
     "what "
     "joint i carries, joint i outboard of the link."},
    {Param::outputs, "outputs", "sequence of str, optional", "None",
     "Names of the results that are wanted, all by default; the others are not stored and, where possible, not computed."},
    {Param::on_error, "on_error", "{'raise', 'nan'}", "'raise'",
     "What to do with a state that has no result: raise an error that names the cause, or fill its row with NaN."},
    {Param::status, "status", "(...) int16 array, optional", "None",
     "Written with on_error='nan': 0 for rows that were computed, else a code that explain() puts into words; after Ctrl-C "
     "nothing but -1."},
    {Param::out, "out", "optional", "None",
     "Written and returned instead of a new result: exact shape, float64, C-contiguous, no memory shared with the "
     "arguments. Undefined after an error; after Ctrl-C nothing but NaN."},
    {Param::threads, "threads", "int, optional", "None",
     "Threads over the batch, at most 256; None is one, 0 as many as this process may use: processors, affinity, quota of "
     "its container, SLURM_CPUS_PER_TASK. Fewer where the system gives no more. Results do not depend on it."},
};

constexpr const OptionText& option_of(Param p) {
  for (const OptionText& o : kOptions)
    if (o.param == p) return o;
  return kOptions[0];
}
constexpr const char* name_of(Param p) { return is_array(p) ? slot_of(p).name : option_of(p).name; }

// operations of one state grow like
enum class Cost : std::uint8_t { fixed, linear, quadratic, cubic, quartic };

struct MethodName {
  const char* name;
  int code;
};

enum Trait : unsigned {
  kRegroups = 1,    // the result stays the same when inertia is handed from link to link
  kSolves = 2,      // gives pivots to be judged
  kInLinkAxes = 4,  // frame='link' is the default
  kOneBlock = 8,    // results of a state stand side by side; a result object gives views
  kPrivate = 16,    // no name for users
  kSeveral = 32,    // a named result
  kInCutAxes = 64,  // frame is 'section' (the default), 'link' or 'world'
  kAlsoBy = 128,    // takes wrt, by keyword
};

// in positional order, those that must be given first
struct Params : List<Param, 10> {
  std::uint64_t mask = 0;

  constexpr Params(std::initializer_list<Param> list) : List(list) {
    for (const Param p : list) mask |= std::uint64_t{1} << index_of(p);
  }
};

struct FunctionRow {
  const char* name;
  int code;  // of the mechanism's enum
  Params params;
  int required;
  List<MethodName, 10> methods;
  List<Slot, 7> outputs;
  Cost cost;
  unsigned traits;
  const char* summary;
  const char* notes;  // paragraphs, may be empty
  const char* method_text;
  const char* example;
  const char* result = "";  // kSeveral: its type in Python

  constexpr bool takes(Param p) const { return params.mask >> index_of(p) & 1; }
  constexpr bool has(Trait t) const { return (traits & t) != 0; }
  constexpr unsigned all() const { return (1u << outputs.count) - 1; }
};

// whether a computation is long enough to give the interpreter lock away for it, which costs as much as a small kernel
constexpr std::ptrdiff_t work_of(const FunctionRow& row, const Sizes& s) {
  const std::ptrdiff_t n = s[Size::n];
  switch (row.cost) {
    case Cost::fixed: return 64;
    case Cost::linear: return n;
    case Cost::quadratic: return n * n;
    case Cost::cubic: return n * n * n;
    default: return n * n * n * n;
  }
}

}  // namespace zveno
