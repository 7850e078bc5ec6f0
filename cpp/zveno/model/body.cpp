#include <zveno/model/body.hpp>

#include <cstdio>

namespace zveno {

std::string number_text(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", x);
  return text;
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
