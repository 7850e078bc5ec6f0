// Examples of the docstrings, run by the tests.
#pragma once

namespace zveno::examples {

inline constexpr char kChainRegressor[] = R"(>>> import numpy as np, zveno as zv
>>> arm = zv.robots.two_link()
>>> q, qd, qdd = np.full((3, 2), 0.3)
>>> Y = arm.regressor(q, qd, qdd)
>>> Y.shape
(2, 30)
>>> np.allclose(Y @ arm.inertial_parameters.ravel(), arm.inverse_dynamics(q, qd, qdd))  # tau = Y theta
True
)";

inline constexpr char kChainPackedRegressor[] = R"(>>> import numpy as np, zveno as zv
>>> arm = zv.robots.two_link()
>>> q, qd, qdd = np.full((3, 2), 0.3)
>>> indices, pointers = arm.regressor_pattern
>>> data = arm.packed_regressor(q, qd, qdd)
>>> data.shape, pointers.tolist()  # the second joint does not move the first of three links
((50,), [0, 30, 50])
>>> np.array_equal(data[30:], arm.regressor(q, qd, qdd)[1, indices[30:]])
True
)";

inline constexpr char kChainEnergyRegressor[] = R"(>>> import numpy as np, zveno as zv
>>> arm = zv.robots.two_link()
>>> q, qd = np.array([0.3, 0.4]), np.array([1.0, -2.0])
>>> kinetic, potential = arm.energy_regressor(q, qd) @ arm.inertial_parameters.ravel()
>>> bool(np.isclose(kinetic, arm.kinetic_energy(q, qd)) and np.isclose(potential, arm.potential_energy(q)))
True
)";

inline constexpr char kChainPowerRegressor[] = R"(>>> import numpy as np, zveno as zv
>>> arm = zv.robots.two_link()
>>> q, qd, qdd = np.array([0.3, 0.4]), np.array([1.0, -2.0]), np.array([0.5, 0.1])
>>> power = arm.power_regressor(q, qd, qdd) @ arm.inertial_parameters.ravel()
>>> bool(np.isclose(power, qd @ arm.inverse_dynamics(q, qd, qdd)))
True
)";

inline constexpr char kChainMomentumRegressor[] = R"(>>> import numpy as np, zveno as zv
>>> arm = zv.robots.two_link()
>>> q, qd = np.array([0.3, 0.4]), np.array([1.0, -2.0])
>>> momentum = arm.momentum_regressor(q, qd) @ arm.inertial_parameters.ravel()
>>> np.allclose(momentum, arm.momentum(q, qd, about="base"))
True
)";

inline constexpr char kChainBaseWrenchRegressor[] = R"(>>> import numpy as np, zveno as zv
>>> arm = zv.robots.two_link()
>>> q, qd, qdd = np.array([0.3, 0.4]), np.array([1.0, -2.0]), np.array([0.5, 0.1])
>>> wrench = arm.base_wrench_regressor(q, qd, qdd) @ arm.inertial_parameters.ravel()
>>> np.allclose(wrench, arm.base_wrench(q, qd, qdd))
True
)";

inline constexpr char kChainCoriolisMatrix[] = R"(>>> import numpy as np, zveno as zv
>>> arm = zv.robots.two_link()
>>> q, qd = np.array([0.0, np.pi / 2]), np.array([1.0, 2.0])
>>> C = arm.coriolis_matrix(q, qd)
>>> C.round(3) + 0.0
array([[-1. , -1.5],
       [ 0.5,  0. ]])
>>> h = 1e-6 * qd
>>> Md = (arm.mass_matrix(q + h) - arm.mass_matrix(q - h)) / 2e-6
>>> np.allclose(Md, C + C.T)  # Md - 2C is skew: the forces C qd do no work beyond the change of M
True
>>> np.allclose(C @ qd, arm.bias(q, qd) - arm.bias(q, 0 * qd))
True
)";

inline constexpr char kChainMomentumMatrix[] = R"(>>> import numpy as np, zveno as zv
>>> arm = zv.robots.puma560()
>>> q, qd = np.full((2, 6), 0.3)
>>> A = arm.momentum_matrix(q)  # centroidal: [P; L] = A qd
>>> A.shape
(6, 6)
>>> np.allclose(A @ qd, arm.momentum(q, qd))
True
)";

