// Motion of many runs of one chain or linkage under efforts, springs and dampers of its joints. Plain data, shared by all
// instruction sets.
#pragma once

#include <zveno/functions/linkage_job.hpp>

namespace zveno {

struct StepsJob {
  const Chain* chain = nullptr;
  const Linkage* linkage = nullptr;  // of the chain, its rows chosen, given no numbers; null: joints alone
  Baumgarte baumgarte;
  bool semi_implicit = false;
  double dt = 0;
  std::ptrdiff_t steps = 0, every = 1, records = 0;
  RowData q{}, qd{};  // n numbers for each run
  RowData tau{};      // of a run: n numbers for each of `held` steps, the last for all that follow; absent: zero
  std::ptrdiff_t held = 1;
  const double* spring = nullptr;  // force, stiffness, damping, reference of each joint; null: none
  const double* lower = nullptr;   // bounds whose passing is looked for; null: none
  const double* upper = nullptr;
  // joints of a run may have passed a bound in this step: coordinates and rates at both its ends
  void (*passing)(void* context, std::ptrdiff_t run, std::ptrdiff_t step, const double* p0, const double* v0,
                  const double* p1, const double* v1) = nullptr;
  // asked every so many steps: whether the runs are not wanted any more
  bool (*unwanted)(void* context) = nullptr;
  void* context = nullptr;
  // `records` rows for each run; null: not wanted
  double *out_q = nullptr, *out_qd = nullptr, *out_qdd = nullptr, *out_tau = nullptr, *out_work = nullptr;
  std::uint8_t* broken = nullptr;  // 1: the run has failed somewhere; its rows mean nothing
};

}  // namespace zveno
