// The integers of a mechanism: who hangs on whom, and by which joint. Kernels may branch on these, never on numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace zveno {

constexpr int kWorld = -1;

enum class JointKind : std::uint8_t { revolute, prismatic };

// What is known of R_PB = Rz(phi) Rx(alpha) Rz(theta) and p_PoBo without numbers, as bits
enum Placement : std::uint8_t {
  kPlain = 0,       // phi = 0
  kTurned = 1,      // phi != 0: roots and later siblings
  kCoincident = 2,  // on a hinge: p = 0
  kSquare = 4,      // on a hinge: alpha is a right angle, sin = 1
};

// consecutive bodies [begin, end)
struct Span {
  int begin, end;
};

// Bodies in depth-first order, parent[b] < b.
struct Topology {
  std::vector<int> parent;
  std::vector<JointKind> kind;
  std::vector<std::uint8_t> placement;  // of Placement
  // 1 for a hinge: a body without mass that only carries body b + 1, by a revolute joint at its own origin. Its motion and
  // the wrench through it are those of the next body, turned.
  std::vector<std::uint8_t> hinge;

  std::vector<int> end;                // body b and what is outboard of it are [b, end[b])
  std::vector<std::uint8_t> branches;  // has a child other than body b + 1

  // proper ancestors of body b, base to tip, as runs of consecutive bodies: ancestor_runs[first_run[b] .. first_run[b+1])
  std::vector<Span> ancestor_runs;
  std::vector<int> first_run;

  bool serial = true;
  bool stacked = false;  // there are hinges

  int size() const { return static_cast<int>(parent.size()); }
  void find_ends() {
    end.assign(parent.size(), 0);
    for (int b = size(); b-- > 0;) {
      end[b] = std::max(end[b], b + 1);
      if (parent[b] != kWorld) end[parent[b]] = std::max(end[parent[b]], end[b]);
    }
  }
  // nothing hangs on body b: in depth-first order a child would be the next body
  bool is_tip(int b) const { return b + 1 == size() || parent[b + 1] != b; }
  // for other masses on the same joints
  Topology without_hinges() const {
    Topology plain = *this;
    for (std::uint8_t& p : plain.placement) p &= kTurned;
    plain.hinge.assign(hinge.size(), 0);
    plain.stacked = false;
    return plain;
  }
};

}  // namespace zveno
