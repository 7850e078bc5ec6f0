#include <zveno/model/body.hpp>

#include <Eigen/Eigenvalues>

#include <cmath>
#include <cstdio>

namespace zveno {

std::string number_text(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", x);
  return text;
}

std::vector<std::string> check_body(const BodySpec& body, const std::string& name, const std::string& who) {
  const auto fail = [&](const std::string& what) { throw ModelError(name, who + what); };
  const Eigen::Vector3d com{body.com.x(), body.com.y(), body.com.z()};
  Eigen::Matrix3d I;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) I(i, j) = body.inertia(i, j);
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

Inertia<double> inertia_of(const BodySpec& body) {
  const Mat3<double>& I = body.inertia;
  const auto mean = [&](int i, int j) { return 0.5 * (I(i, j) + I(j, i)); };
  const Sym3<double> about_com{I(0, 0), mean(0, 1), mean(0, 2), I(1, 1), mean(1, 2), I(2, 2)};
  return {body.mass, body.com * body.mass, about_com + point_inertia(body.mass, body.com, dot(body.com, body.com))};
}

BodySpec body_of(const Inertia<double>& x) {
  BodySpec body;
  body.mass = x.m;
  if (x.m != 0) {
    body.com = {x.mc.x() / x.m, x.mc.y() / x.m, x.mc.z() / x.m};
  } else if (x.mc.x() != 0 || x.mc.y() != 0 || x.mc.z() != 0) {
    throw ModelError("", "mass is zero but the first moment is not");
  }
  const Sym3<double> moved = point_inertia(-x.m, body.com, dot(body.com, body.com));
  body.inertia = dense(x.I + moved);
  return body;
}

}  // namespace zveno
