// The integers of a mechanism: who hangs on whom, and by which joint. Kernels may branch on these, never on numbers.
#pragma once

#include <cstdint>
#include <vector>

namespace zveno {

constexpr int kWorld = -1;

enum class JointKind : std::uint8_t { revolute, prismatic };

// consecutive bodies [begin, end)
struct Span {
  int begin, end;
};

// Bodies in depth-first order, parent[b] < b.
struct Topology {
  std::vector<int> parent;
  std::vector<JointKind> kind;
  std::vector<std::uint8_t> has_phi;  // 1 if R_PB = Rz(phi) Rx(alpha) Rz(theta) has phi != 0: roots and later siblings

  std::vector<std::uint8_t> branches;  // has a child other than body b + 1

  // proper ancestors of body b, base to tip, as runs of consecutive bodies: ancestor_runs[first_run[b] .. first_run[b+1])
  std::vector<Span> ancestor_runs;
  std::vector<int> first_run;

  bool serial = true;

  int size() const { return static_cast<int>(parent.size()); }
  // nothing hangs on body b: in depth-first order a child would be the next body
  bool is_tip(int b) const { return b + 1 == size() || parent[b + 1] != b; }
};

}  // namespace zveno
