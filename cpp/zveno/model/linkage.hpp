// Linkage: a chain and what holds its links together besides its joints. Immutable after construction, shared by threads.
// Equation numbers are those of docs/constraints.md.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <zveno/model/chain.hpp>

namespace zveno {

// one equation of a constraint
enum class RowType : std::uint8_t {
  along,     // (L3) offset of the points along an axis of A
  dots,      // (L4), (L6), (L7) one or two products of an axis of A and one of B
  rod,       // (L8)
  screw,     // (L9)
  coupling,  // (L10)
  surface,   // (L11) a function of the point of B in the axes of A, given with its derivatives
  function,  // a function of q and t, given with its derivatives
};

struct LoopRow {
  RowType type = RowType::along;
  int axis = 0;  // along
  struct {
    int i, j;
    double k;
  } term[2] = {};  // dots: sum of k (axis i of A) . (axis j of B)
  int terms = 0;
  double scale = 1;  // rod: 1 / l0; screw: pitch / 2 pi; coupling: of its coefficients
  double c = 0;      // offset, cosine, length or phase
  int given = -1;    // where c, c', c'' or what a function gives stand among the numbers that are given
  std::string name;  // what it carries: "force along x"
};

// Where one end of a constraint stands: frame F in a body, in the base or in a target
struct LoopSide {
  int body = kWorld;
  int target = -1;  // its motion is given: R (9), p, w, v, alpha, a
  Mat3<double> R = diagonal(1.0);
  Vec3<double> p{0, 0, 0};
  bool aligned = false;              // R = E
  Mat3<double> R_U = diagonal(1.0);  // axes of the link in the body
};

struct PathStep {
  int body;
  bool to_b;  // else to A, and the wrench acts the other way
};

struct LoopConstraint {
  std::string name;
  LoopSide a, b;
  int first = 0, count = 0;          // rows
  bool placed = true;                // between two frames; else a relation of joint coordinates
  std::vector<double> coefficients;  // coupling: of every body's joint
  std::vector<PathStep> path;        // joints that move one end against the other
};

// Which rows hold the others: G_redundant = X G_active
enum class RowRole : std::uint8_t { active, redundant, still };
struct RowChoice {
  std::vector<int> active, redundant;
  int zero = 0;               // so many redundant ones, the last, have no joint that moves them: X = 0
  std::vector<RowRole> role;  // of every row

  void assign_roles() {
    role.assign(active.size() + redundant.size(), RowRole::active);
    const int moved = static_cast<int>(redundant.size()) - zero;
    for (int j = 0; j < static_cast<int>(redundant.size()); ++j)
      role[redundant[j]] = j < moved ? RowRole::redundant : RowRole::still;
  }
};

// Joints on the paths of loops that share joints, or one joint: docs/constraints.md (L32)
struct LoopGroup {
  std::vector<int> bodies;       // ascending
  Topology topology;             // of these alone: parents and runs
  int carrier = kWorld;          // the body that carries them
  std::vector<int> constraints;  // between them
  std::vector<int> rows;         // of the constraints
  std::vector<int> joints;       // places of the bodies' joints in q, ascending
  struct Ends {
    int a, b;  // places among `bodies`, or kWorld
  };
  std::vector<Ends> ends;  // of the constraints
};

class Linkage {
 public:
  static constexpr int kTargetSize = 24;

  Linkage(std::shared_ptr<const Chain> chain, double length, double open, int given, std::vector<LoopConstraint> constraints,
          std::vector<LoopRow> rows);

  const Chain& chain() const { return *chain_; }
  const std::string& name() const { return chain_->name(); }
  double length() const { return length_; }
  double open() const { return open_; }  // largest residual of a state that is taken, m
  // squares of rates of residuals of a state that is taken, m/s: so much, and of joints' own rates, as lengths, this part
  double slip() const { return slip_; }
  static constexpr double kSlip = 1e-8;
  int rows() const { return static_cast<int>(rows_.size()); }
  int given() const { return given_; }  // numbers that a call must bring
  const std::vector<LoopConstraint>& constraints() const { return constraints_; }
  const std::vector<LoopRow>& row() const { return rows_; }
  int constraint_of_row(int row) const { return of_row_[row]; }
  bool turns(int row) const { return turns_[row]; }  // needs axes of B
  // whether a joint's wrench counts in (L22): members that only pass it on do not
  const std::vector<double>& weight() const { return weight_; }
  bool has_unplaced() const { return has_unplaced_; }  // relations of joint coordinates
  // carriers first; whether to go from group to group, which pays from some loops on
  const std::vector<LoopGroup>& groups() const { return groups_; }
  const LoopGroup& whole() const { return whole_; }  // all joints and constraints as one
  bool grouped() const { return grouped_; }
  // parts of G that share neither rows nor joints
  std::vector<const LoopGroup*> parts() const;

  // the rows to compute with; all are active until it is chosen, once, before the linkage is shared
  const RowChoice& choice() const { return choice_; }
  bool chosen() const { return chosen_; }
  void choose(RowChoice choice) { choice_ = std::move(choice), chosen_ = true; }

 private:
  std::shared_ptr<const Chain> chain_;
  double length_, open_, slip_;
  int given_;
  std::vector<LoopConstraint> constraints_;
  std::vector<LoopRow> rows_;
  std::vector<int> of_row_;
  std::vector<char> turns_;
  std::vector<double> weight_;
  RowChoice choice_;
  std::vector<LoopGroup> groups_;
  LoopGroup whole_;
  bool chosen_ = false, has_unplaced_ = false, grouped_ = false;
};

}  // namespace zveno