inline constexpr char kChainMomentum[] = R"(>>> import numpy as np, zveno as zv
>>> arm = zv.robots.two_link()
>>> arm.momentum([0.0, 0.0], [1.0, 0.0]).round(4) + 0.0  # 2 kg at 1 m/s, 2/3 kg m^2/s about the centre of mass
array([ 0.    ,  0.    , -2.    ,  0.    ,  0.6667,  0.    ])
>>> arm.momentum([0.0, 0.0], [1.0, 0.0], about="base").round(4) + 0.0  # 8/3 about the shoulder
array([ 0.    ,  0.    , -2.    ,  0.    ,  2.6667,  0.    ])
>>> q, qd, qdd = np.full((3, 2), 0.3)
>>> before, after = (arm.momentum(q + t * qd, qd + t * qdd, about="base") for t in (-1e-6, 1e-6))
>>> weight = np.r_[arm.total_mass * arm.gravity, np.cross(arm.com(q), arm.total_mass * arm.gravity)]
>>> np.allclose((after - before) / 2e-6, weight - arm.base_wrench(q, qd, qdd))
True
)";

inline constexpr char kChainCom[] = R"(>>> import numpy as np, zveno as zv
>>> arm = zv.robots.two_link()
>>> arm.com([0.0, np.pi / 2]).round(3) + 0.0  # rods along x and down: half of 0.5 + 1 m, half of 0.5 m
array([ 0.75,  0.  , -0.25])
>>> np.allclose(arm.potential_energy([0.3, 0.4]), -arm.total_mass * arm.gravity @ arm.com([0.3, 0.4]))
True
)";

inline constexpr char kChainAcceleration[] = R"(>>> import numpy as np, zveno as zv
>>> arm = zv.robots.two_link()
>>> arm.acceleration([0.0, 0.0], [1.0, 0.0], [0.0, 0.0], "tip").round(3) + 0.0  # towards the shoulder, w^2 r
array([-2.,  0.,  0.,  0.,  0.,  0.])
>>> arm = zv.robots.puma560()
>>> q, qd, qdd = np.full((3, 6), 0.3)
>>> a = arm.jacobian(q, "tool") @ qdd + arm.jacobian_rate(q, qd, "tool") @ qd
>>> np.allclose(arm.acceleration(q, qd, qdd, "tool"), a)
True
)";

inline constexpr char kChainVelocity[] = R"(>>> import numpy as np, zveno as zv
>>> arm = zv.robots.two_link()
>>> arm.velocity([0.0, 0.0], [1.0, 0.0], "tip").round(3) + 0.0  # 2 m from the shoulder, downwards; [v; w]
array([ 0.,  0., -2.,  0.,  1.,  0.])
>>> arm = zv.robots.puma560()
>>> q, qd = np.full((2, 6), 0.3)
>>> np.allclose(arm.velocity(q, qd, "tool"), arm.jacobian(q, "tool") @ qd)
True
)";

inline constexpr char kChainDerivatives[] = R"(>>> import numpy as np, zveno as zv
>>> arm = zv.robots.puma560()
>>> q, qd, qdd = np.full((3, 6), 0.2)
>>> d = arm.derivatives(q, qd, qdd)
>>> np.allclose(d.dtau_dqdd, arm.mass_matrix(q))
True
>>> dq = np.array([1e-6, 0, 0, 0, 0, 0])
>>> change = arm.inverse_dynamics(q + dq, qd, qdd) - arm.inverse_dynamics(q - dq, qd, qdd)
>>> np.allclose(d.dtau_dq[:, 0], change / 2e-6, atol=1e-6)
True
)";

inline constexpr char kChainForwardDerivatives[] = R"(>>> import numpy as np, zveno as zv
>>> arm = zv.robots.puma560()
>>> q, qd, tau = np.full((3, 6), 0.2)
>>> d = arm.forward_derivatives(q, qd, tau)
>>> np.allclose(d.dqdd_dtau @ arm.mass_matrix(q), np.eye(6))
True
>>> step = np.array([0, 1e-6, 0, 0, 0, 0])
>>> change = arm.forward_dynamics(q + step, qd, tau) - arm.forward_dynamics(q - step, qd, tau)
>>> np.allclose(d.dqdd_dq[:, 1], change / 2e-6, atol=1e-4)
True
)";

inline constexpr char kChainInverseMassMatrix[] = R"(>>> import numpy as np, zveno as zv
>>> arm = zv.robots.puma560()
>>> q = np.full(6, 0.2)
>>> np.allclose(arm.inverse_mass_matrix(q) @ arm.mass_matrix(q), np.eye(6))
True
)";

