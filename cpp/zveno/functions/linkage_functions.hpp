// What a linkage can be asked for.
#pragma once

#include <zveno/functions/chain_functions.hpp>

namespace zveno {

enum class LinkageFunction {
  residual,
  constraint_velocity,
  constraint_jacobian,
  constraint_bias,
  constraint_derivatives,
  forward_dynamics,
  project_position,
  project_velocity,
};

namespace linkage_table {

constexpr int code(LinkageFunction f) { return static_cast<int>(f); }

constexpr Param q = Param::q, qd = Param::qd, qdd = Param::qdd, tau = Param::tau, t = Param::t,
                multiplier = Param::multiplier, drive = Param::drive, external = Param::external,
                base_motion = Param::base_motion, external_frame = Param::external_frame;

// in the order of LinkageFunction; equation numbers of docs/constraints.md
inline constexpr FunctionRow kRows[] = {
    {"residual",
     code(LinkageFunction::residual),
     {q, t},
     1,
     {},
     {{"f", {kM}, "m", "Residuals of all equations, constraint by constraint; those of angles times `length`."}},
     Cost::linear,
     0,
     "What the constraints leave open, f(q, t): zero for a state that meets them. (L3)-(L11)",
     "",
     "",
     examples::kLinkageResidual},
    {"constraint_velocity",
     code(LinkageFunction::constraint_velocity),
     {q, qd, t},
     2,
     {},
     {{"fd", {kM}, "m/s", "Rates of the residuals."}},
     Cost::linear,
     0,
     "Rates f' = G qd + f_t of the residuals. (L5)",
     "",
     "",
     examples::kLinkageConstraintVelocity},
    {"constraint_jacobian",
     code(LinkageFunction::constraint_jacobian),
     {q, t},
     1,
     {},
     {{"G", {kM, kN}, "m or 1", "Row i is d f_i / d q."}},
     Cost::quadratic,
     0,
     "Jacobian G of the constraints. (L5)",
     "",
     "",
     examples::kLinkageConstraintJacobian},
    {"constraint_bias",
     code(LinkageFunction::constraint_bias),
     {q, qd, t},
     2,
     {},
     {{"gam", {kM}, "m/s^2", "Second rates of the residuals at qdd = 0."}},
     Cost::linear,
     0,
     "What f'' has besides G qdd: f'' = G qdd + gam. (L5)",
     "",
     "",
     examples::kLinkageConstraintBias},
    {"constraint_derivatives",
     code(LinkageFunction::constraint_derivatives),
     {q, qd, qdd, multiplier, t},
     4,
     {},
     {{"dforce_dq", {kN, kN}, "N m/rad, N, N/m", "d (G'N) / d q, symmetric: sum of N_i d^2 f_i / dq^2."},
      {"dfdd_dq", {kM, kN}, "m/s^2 or 1/s^2", "d (G qdd + gam) / d q"},
      {"dfd_dq", {kM, kN}, "m/s or 1/s", "d (G qd + f_t) / d q; d gam / d qd is twice that."}},
     Cost::quadratic,
     kSeveral,
     "Exact first derivatives of the efforts G'N of constraints and of f', f'': what linearisation takes. (L38), (L40)",
     "At a fixed time, with qdd and N constant. Functions of q that you gave (`zveno.constraints.function`, surfaces) are "
     "differentiated by differences of eighth order; everything else by dual numbers.",
     "",
     examples::kLinkageConstraintDerivatives,
     "ConstraintDerivatives"},
    {"forward_dynamics",
     code(LinkageFunction::forward_dynamics),
     {q, qd, tau, t, external, base_motion, external_frame, drive},
     3,
     {},
     {{"qdd", {kN}, "rad/s^2 or m/s^2", "Joint accelerations."},
      {"multiplier", {kM}, "N", "Multipliers N of the equations: M qdd + bias = tau + G'N."},
      {"loop_reaction",
       {kK, 6},
       "N and N m",
       "Wrench of link A on link B of every constraint about its point on B, in axes of link B; 0 for couplings."},
      {"reaction",
       {kN, 6},
       "N and N m",
       "Wrench of the parent on the link of every joint about the link origin, in link axes, as `Chain.reactions`."},
      {"ambiguity", {kN, 6}, "1", "How far components of `reaction` are not determined; 0: unique. See `unique`."},
      {"loop_ambiguity", {kK, 6}, "1", "The same for `loop_reaction`. See `loop_unique`."}},
     Cost::quadratic,
     kSeveral,
     "Accelerations of a closed mechanism and the reactions in all its joints. (L14), (L28)",
     "Where constraints are redundant, accelerations are unique and some reactions are not: of these the ones with the "
     "least sum of |F|^2 + |M|^2 / length^2 over all joints are given, (L22), which does not depend on where the loops "
     "are cut. Elastic joints would share loads in their own way.\n\n"
     "States must meet the constraints, coordinates and rates, to a ten-thousandth: `close`, `velocities` and "
     "`project_velocity` find them. On a base that moves, everything is relative to the base, targets too. Drives in cut "
     "joints, (L15), are part of `loop_reaction`.",
     "",
     examples::kLinkageForwardDynamics,
     "LinkageDynamics"},
    {"_project_position",
     code(LinkageFunction::project_position),
     {q, t},
     1,
     {},
     {{"q", {kN}, "rad or m", "Joint coordinates, closer to the constraints."}},
     Cost::quadratic,
     kPrivate,
     "One step of Newton's method towards the constraints, the shortest one in the metric of the mass matrix. (L35)",
     "",
     "",
     ""},
    {"project_velocity",
     code(LinkageFunction::project_velocity),
     {q, qd, t},
     2,
     {},
     {{"qd", {kN}, "rad/s or m/s", "Joint rates that the constraints allow."}},
     Cost::quadratic,
     0,
     "Rates with G qd + f_t = 0 that are closest to given ones: the difference has the least kinetic energy. (L35)",
     "What it takes away is kinetic energy, never more than there was if the constraints are at rest. (L36)",
     "",
     examples::kLinkageProjectVelocity},
};
static_assert(detail::in_order(kRows));

}  // namespace linkage_table

constexpr const FunctionRow& row_of(LinkageFunction f) { return linkage_table::kRows[static_cast<int>(f)]; }

}  // namespace zveno
