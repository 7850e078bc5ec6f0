// What decompositions are needed for when a model is made. Nothing else of a model needs Eigen: sources that leave this file
// out are compiled without it, of models that have passed here.
#include <zveno/model/body.hpp>

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

#include <cmath>

namespace zveno {
namespace {

Eigen::Matrix3d eigen(const Mat3<double>& a) {
  Eigen::Matrix3d r;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) r(i, j) = a(i, j);
  return r;
}

}  // namespace

std::vector<std::string> check_body(const BodySpec& body, const std::string& name, const std::string& who) {
  const auto fail = [&](const std::string& what) { throw ModelError(name, who + what); };
  const Eigen::Vector3d com{body.com.x(), body.com.y(), body.com.z()};
  const Eigen::Matrix3d I = eigen(body.inertia);
  if (!com.allFinite()) fail("com is not finite");
  if (!I.allFinite()) fail("inertia is not finite");
  if (!std::isfinite(body.mass)) fail("mass is not finite");
  if (body.mass < 0) fail("mass " + number_text(body.mass) + " is negative");
  // squares of these enter the inertia about the origin
  constexpr double kLargest = 1e100;
  const double size = I.norm(), skew = (I - I.transpose()).norm();
  for (double x : {body.mass, com.norm(), size})
    if (x > kLargest) fail("value " + number_text(x) + " is too large to compute with");

  if (skew > 1e-9 * size) fail("inertia is not symmetric: |I - I'| = " + number_text(skew) + " kg m^2");
  std::vector<std::string> doubts;
  if (size == 0) return doubts;
  const Eigen::Vector3d e =
      Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(I, Eigen::EigenvaluesOnly).eigenvalues();  // ascending
  if (e[0] < -(1e-12 * size + 1e-18 * body.mass)) fail("inertia eigenvalue " + number_text(e[0]) + " kg m^2 is negative");
  if (e[0] + e[1] < e[2] * (1 - 1e-9))
    doubts.push_back("principal inertias " + number_text(e[0]) + ", " + number_text(e[1]) + ", " + number_text(e[2]) +
                     " kg m^2 break the triangle inequality: no real body has them");
  if (body.mass == 0) doubts.push_back("mass is zero but the inertia is not (largest " + number_text(e[2]) + " kg m^2)");
  return doubts;
}

Mat3<double> nearest_rotation(const Mat3<double>& R) {
  const Eigen::JacobiSVD<Eigen::Matrix3d> svd(eigen(R), Eigen::ComputeFullU | Eigen::ComputeFullV);
  const Eigen::Matrix3d nearest = svd.matrixU() * svd.matrixV().transpose();
  Mat3<double> r;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) r(i, j) = nearest(i, j);
  return r;
}

}  // namespace zveno