inline constexpr char kChainJacobianRate[] = R"(>>> import numpy as np, zveno as zv
>>> arm = zv.robots.puma560()
>>> q, qd = np.full((2, 6), 0.3)
>>> step = 1e-6 * qd
>>> difference = (arm.jacobian(q + step, "tool") - arm.jacobian(q - step, "tool")) / 2e-6
>>> np.allclose(arm.jacobian_rate(q, qd, "tool"), difference, atol=1e-8)
True
)";

inline constexpr char kChainJacobian[] = R"(>>> import numpy as np, zveno as zv
>>> arm = zv.robots.puma560()
>>> q, wrench = np.full(6, 0.3), np.array([10.0, -20, 5, 1, 2, 3])  # force and moment at the tool, world axes
>>> J = arm.jacobian(q, "tool")
>>> tau = arm.bias(q, 0 * q) - arm.bias(q, 0 * q, external={"tool": wrench})
>>> np.allclose(tau, J.T @ wrench)  # virtual work
True
)";

inline constexpr char kChainPose[] = R"(>>> import numpy as np, zveno as zv
>>> arm = zv.robots.two_link()
>>> arm.pose([0.0, np.pi / 2], "tip").round(6) + 0.0  # upper rod along x, lower rod hangs down
array([[ 0.,  0.,  1.,  1.],
       [ 0.,  1.,  0.,  0.],
       [-1.,  0.,  0., -1.],
       [ 0.,  0.,  0.,  1.]])
>>> arm.pose(np.zeros((5, 2)), "tip").shape
(5, 4, 4)
)";

inline constexpr char kChainPotentialEnergy[] = R"(>>> import numpy as np, zveno as zv
>>> arm = zv.robots.two_link()
>>> round(arm.potential_energy([-np.pi / 2, 0.0]), 2)  # upright: 2 kg, 1 m above the shoulder
19.62
>>> slope = (arm.potential_energy([1e-6, 0]) - arm.potential_energy([-1e-6, 0])) / 2e-6
>>> np.allclose(slope, arm.bias([0, 0], [0, 0])[0])  # dV/dq is the static bias
True
)";

inline constexpr char kChainKineticEnergy[] = R"(>>> import numpy as np, zveno as zv
>>> arm = zv.robots.puma560()
>>> q, qd = np.full((2, 6), 0.5)
>>> np.allclose(arm.kinetic_energy(q, qd), qd @ arm.mass_matrix(q) @ qd / 2)
True
>>> arm.kinetic_energy(np.zeros((4, 6)), qd).shape
(4,)
)";

inline constexpr char kChainBaseWrench[] = R"(>>> import numpy as np, zveno as zv
>>> arm = zv.robots.puma560()
>>> rest = np.zeros(6)
>>> wrench = arm.base_wrench(rest, rest, rest)
>>> np.allclose(wrench[:3], arm.total_mass * arm.gravity)  # at rest the base carries the weight
True
)";

inline constexpr char kChainReactions[] = R"(>>> import numpy as np, zveno as zv
>>> arm = zv.robots.two_link()
>>> rest = np.zeros(2)
>>> wrench = arm.reactions(rest, rest, rest, frame="world")  # what holds each rod
>>> wrench[:, 2].round(2)  # the lower joint carries one rod, the upper both
array([19.62,  9.81])
>>> tau = arm.inverse_dynamics(rest, rest, rest)
>>> np.allclose(wrench[:, 4], tau)  # moments about the axes, here y, are the drives' torques
True
)";

inline constexpr char kChainSectionLoad[] = R"(>>> import numpy as np, zveno as zv
>>> rod = zv.Body.cylinder(3.0, 0.0, 2.0)  # 3 kg, 2 m along x
>>> link = zv.Link("rod", axis=(0, 1, 0), mass=3.0, com=rod.com, inertia=rod.inertia)
>>> arm = zv.Chain([link])
>>> root, middle = (zv.Section("rod", (x, 0, 0), (1, 0, 0)) for x in (0, 1))
>>> for section in (root, middle):  # held level: 3 g at 1 m, then half the rod, 1.5 g at 0.5 m
...     print(arm.section_load([0.0], [0.0], [0.0], section).round(3) + 0.0)
[  0.      0.     29.43    0.    -29.43    0.   ]
[ 0.     0.    14.715  0.    -7.358  0.   ]
>>> arm.section_load([0.0], [10.0], [0.0], middle, parts="dynamic").round(3) + 0.0  # the outer half is pulled inwards
array([-225.,    0.,    0.,    0.,    0.,    0.])
)";

