// Docstrings of the numeric methods of Chain (numpydoc).
#pragma once

#define ZVENO_OUT_THREADS                                                                                        \
  "out : array, optional\n    Written and returned instead of a new array: exact shape, float64, C-contiguous, " \
  "no memory shared with the arguments. Undefined after an error.\n"                                             \
  "threads : int, optional\n    Threads over the batch; None is one, 0 one per core. Results do not depend on it.\n"
#define ZVENO_EXTERNAL                                                                                                   \
  "external : dict, optional\n    {link name: (..., 6) wrench [force; moment]} acting on links at their origins, world " \
  "axes, N and N m.\n"
#define ZVENO_STATE                                        \
  "q : (..., n) array\n    Joint coordinates, rad or m.\n" \
  "qd : (..., n) array\n    Joint rates, rad/s or m/s.\n"
#define ZVENO_MOTION ZVENO_STATE "qdd : (..., n) array\n    Joint accelerations, rad/s^2 or m/s^2.\n"

namespace zveno::bindings {

constexpr char kMassMatrixDoc[] =
    "mass_matrix($self, /, q, method='crba', *, out=None, threads=None)\n--\n\n"
    "Joint-space inertia matrix M(q), symmetric; positive definite if every joint moves some mass.\n\n"
    "Rotor inertias are on the diagonal.\n\n"
    "Parameters\n----------\n"
    "q : (..., n) array\n    Joint coordinates, rad or m.\n"
    "method : str\n"
    "    'crba' composite rigid bodies, O(n^2), in base axes; 'crba-walk' from body to body, faster for n <= 8;\n"
    "    'crba-columns' unit accelerations; 'kane' and 'kane-triangular' Kane's matrix form, Yaskevich (002), eq. (2), "
    "dense or with its zero columns skipped; 'kane-recurrent' the recurrent\n"
    "    algorithm of (002), O(n^3), serial chains; 'kane-collapsed' its O(n^2) form; 'kosynka' block-triangular form,\n"
    "    a reconstruction, serial chains. The same matrix to round-off.\n" ZVENO_OUT_THREADS
    "\nReturns\n-------\nM : (..., n, n) array, kg m^2, kg m or kg\n";

constexpr char kBiasDoc[] =
    "bias($self, /, q, qd, external=None, method='rnea', *, out=None, threads=None)\n--\n\n"
    "Joint efforts at zero acceleration: M qdd + bias = tau.\n\n"
    "Coriolis, centrifugal, gravity, viscous friction and spring terms, minus the external wrenches.\n\n"
    "Parameters\n----------\n" ZVENO_STATE ZVENO_EXTERNAL
    "method : str\n    'rnea' body axes; 'kane' the base-axes recursion of Yaskevich (002).\n" ZVENO_OUT_THREADS
    "\nReturns\n-------\nbias : (..., n) array, N m or N\n";

constexpr char kInverseDynamicsDoc[] =
    "inverse_dynamics($self, /, q, qd, qdd, external=None, *, out=None, threads=None)\n--\n\n"
    "Joint efforts tau = M qdd + bias for a wanted motion, by the recursive Newton-Euler algorithm.\n\n"
    "Parameters\n----------\n" ZVENO_MOTION ZVENO_EXTERNAL ZVENO_OUT_THREADS
    "\nReturns\n-------\ntau : (..., n) array, N m or N\n";

constexpr char kForwardDynamicsDoc[] =
    "forward_dynamics($self, /, q, qd, tau, external=None, method='aba', *, out=None, threads=None)\n--\n\n"
    "Joint accelerations qdd = M^-1 (tau - bias).\n\n"
    "Parameters\n----------\n" ZVENO_STATE "tau : (..., n) array\n    Joint efforts, N m or N.\n" ZVENO_EXTERNAL
    "method : str\n    'aba' articulated bodies, O(n); 'cholesky' mass matrix by CRBA and M = L'DL along the "
    "tree; 'cholesky-walk' the same with 'crba-walk'.\n" ZVENO_OUT_THREADS
    "\nReturns\n-------\nqdd : (..., n) array, rad/s^2 or m/s^2\n\n"
    "Raises\n------\nSingularityError\n    A joint moves no mass; `.joint` names it, `.row` the row of the batch.\n";

constexpr char kReactionsDoc[] =
    "reactions($self, /, q, qd, qdd, external=None, frame='link', *, out=None, threads=None)\n--\n\n"
    "Wrenches through the joints: what the parent applies to the child, drive effort included.\n\n"
    "Parameters\n----------\n" ZVENO_MOTION ZVENO_EXTERNAL
    "frame : 'link' or 'world'\n    Axes of the result.\n" ZVENO_OUT_THREADS
    "\nReturns\n-------\nwrench : (..., n, 6) array\n"
    "    [force; moment] about the origin of the joint's link, N and N m, in the order of joint_names.\n";

constexpr char kBaseWrenchDoc[] =
    "base_wrench($self, /, q, qd, qdd, external=None, *, out=None, threads=None)\n--\n\n"
    "Force and moment that the mechanism applies to its base.\n\n"
    "The weight of links welded to the base is part of it, that of the base itself is not.\n\n"
    "Parameters\n----------\n" ZVENO_MOTION ZVENO_EXTERNAL ZVENO_OUT_THREADS
    "\nReturns\n-------\nwrench : (..., 6) array\n    [force; moment] about the base origin, world axes, N and N m.\n";

constexpr char kKineticEnergyDoc[] =
    "kinetic_energy($self, /, q, qd, *, out=None, threads=None)\n--\n\n"
    "Kinetic energy qd' M qd / 2, rotors included.\n\n"
    "Parameters\n----------\n" ZVENO_STATE ZVENO_OUT_THREADS "\nReturns\n-------\nenergy : float or (...) array, J\n";

constexpr char kPotentialEnergyDoc[] =
    "potential_energy($self, /, q, *, out=None, threads=None)\n--\n\n"
    "Potential energy of gravity, zero with all mass at the base origin, and of the springs in the joints.\n\n"
    "Parameters\n----------\n"
    "q : (..., n) array\n    Joint coordinates, rad or m.\n" ZVENO_OUT_THREADS
    "\nReturns\n-------\nenergy : float or (...) array, J\n";

constexpr char kPoseDoc[] =
    "pose($self, /, q, link, *, out=None, threads=None)\n--\n\n"
    "Pose of a link's frame in the world: [R p; 0 1].\n\n"
    "Parameters\n----------\n"
    "q : (..., n) array\n    Joint coordinates, rad or m.\n"
    "link : str\n    Name of a link, welded ones too, or of the base.\n" ZVENO_OUT_THREADS
    "\nReturns\n-------\nT : (..., 4, 4) array\n    R maps link to world components; p in m.\n";

constexpr char kJacobianDoc[] =
    "jacobian($self, /, q, link, point=None, frame='world', *, out=None, threads=None)\n--\n\n"
    "Jacobian J of a point of a link: [v; w] = J qd. Leskov et al. (003), section 4.\n\n"
    "Parameters\n----------\n"
    "q : (..., n) array\n    Joint coordinates, rad or m.\n"
    "link : str\n    Name of the link.\n"
    "point : (3,) array, optional\n    Point in link axes, m; the link origin by default.\n"
    "frame : 'world' or 'link'\n    Axes of v and w.\n" ZVENO_OUT_THREADS
    "\nReturns\n-------\nJ : (..., 6, n) array\n    Linear rows first.\n";

constexpr char kJacobianRateDoc[] =
    "jacobian_rate($self, /, q, qd, link, point=None, frame='world', *, out=None, threads=None)\n--\n\n"
    "Time derivative of the Jacobian matrix: [vd; wd] = J qdd + Jd qd in world axes. Leskov et al. (003), section 5.\n\n"
    "Parameters\n----------\n" ZVENO_STATE
    "link : str\n    Name of the link.\n"
    "point : (3,) array, optional\n    Point in link axes, m; the link origin by default.\n"
    "frame : 'world' or 'link'\n    Axes of the Jacobian that is differentiated.\n" ZVENO_OUT_THREADS
    "\nReturns\n-------\nJd : (..., 6, n) array\n";

constexpr char kDerivativesDoc[] =
    "derivatives($self, /, q, qd, qdd, external=None, *, out=None, threads=None)\n--\n\n"
    "Exact first derivatives of inverse_dynamics, by dual numbers. External wrenches stay fixed in the world.\n\n"
    "Parameters\n----------\n" ZVENO_MOTION ZVENO_EXTERNAL
    "out : tuple of three arrays, optional\n    Written instead of new arrays, each (..., n, n).\n"
    "threads : int, optional\n    Threads over the batch; None is one, 0 one per core.\n"
    "\nReturns\n-------\nDerivatives\n    Named tuple (dtau_dq, dtau_dqd, dtau_dqdd) of (..., n, n) arrays; element [i, j] "
    "is d tau_i / d x_j.\n";

}  // namespace zveno::bindings

#undef ZVENO_OUT_THREADS
#undef ZVENO_EXTERNAL
#undef ZVENO_STATE
#undef ZVENO_MOTION
