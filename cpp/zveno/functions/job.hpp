// What is to be computed: one function of one mechanism for many states. Plain data, shared by all instruction sets.
#pragma once

#include <memory>
#include <type_traits>
#include <vector>

#include <zveno/functions/hexapod_functions.hpp>
#include <zveno/functions/rows.hpp>
#include <zveno/model/hexapod.hpp>
#include <zveno/model/section.hpp>

namespace zveno {

// Machine code made for one job. One state: the numbers of every argument, row by row. Packs: kLanes states, each number
// repeated for every lane, aligned.
struct Vectors;
struct Program {
  using Call = void (*)(const double* const* in, double* const* out);
  Call one = nullptr;  // none: single states of a hexapod are left to the kernels
  Call packs = nullptr;
  // Packs, and on the way rows of kLanes states that were computed before go past the caches, a few vectors every so many
  // operations: `waiting` for each of streamed_rows(). All at once they would hold up every store that follows.
  void (*passing)(const double* const* in, double* const* out, const Vectors* waiting) = nullptr;
};
// rows of at most so many numbers are written where they belong, by lanes
constexpr std::ptrdiff_t kShortRow = 8;

constexpr unsigned kEverything = ~0u;
constexpr int kMostOrders = 12;  // of derivatives of one element

struct Job {
  const Chain* chain;
  Function function;
  Method method = Method::none;
  // pose, velocities, Jacobians: where the point of interest stands, and in which axes the result is wanted
  LinkFrame frame{kWorld, diagonal(1.0), {0, 0, 0}};
  bool link_axes = false;
  bool about_base = false;   // angular momentum about the base origin instead of the centre of mass
  int i = 0, j = 0;          // bodies of two joints
  int by[kMostOrders] = {};  // bodies of joints to differentiate by, ascending
  int order = 0;             // so many of them
  bool outboard = false;     // column of a joint outboard of the frame
  bool weightless = false;   // base_motion has the weight in it: a - g
  // external wrenches [f; m] at the origins of these frames, base axes or their own
  const LinkFrame* external_frames = nullptr;
  int external_count = 0;
  bool external_in_links = false;
  unsigned outputs = kEverything;  // one bit for each result
  // computes instead of the kernels; in: see for_arguments, out: Pieces
  const Program* program = nullptr;
  int parameters = 0;  // inertial parameters that the program is given

  std::shared_ptr<const SectionCut> section = nullptr;  // of section_load
};

struct HexJob {
  const Hexapod* hexapod;
  HexFunction function;
  bool newton = false;         // closure by Newton's method for every leg
  bool actuated_only = false;  // rows of tau hold the 6 actuated forces instead of 6 x nj
  BodySpec base = {};          // of free dynamics: its centre of mass stands at base.com in the base frame
  unsigned outputs = kEverything;
  const Program* program = nullptr;  // see Job
};

inline Sizes sizes_of(const Job& job) {
  return Sizes::of_chain(job.chain->n(), static_cast<int>(job.chain->links().size()), job.chain->pairs());
}
inline Sizes sizes_of(const HexJob& job) { return Sizes::of_hexapod(job.hexapod->joints()); }

// numbers of one state of an array that is given
inline int input_size(const Job& job, Param p) { return p == Param::base_motion ? 9 : job.chain->n(); }
inline int input_size(const HexJob& job, Param p) {
  const int size = input_size(p, sizes_of(job));
  return p == Param::leg_tau && !job.actuated_only ? size * job.hexapod->joints() : size;
}

// arrays of results; those of kOneBlock stand in one
inline int output_count(const Job& job) { return row_of(job.function).outputs.count; }
inline int output_count(const HexJob&) { return 1; }

// numbers of one state in one of them
inline std::ptrdiff_t output_size(const Job& job, int k = 0) {
  return numbers(row_of(job.function).outputs[k].shape, sizes_of(job));
}

// Where the results of forward dynamics stand in a row: those of the ring and the base, then for each leg its coordinates,
// rates, accelerations and the reaction on the ring; what is not wanted takes no place.
struct DynamicsLayout {
  int joints;
  bool free;
  int head_size = 0, leg_size = 0;
  int at[kMostOutputs];  // in the head or in a leg; -1: not there

