// Docstrings of the numeric methods of Hexapod (numpydoc).
#pragma once

#define ZVENO_POSE                                                                               \
  "r : (..., 3) array\n    Centre of mass of the ring in the base frame, m.\n"                   \
  "R : (..., 3, 3) array or object with as_matrix()\n    Ring axes to base axes; refused if it " \
  "differs from a rotation by more than 1e-9.\n"
#define ZVENO_RING                                                                                                        \
  ZVENO_POSE                                                                                                              \
  "u : (..., 6) array\n    Velocity of the centre in base axes, m/s, and angular velocity in ring axes, rad/s, relative " \
  "to the base.\n"
#define ZVENO_HEX_OUT                                                                                                  \
  "on_error : {'raise', 'nan'}\n    What to do with a pose that a leg cannot take: raise an error that names leg and " \
  "cause, "                                                                                                            \
  "or fill that row with NaN.\n"                                                                                       \
  "out : optional\n    Result to be overwritten and returned instead of a new one.\n"                                  \
  "threads : int, optional\n    Threads over the batch; None is one, 0 one per core. Results do not depend on it.\n"
#define ZVENO_LOADS                                                                                                       \
  "wrench : (..., 6) array\n    Force on the ring at its centre of mass in base axes, N, and moment in ring axes, N m.\n" \
  "tau : (..., 6) or (..., 6, nj) array\n    Forces of the actuated joints, or of all joints, N or N m; positive ones "   \
  "increase "                                                                                                             \
  "the coordinate.\n"
#define ZVENO_BASE_MOTION                                                                                                   \
  "base_motion : (..., 9) array, optional\n    Acceleration of the base origin, angular velocity and angular acceleration " \
  "of "                                                                                                                     \
  "the base, in its own axes.\n"

