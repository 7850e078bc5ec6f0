#include <zveno/model/inertial.hpp>

namespace zveno {

void link_parameters(const Chain& chain, int i, double* p) { write_inertial(inertia_of(chain.links()[i].body), p); }

void body_parameters(const Chain& chain, int b, double* p) {
  const LinkFrame& frame = chain.joint_frame(b);
  const Mat3<double> R_UB = frame.R_BU.transposed();
  write_inertial(inertia_of(moved(R_UB, -times(R_UB, frame.p_BoUo_B), moments_of(chain.body(b)))), p);
}

std::vector<BodyParams<double>> regrouped(const Chain& chain) {
  const int n = chain.n();
  std::vector<BodyParams<double>> body;
  for (int b = 0; b < n; ++b) body.push_back(chain.body(b));
  for (int b = n; b-- > 0;) {
    const int parent = chain.topology().parent[b];
    BodyParams<double>& own = body[b];
    Moments<double> left = moments_of(own), given{0, {0, 0, 0}, {0, 0, 0, 0, 0, 0}};
    // the frame in which what is given away stands still: theta = q + offset of a revolute joint does not matter there
    Turn<double> theta{0, 1};
    if (chain.view().revolute(b)) {
      given.m = left.m, given.mc.z() = left.mc.z(), given.S.zz = left.S.zz;
      left.m = left.mc.z() = left.S.zz = 0;
    } else {
      given.S = left.S;
      left.S = {0, 0, 0, 0, 0, 0};
      theta = chain.fixed_turn()[b];
    }
    if (parent != kWorld) {
      const JointFrame<double> X{theta, own.alpha, own.phi, chain.topology().placement[b], own.p_PJ};
      set_moments(body[parent], moments_of(body[parent]) + moved(X.after(diagonal(1.0)), own.p_PJ, given));
    }
    set_moments(own, left);
  }
  return body;
}

}  // namespace zveno