inline constexpr char kChainForwardDynamics[] = R"(>>> import numpy as np, zveno as zv
>>> arm = zv.robots.two_link()
>>> arm.forward_dynamics([0.0, 0.0], [0.0, 0.0], [0.0, 0.0]).round(3)  # let go: the elbow lags behind
array([ 12.613, -16.817])
>>> arm = zv.robots.puma560()
>>> q, qd, qdd = np.full((3, 6), 0.1)
>>> tau = arm.inverse_dynamics(q, qd, qdd)
>>> np.allclose(arm.forward_dynamics(q, qd, tau), qdd)
True
)";

inline constexpr char kChainInverseDynamics[] = R"(>>> import numpy as np, zveno as zv
>>> arm = zv.robots.puma560()
>>> q, qd, qdd = np.full((3, 6), 0.1)
>>> tau = arm.inverse_dynamics(q, qd, qdd)
>>> tau.round(1)
array([  0.4, -37.7,  -1.3,   0. ,   0. ,   0. ])
>>> np.allclose(tau, arm.mass_matrix(q) @ qdd + arm.bias(q, qd))
True
>>> arm.inverse_dynamics(np.zeros((10_000, 6)), qd, qdd, threads=2).shape
(10000, 6)
)";

inline constexpr char kChainBias[] = R"(>>> import numpy as np, zveno as zv
>>> arm = zv.robots.two_link()
>>> arm.bias([0.0, 0.0], [0.0, 0.0]).round(3)  # weight alone: -(0.5 + 1.5) m g, -0.5 m g
array([-19.62 ,  -4.905])
>>> arm.bias([0.0, np.pi / 2], [1.0, 2.0]).round(3)
array([-18.715,   0.5  ])
)";

inline constexpr char kChainMassMatrix[] = R"(>>> import numpy as np, zveno as zv
>>> arm = zv.robots.two_link()  # rods of 1 m and 1 kg
>>> arm.mass_matrix([0.0, 0.0]).round(4)  # straight: 8/3, 5/6, 1/3 kg m^2
array([[2.6667, 0.8333],
       [0.8333, 0.3333]])
>>> q = np.random.default_rng(0).uniform(-1, 1, (1000, 2))
>>> np.allclose(arm.mass_matrix(q, "kane-recurrent"), arm.mass_matrix(q))
True
)";

inline constexpr char kHexapodForwardDynamicsFree[] = R"(>>> import numpy as np, zveno as zv
>>> ring = zv.mechanisms.docking_ring("UPS")
>>> r, R = ring.nominal
>>> craft = zv.Body(12_000.0, (22e3, 70e3, 70e3), com=(-3.5, 0, 0))
>>> d = ring.forward_dynamics_free(r, R, np.zeros(6), [-300, 0, 0, 0, 0, 0], np.zeros(6), craft)
>>> a, alpha = d.base_acceleration[:3], d.base_acceleration[3:]
>>> np.allclose(craft.mass * (a + np.cross(alpha, craft.com)), d.base_wrench[:3])  # Newton for the spacecraft
True
)";

inline constexpr char kHexapodForwardDynamics[] = R"(>>> import numpy as np, zveno as zv
>>> ring = zv.mechanisms.docking_ring("UPS")
>>> r, R = ring.nominal
>>> push = [-300, 0, 0, 0, 0, 0]
>>> d = ring.forward_dynamics(r, R, np.zeros(6), push, np.zeros(6))
>>> d.acceleration.round(3) + 0.0
array([-3.236,  0.   ,  0.   ,  0.   ,  0.   ,  0.   ])
>>> tau = ring.inverse_dynamics(r, R, np.zeros(6), d.acceleration, push)
>>> np.allclose(tau, 0, atol=1e-9)
True
>>> d.base_wrench[:3].round(1) + 0.0  # what the struts' inertia leaves of the push
array([-101.8,    0. ,    0. ])
)";

