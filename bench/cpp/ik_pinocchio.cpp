// Closed-loop inverse kinematics with Pinocchio, in its users' usual form: damped least squares on the logarithm of the
// error, unit steps, random restarts inside of the limits. `bench/ik_table.py --cpp` builds and runs it.
//   ik_pinocchio FILE: joints, their placements and limits, the tool, then targets (p, R by rows) and first starts.
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <random>
#include <vector>

#include <pinocchio/algorithm/frames.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/multibody.hpp>

namespace {

namespace pin = pinocchio;

pin::SE3 pose(std::istream& in) {
  pin::SE3 T;
  for (int i = 0; i < 3; ++i) in >> T.translation()[i];
  for (int i = 0; i < 9; ++i) in >> T.rotation()(i / 3, i % 3);
  return T;
}

}  // namespace

int main(int, char** argv) {
  std::ifstream in(argv[1]);
  int n, count;
  in >> n >> count;
  pin::Model model;
  Eigen::VectorXd low(n), high(n);
  int parent = 0;
  for (int i = 0; i < n; ++i) {
    const pin::SE3 placement = pose(in);
    Eigen::Vector3d axis;
    in >> axis[0] >> axis[1] >> axis[2] >> low[i] >> high[i];
    parent =
        static_cast<int>(model.addJoint(parent, pin::JointModelRevoluteUnaligned(axis), placement, "j" + std::to_string(i)));
  }
  const pin::SE3 tool = pose(in);
  const auto frame = model.addFrame(pin::Frame("tool", parent, 0, tool, pin::OP_FRAME));
  std::vector<pin::SE3> target;
  std::vector<Eigen::VectorXd> start;
  for (int i = 0; i < count; ++i) {
    target.push_back(pose(in));
    Eigen::VectorXd q(n);
    for (int j = 0; j < n; ++j) in >> q[j];
    start.push_back(q);
  }
  pin::Data data(model);
  pin::Data::Matrix6x J(6, n);
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  long found = 0, iterations = 0;
  const std::clock_t began = std::clock();
  for (int i = 0; i < count; ++i) {
    Eigen::VectorXd q = start[i];
    bool done = false;
    for (int k = 0; k < 100 && !done; ++k) {
      if (k)
        for (int j = 0; j < n; ++j) q[j] = low[j] + uniform(random) * (high[j] - low[j]);
      for (int step = 0; step < 50; ++step) {
        pin::framesForwardKinematics(model, data, q);
        const pin::SE3 error = data.oMf[frame].actInv(target[i]);
        const Eigen::Matrix<double, 6, 1> e = pin::log6(error).toVector();
        if (e.head<3>().norm() < 1e-6 && e.tail<3>().norm() < 1e-6) {
          for (int j = 0; j < n; ++j) q[j] = std::remainder(q[j], 2 * M_PI);
          done = ((q - low).array() >= -1e-9).all() && ((high - q).array() >= -1e-9).all();
          break;
        }
        J.setZero();
        pin::computeFrameJacobian(model, data, q, frame, J);
        Eigen::Matrix<double, 6, 6> A = J * J.transpose();
        A.diagonal().array() += 1e-6;
        q += J.transpose() * A.ldlt().solve(e);
        ++iterations;
      }
    }
    found += done;
  }
  const double seconds = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
  std::printf("%.6f %.6f %.3f\n", 1e6 * seconds / count, static_cast<double>(found) / count,
              static_cast<double>(iterations) / count);
}