  DynamicsLayout() = default;  // of nothing yet
  DynamicsLayout(int joints, bool free, unsigned outputs = kEverything) : joints(joints), free(free) {
    const FunctionRow& row = row_of(free ? HexFunction::free_dynamics : HexFunction::forward_dynamics);
    for (int k = 0; k < row.outputs.count; ++k) {
      const Shape& shape = row.outputs[k].shape;
      int& size = shape.count == 2 ? leg_size : head_size;
      at[k] = outputs >> k & 1 ? size : -1;
      if (at[k] >= 0) size += shape[shape.count - 1].of(Sizes::of_hexapod(joints));
    }
  }
  int head() const { return head_size; }
  int per_leg() const { return leg_size; }
  int size() const { return head_size + kLegs * leg_size; }
  // places of the results that both functions have
  int acceleration() const { return at[0]; }
  int base_wrench() const { return at[1]; }
  int base_acceleration() const { return free ? at[2] : -1; }
  int leg(int k) const { return at[2 + free + k]; }  // coordinates, rates, accelerations, reaction
  bool whole() const { return head_size == (free ? 18 : 12) && leg_size == 3 * joints + 4; }
};

inline bool is_dynamics(HexFunction f) { return f == HexFunction::forward_dynamics || f == HexFunction::free_dynamics; }

inline std::ptrdiff_t output_size(const HexJob& job, int = 0) {
  const FunctionRow& row = row_of(job.function);
  if (!row.has(kOneBlock)) return numbers(row.outputs[0].shape, sizes_of(job));
  return DynamicsLayout(job.hexapod->joints(), job.function == HexFunction::free_dynamics, job.outputs).size();
}

// What a program writes, piece by piece: the results that are wanted, and what the library judges them by. That is, for
// forward dynamics of a chain, the n pivots; for a hexapod the measures of the legs (6 x 4), and for inverse dynamics the
// Jacobian of the actuated joints by rows, unknowns in base axes (6 x 6).
struct Pieces {
  static constexpr int kMost = kMostOutputs + 1;
  struct Piece {
    bool judged;  // not a result
    int result;
    std::ptrdiff_t at, size;
  };
  Piece piece[kMost];
  int count = 0;
  std::ptrdiff_t judged = 0;  // numbers in all

  void add(int result, std::ptrdiff_t at, std::ptrdiff_t size) { piece[count++] = {false, result, at, size}; }
  void add_judged(std::ptrdiff_t size) { piece[count++] = {true, 0, judged, size}, judged += size; }