inline constexpr char kHexapodInverseDynamics[] = R"(>>> import numpy as np, zveno as zv
>>> ring = zv.mechanisms.docking_ring("UPS")
>>> r, R = ring.nominal
>>> u, a = np.array([-0.05, 0, 0, 0, 0, 0.1]), np.array([1.0, 0, 0, 0, 0, 0])
>>> tau = ring.inverse_dynamics(r, R, u, a)  # N, strokes
>>> np.allclose(ring.forward_dynamics(r, R, u, np.zeros(6), tau).acceleration, a)
True
)";

inline constexpr char kHexapodPotentialEnergy[] = R"(>>> import numpy as np, zveno as zv
>>> ring = zv.mechanisms.docking_ring("UPS")
>>> r, R = ring.nominal
>>> table = zv.Hexapod(ring.platform, ring.legs, nominal=ring.nominal, gravity=(-9.81, 0, 0))
>>> h = np.array([1e-6, 0, 0])
>>> slope = (table.potential_energy(r + h, R) - table.potential_energy(r - h, R)) / 2e-6
>>> hold = table.inverse_dynamics(r, R, np.zeros(6), np.zeros(6))
>>> np.allclose(slope, (table.jacobian(r, R).T @ hold)[0])  # dV/dx = J' tau in equilibrium
True
)";

inline constexpr char kHexapodKineticEnergy[] = R"(>>> import numpy as np, zveno as zv
>>> ring = zv.mechanisms.docking_ring("UPS")
>>> r, R = ring.nominal
>>> u = np.array([-0.1, 0, 0, 0, 0, 0])
>>> alone = ring.platform.mass * 0.1**2 / 2
>>> ring.kinetic_energy(r, R, u) > alone  # the legs move too
True
>>> ring.kinetic_energy(r, R, np.zeros((5, 6))).shape
(5,)
)";

inline constexpr char kHexapodMomentum[] = R"(>>> import numpy as np, zveno as zv
>>> ring = zv.mechanisms.docking_ring("UPS")
>>> r, R = ring.nominal
>>> rest, push = np.zeros(6), np.array([-300.0, 50, 20, 5, 0, 8])
>>> d = ring.forward_dynamics(r, R, rest, push, np.zeros(6))
>>> rate = ring.momentum(r, R, d.acceleration)  # from rest: momentum with u' for u
>>> moment = R @ push[3:] + np.cross(r, push[:3])  # about the base origin
>>> np.allclose(rate, np.r_[push[:3], moment] - d.base_wrench)
True
)";

inline constexpr char kHexapodMassMatrix[] = R"(>>> import numpy as np, zveno as zv
>>> ring = zv.mechanisms.docking_ring("UPS")
>>> r, R = ring.nominal
>>> M, u = ring.mass_matrix(r, R), np.array([-0.1, 0.05, 0, 0, 0.1, 0.2])
>>> np.allclose(u @ M @ u / 2, ring.kinetic_energy(r, R, u))
True
>>> bool(M[0, 0] > ring.platform.mass)  # the legs move with the ring
True
)";

inline constexpr char kHexapodJacobian[] = R"(>>> import numpy as np, zveno as zv
>>> ring = zv.mechanisms.docking_ring("UPS")
>>> r, R = ring.nominal
>>> J = ring.jacobian(r, R)  # rates of the strokes by u
>>> force = np.full(6, 100.0)
>>> (J.T @ force).round(2) + 0.0  # six equal drives push along x
array([457.01,   0.  ,   0.  ,   0.  ,   0.  ,   0.  ])
)";

inline constexpr char kHexapodJointVelocity[] = R"(>>> import numpy as np, zveno as zv
>>> ring = zv.mechanisms.docking_ring("UPS")
>>> r, R = ring.nominal
>>> u = [-0.1, 0, 0, 0, 0, 0.2]
>>> pd = ring.joint_velocity(r, R, u)
>>> np.allclose(pd[:, 2], ring.jacobian(r, R) @ u)  # strokes
True
)";

inline constexpr char kHexapodClosure[] = R"(>>> import numpy as np, zveno as zv
>>> ring = zv.mechanisms.docking_ring("UPS")
>>> r, R = ring.nominal
>>> p = ring.closure(r + [-0.02, 0, 0], R)  # (6, 3): u1, u2, stroke; 2 cm towards the base
>>> (1e3 * p[:, 2]).round(2)  # mm
array([-15.06, -15.06, -15.06, -15.06, -15.06, -15.06])
>>> pose = ring.forward_kinematics(p[:, 2])
>>> np.allclose(pose.r, r + [-0.02, 0, 0])
True
)";