namespace zveno::bindings {

constexpr char kClosureDoc[] =
    "closure($self, /, r, R, method='closed', start=None, *, on_error='raise', out=None, threads=None)\n--\n\n"
    "Joint coordinates of all legs for a pose of the ring. Golubev & Yaskevich (000), (16)-(27).\n\n"
    "Parameters\n----------\n" ZVENO_POSE
    "method : {'closed', 'newton'}\n    Closed form, or Newton's method for every leg; custom legs always use the latter.\n"
    "start : (..., 6, nj) array, optional\n    Where Newton's method begins; default: the closed form, and the start of "
    "custom legs.\n" ZVENO_HEX_OUT "\nReturns\n-------\np : (..., 6, nj) array, rad or m\n    Unused places are 0.\n";

constexpr char kJointVelocityDoc[] =
    "joint_velocity($self, /, r, R, u, *, on_error='raise', out=None, threads=None)\n--\n\n"
    "Joint rates H u. Golubev & Yaskevich (000), (28)-(34).\n\n"
    "Parameters\n----------\n" ZVENO_RING ZVENO_HEX_OUT "\nReturns\n-------\npd : (..., 6, nj) array, rad/s or m/s\n";

constexpr char kHexJacobianDoc[] =
    "jacobian($self, /, r, R, *, on_error='raise', out=None, threads=None)\n--\n\n"
    "Rates of the actuated joints by the ring's velocity: the actuated rows of H, (32).\n\n"
    "Parameters\n----------\n" ZVENO_POSE ZVENO_HEX_OUT "\nReturns\n-------\nJ : (..., 6, 6) array\n    Rates are J @ u.\n";

constexpr char kMeasuresDoc[] =
    "_measures($self, /, r, R, *, on_error='raise', out=None, threads=None)\n--\n\n"
    "Squares of the factors of (38), (..., 6, 4); with on_error='nan' and the status of every row.";

constexpr char kHexMassMatrixDoc[] =
    "mass_matrix($self, /, r, R, *, on_error='raise', out=None, threads=None)\n--\n\n"
    "Inertia of the whole mechanism reduced to the ring: A* of (44), in the coordinates of u.\n\n"
    "Parameters\n----------\n" ZVENO_POSE ZVENO_HEX_OUT "\nReturns\n-------\nA : (..., 6, 6) array\n";

constexpr char kMomentumDoc[] =
    "momentum($self, /, r, R, u, *, on_error='raise', out=None, threads=None)\n--\n\n"
    "Momentum of ring and legs for a base at rest.\n\n"
    "Parameters\n----------\n" ZVENO_RING ZVENO_HEX_OUT
    "\nReturns\n-------\nmomentum : (..., 6) array\n    Linear, kg m/s, and angular about the base origin, kg m^2/s, base "
    "axes.\n";

constexpr char kHexKineticEnergyDoc[] =
    "kinetic_energy($self, /, r, R, u, *, on_error='raise', out=None, threads=None)\n--\n\n"
    "Kinetic energy of ring, legs and drives for a base at rest, J.\n\n"
    "Parameters\n----------\n" ZVENO_RING ZVENO_HEX_OUT "\nReturns\n-------\nenergy : float or (...,) array\n";

constexpr char kHexPotentialEnergyDoc[] =
    "potential_energy($self, /, r, R, *, on_error='raise', out=None, threads=None)\n--\n\n"
    "Potential energy of ring and legs in the gravity of the model and of springs in custom legs, J.\n\n"
    "Parameters\n----------\n" ZVENO_POSE ZVENO_HEX_OUT "\nReturns\n-------\nenergy : float or (...,) array\n";

constexpr char kHexInverseDynamicsDoc[] =
    "inverse_dynamics($self, /, r, R, u, acceleration, wrench=None, tau=None, base_motion=None, *, on_error='raise', "
    "out=None, threads=None)\n--\n\n"
    "Forces of the actuated joints for a wanted acceleration of the ring: the reduced system (44) read backwards.\n\n"
    "Parameters\n----------\n" ZVENO_RING "acceleration : (..., 6) array\n    Wanted u'.\n" ZVENO_LOADS
    "    Only those of passive joints count here.\n" ZVENO_BASE_MOTION ZVENO_HEX_OUT
    "\nReturns\n-------\nforces : (..., 6) array, N or N m\n";

constexpr char kHexForwardDynamicsDoc[] =
    "forward_dynamics($self, /, r, R, u, wrench, tau, base_motion=None, *, on_error='raise', out=None, threads=None)\n--\n\n"
    "Accelerations, reactions and the load on the base. Golubev & Yaskevich (000), (28)-(50).\n\n"
    "No iteration and no allocation but the result; the number of operations is fixed by the types of the legs.\n\n"
    "Parameters\n----------\n" ZVENO_RING ZVENO_LOADS ZVENO_BASE_MOTION ZVENO_HEX_OUT
    "\nReturns\n-------\nresult : HexapodDynamics\n    acceleration, joint_position, joint_velocity, joint_acceleration, "
    "reaction, base_wrench; ok and status of every row with on_error='nan'.\n";

constexpr char kFreeDynamicsDoc[] =
    "forward_dynamics_free($self, /, r, R, u, wrench, tau, base, omega=None, base_wrench=None, *, on_error='raise', "
    "out=None, threads=None)\n--\n\n"
    "Forward dynamics on a free-flying base: twelve unknowns at once, so that momentum is conserved exactly. (51)\n\n"
    "Parameters\n----------\n" ZVENO_RING ZVENO_LOADS
    "base : Body\n    The spacecraft that carries the mechanism; its com in the base frame.\n"
    "omega : (..., 3) array, optional\n    Angular velocity of the base, base axes, rad/s.\n"
    "base_wrench : (..., 6) array, optional\n    Force and moment on the base at its centre of mass, base "
    "axes.\n" ZVENO_HEX_OUT
    "\nReturns\n-------\nresult : HexapodDynamics\n    With base_acceleration: acceleration of the base origin and angular "
    "acceleration, base axes.\n";

constexpr char kForwardKinematicsDoc[] =
    "Ring poses whose actuated coordinates are `strokes`, by Newton's method on the closed form from (r, R); changes r and "
    "R "
    "in place and returns (residual, iterations, status, margin).";

}  // namespace zveno::bindings