  const Piece* begin() const { return piece; }
  const Piece* end() const { return piece + count; }
};

// where a piece stands
template <class T>
T* place_of(const Pieces::Piece& piece, T* const* results, T* judged) {
  return (piece.judged ? judged : results[piece.result]) + piece.at;
}

inline Pieces pieces_of(const Job& job) {
  const FunctionRow& row = row_of(job.function);
  Pieces pieces;
  for (int k = 0; k < row.outputs.count; ++k)
    if (job.outputs >> k & 1) pieces.add(k, 0, output_size(job, k));
  if (row.has(kSolves)) pieces.add_judged(job.chain->n());
  return pieces;
}

inline Pieces pieces_of(const HexJob& job) {
  Pieces pieces;
  if (is_dynamics(job.function)) {
    const DynamicsLayout layout(job.hexapod->joints(), job.function == HexFunction::free_dynamics, job.outputs);
    for (int at = 0; at < layout.head(); at += 6) pieces.add(0, at, 6);
    if (layout.per_leg()) pieces.add(0, layout.head(), kLegs * layout.per_leg());
  } else {
    pieces.add(0, 0, output_size(job));
  }
  pieces.add_judged(4 * kLegs);
  if (job.function == HexFunction::inverse_dynamics) pieces.add_judged(36);
  return pieces;
}

// f(rows, numbers of a row) for everything that generated code is given: the arrays that have data, the external wrenches,
// the inertial parameters
template <class J, class F>
void for_arguments(const J& job, const Rows& rows, const F& f) {
  for (const Param p : row_of(job.function).params)
    if (is_array(p) && p != Param::start && rows[p].data) f(rows[p], input_size(job, p));
  if constexpr (std::is_same_v<J, Job>) {
    for (int k = 0; k < job.external_count; ++k) f(rows.external[k], 6);
    if (job.parameters) f(rows.parameters, job.parameters);
  }
}

inline int most_arguments(const Job& job) { return kChainInputs + job.external_count + 1; }
inline int most_arguments(const HexJob&) { return kInputs; }

// d tau / d qdd of derivatives: for short chains the walk is faster
inline Method mass_method_of_derivatives(int n) { return n <= 8 ? Method::crba_walk : Method::crba; }

// squares of leg factors below this are zero: the factor itself has lost half of its digits
constexpr double kTinySquare = 1e-14;
// R'R may differ from 1 by this
constexpr double kRotationDefect = 1e-9;

class HexMotion;

// Sines and cosines of n angles; angles of n sines and cosines. What they write has room for whole packs.
struct Transcendental {
  void (*sincos)(const double* x, double* s, double* c, int n);
  void (*angle)(const double* s, const double* c, double* x, int n);
  // of n aligned packs
  void (*sincos_packs)(const double* x, double* s, double* c, int n);
  void (*angle_packs)(const double* s, const double* c, double* x, int n);
};

class FreeMotion;
class ContactPair;
struct RingShape;
namespace docking {
class DockingLanes;
}
class JointLaw;
class JointLaws;
class InertiaSolver;
class StageDynamics;
struct MotionJob;
struct LinkageJob;
struct StepsJob;
struct ReachJob;
struct ArmJob;
template <class T>
struct ArmBranch;

// one instruction set's build of the computation
struct KernelTable {
  const char* name;
  int lanes;
  Failure (*run_chain)(const Job&, const Rows&, std::ptrdiff_t begin, std::ptrdiff_t end);
  Failure (*run_hexapod)(const HexJob&, const Rows&, std::ptrdiff_t begin, std::ptrdiff_t end);
  std::unique_ptr<HexMotion> (*make_motion)(const Hexapod&, const double* base);
  std::unique_ptr<JointLaws> (*make_laws)(const std::vector<JointLaw>&);
  void (*sincos)(const double*, double*, double*, int);
  Transcendental trig, fused_trig;
  Failure (*run_motion)(const MotionJob&, const Rows&, std::ptrdiff_t begin, std::ptrdiff_t end);
  Failure (*run_linkage)(const LinkageJob&, const Rows&, std::ptrdiff_t begin, std::ptrdiff_t end);
  std::unique_ptr<InertiaSolver> (*make_inertia_solver)(const Chain&);
  std::unique_ptr<StageDynamics> (*make_stage_dynamics)(const Job&);  // of forward dynamics; external frames are kept
  void (*run_steps)(const StepsJob&, std::ptrdiff_t begin, std::ptrdiff_t end);
  void (*run_reach)(const ReachJob&, std::ptrdiff_t begin, std::ptrdiff_t end);
  void (*run_arm)(const ArmJob&, std::ptrdiff_t begin, std::ptrdiff_t end);
  void (*run_arm_branches)(const ArmJob&, const double* goal, const ArmBranch<double>* branches);
  std::unique_ptr<FreeMotion> (*make_free_motion)(const Hexapod&);
  std::unique_ptr<ContactPair> (*make_contact)(const RingShape&, const RingShape&);
  std::unique_ptr<docking::DockingLanes> (*make_docking_lanes)(const Hexapod* const (&rings)[2], const double (&offsets)[2],
                                                               int size);

  Failure run(const Job& job, const Rows& rows, std::ptrdiff_t begin, std::ptrdiff_t end) const {
    return run_chain(job, rows, begin, end);
  }
  Failure run(const HexJob& job, const Rows& rows, std::ptrdiff_t begin, std::ptrdiff_t end) const {
    return run_hexapod(job, rows, begin, end);
  }
  Failure run(const MotionJob& job, const Rows& rows, std::ptrdiff_t begin, std::ptrdiff_t end) const {
    return run_motion(job, rows, begin, end);
  }
  Failure run(const LinkageJob& job, const Rows& rows, std::ptrdiff_t begin, std::ptrdiff_t end) const {
    return run_linkage(job, rows, begin, end);
  }
};

}  // namespace zveno