inline constexpr char kChainMassMatrixDerivatives[] = R"(>>> import numpy as np, zveno as zv
>>> arm = zv.robots.puma560()
>>> q = np.array([0.1, -0.6, 0.4, 0.2, 0.5, 0])
>>> dM = arm.mass_matrix_derivatives(q)
>>> dM.shape, arm.mass_matrix_derivatives(q, order=2).shape
((6, 6, 6), (6, 6, 6, 6))
>>> step = 1e-6 * np.eye(6)[2]
>>> np.allclose(dM[..., 2], (arm.mass_matrix(q + step) - arm.mass_matrix(q - step)) / 2e-6, atol=1e-8)
True
)";

inline constexpr char kChainMassMatrixSecondDerivatives[] = R"(>>> import numpy as np, zveno as zv
>>> arm = zv.robots.puma560()
>>> q = np.array([0.1, -0.6, 0.4, 0.2, 0.5, 0])
>>> d2M = arm.mass_matrix_second_derivatives(q)
>>> step = 1e-6 * np.eye(6)[2]
>>> slope = arm.mass_matrix_derivatives(q + step) - arm.mass_matrix_derivatives(q - step)
>>> np.allclose(d2M[..., 2], slope / 2e-6, atol=1e-8)
True
)";

inline constexpr char kChainChristoffel[] = R"(>>> import numpy as np, zveno as zv
>>> arm = zv.robots.puma560()
>>> q, qd = np.array([[0.1, -0.6, 0.4, 0.2, 0.5, 0], [0.5, 0.2, -0.3, 1, 0, 0.4]])
>>> C = np.einsum("isj,s->ij", arm.christoffel(q), qd)
>>> np.allclose(C, arm.coriolis_matrix(q, qd))
True
)";

inline constexpr char kChainGravityStiffness[] = R"(>>> import numpy as np, zveno as zv
>>> pendulum = zv.Chain([zv.Link("rod", mass=2.0, com=(0.5, 0, 0))], gravity=(9.81, 0, 0))  # hangs along x at q = 0
>>> pendulum.gravity_stiffness([0.0])  # m g c cos q
array([[9.81]])
)";

inline constexpr char kChainKinematicDerivative[] = R"(>>> import numpy as np, zveno as zv
>>> arm = zv.robots.puma560()
>>> q, hand = np.array([0.1, -0.6, 0.4, 0.2, 0.5, 0]), arm.link_names[-1]
>>> np.allclose(arm.kinematic_derivative(q, hand, 0), arm.jacobian(q, hand, frame="link")[:, 0])
True
>>> bend = arm.kinematic_derivative(q, hand, 0, (2, 1, 2))  # third derivative, by the third joint twice
>>> np.allclose(bend, arm.kinematic_derivative(q, hand, 0, (1, 2, 2)))
True
>>> arm.kinematic_derivative(q, hand, 3, (1,))  # joint 1 is not between joint 3 and the hand
array([0., 0., 0., 0., 0., 0.])
)";

inline constexpr char kChainEffectiveInertia[] = R"(>>> import numpy as np, zveno as zv
>>> arm = zv.robots.puma560()
>>> q, upper = np.array([0.1, -0.6, 0.4, 0.2, 0.5, 0]), arm.link_names[1]
>>> column = arm.jacobian(q, upper, frame="link")[:, 1]
>>> inertia = arm.effective_inertia(q, upper)
>>> np.allclose(column @ inertia @ column + arm.rotor_inertia[1], arm.mass_matrix(q)[1, 1])
True
>>> arm.effective_inertia(q, upper, (2, 3, 3)).shape  # a third derivative
(6, 6)
)";

inline constexpr char kChainMassMatrixDerivative[] = R"(>>> import numpy as np, zveno as zv
>>> arm = zv.robots.puma560()
>>> q = np.array([0.1, -0.6, 0.4, 0.2, 0.5, 0])
>>> np.allclose(arm.mass_matrix_derivative(q, 0, 1, (2,)), arm.mass_matrix_derivatives(q)[0, 1, 2])
True
>>> joint = arm.joint_names
>>> fourth = arm.mass_matrix_derivative(q, joint[0], joint[0], (joint[1], joint[1], joint[2], joint[4]))
>>> isinstance(fourth, float)
True
)";

inline constexpr char kChainSecondDerivatives[] = R"(>>> import numpy as np, zveno as zv
>>> arm = zv.robots.puma560()
>>> q, qd, qdd = np.array([[0.1, -0.6, 0.4, 0.2, 0.5, 0], [0.5, 0.2, -0.3, 1, 0, 0.4], [1, 2, 0, 0, 1, 0]])
>>> nu = np.array([1, -0.5, 0.3, 0, 0, 2])
>>> H = arm.second_derivatives(q, qd, qdd, nu)
>>> step = 1e-6 * np.eye(6)[1]
>>> slope = arm.derivatives(q + step, qd, qdd).dtau_dq - arm.derivatives(q - step, qd, qdd).dtau_dq
>>> np.allclose(H.H_qq[1], nu @ slope / 2e-6, atol=1e-7)
True
)";

inline constexpr char kLinkageResidual[] = R"(>>> import numpy as np, zveno as zv
>>> four_bar = zv.mechanisms.four_bar()
>>> q = four_bar.close([0.8, 0.0, 1.5], hold=["crank_joint"])
>>> four_bar.residual(q).shape  # a revolute loop: three forces, two moments
(5,)
>>> bool(np.abs(four_bar.residual(q)).max() < 1e-13)
True
)";

inline constexpr char kLinkageConstraintVelocity[] = R"(>>> import numpy as np, zveno as zv
>>> four_bar = zv.mechanisms.four_bar()
>>> q = four_bar.close([0.8, 0.0, 1.5], hold=["crank_joint"])
>>> qd = four_bar.velocities(q, {"crank_joint": 3.0})
>>> bool(np.abs(four_bar.constraint_velocity(q, qd)).max() < 1e-12)
True
)";

inline constexpr char kLinkageConstraintJacobian[] = R"(>>> import numpy as np, zveno as zv
>>> four_bar = zv.mechanisms.four_bar()
>>> q, qd = np.array([0.8, 0.1, 1.5]), np.array([1.0, 2.0, 3.0])
>>> np.allclose(four_bar.constraint_jacobian(q) @ qd, four_bar.constraint_velocity(q, qd))
True
)";

inline constexpr char kLinkageConstraintBias[] = R"(>>> import numpy as np, zveno as zv
>>> four_bar = zv.mechanisms.four_bar()
>>> q, qd, h = np.array([0.8, 0.1, 1.5]), np.array([1.0, 2.0, 3.0]), 1e-6
>>> before, after = (four_bar.constraint_velocity(q + t * qd, qd) for t in (-h, h))
>>> np.allclose((after - before) / (2 * h), four_bar.constraint_bias(q, qd))
True
)";

inline constexpr char kLinkageConstraintDerivatives[] = R"(>>> import numpy as np, zveno as zv
>>> four_bar = zv.mechanisms.four_bar()
>>> q, qd, h = np.array([0.8, 0.1, 1.5]), np.array([1.0, 2.0, 3.0]), 1e-6
>>> d = four_bar.constraint_derivatives(q, qd, np.zeros(3), np.ones(5))
>>> before, after = (four_bar.constraint_velocity(q + t * np.array([1.0, 0.0, 0.0]), qd) for t in (-h, h))
>>> np.allclose((after - before) / (2 * h), d.dfd_dq[:, 0])
True
)";

inline constexpr char kLinkageForwardDynamics[] = R"(>>> import numpy as np, zveno as zv
>>> four_bar = zv.mechanisms.four_bar()
>>> q = four_bar.close([0.8, 0.0, 1.5], hold=["crank_joint"])
>>> r = four_bar.forward_dynamics(q, four_bar.velocities(q, {"crank_joint": 3.0}), [0.5, 0, 0])
>>> r.qdd.round(3)
array([-30.048,  41.142,   1.894])
>>> r.loop_reaction.round(3)  # coupler on rocker, rocker axes
array([[-8.146,  0.905, -0.023,  0.015,  0.139,  0.   ]])
>>> r.loop_unique  # a planar loop does not tell how its bearings share what acts across the plane
array([[ True,  True, False, False, False,  True]])
)";
inline constexpr char kLinkageProjectVelocity[] = R"(>>> import numpy as np, zveno as zv
>>> four_bar = zv.mechanisms.four_bar()
>>> q = four_bar.close([0.8, 0.0, 1.5], hold=["crank_joint"])
>>> qd = four_bar.project_velocity(q, [1.0, 0.0, 0.0])
>>> bool(np.abs(four_bar.constraint_velocity(q, qd)).max() < 1e-12)
True
)";

}  // namespace zveno::examples
