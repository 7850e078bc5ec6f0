// Forward dynamics of one state of a hexapod after another, as an integrator asks for it: the legs are closed once, the
// forces of the drives may answer to that, and only what is wanted is worked out. Set up once for a hexapod. The numbers are
// those of run_hexapod, bit by bit; momentum and potential energy may be rounded otherwise.
#pragma once

#include <cstddef>
#include <memory>

#include <zveno/model/hexapod.hpp>

namespace zveno {

class HexMotion {
 public:
  static constexpr int kPlaces = 4;        // of a leg's joints
  static constexpr int kRows = kLegs + 8;  // room for lanes without a leg

  virtual ~HexMotion() = default;

  // another motion of a base that was made to move
  virtual void move_base(const double* base) = 0;
  // Closes the legs for a ring at r, R (row major) with u = [v; w in ring axes] under an external wrench. start: kLegs x
  // joints() coordinates where custom legs begin, nullptr: their own. False: a leg does not close; run_hexapod says why.
  virtual bool close(const double* r, const double* R, const double* u, const double* wrench, const double* start) = 0;
  // joint_position and rate, after close(), for forces that answer to them
  virtual void find_joints() = 0;
  // How much is wanted: u', the load on the base, accelerations of the actuated joints; rates and accelerations of all
  // joints too; and coordinates, reactions, momentum, energies
  enum class Extent { brief, joints, whole };
  // Accelerations for the forces of the joints, once after each close(); driven: those of passive joints are zero. False: a
  // number is not finite, or the mechanism is singular.
  virtual bool finish(const double (*tau)[kPlaces], bool driven, Extent extent) = 0;

  // after close()
  double position[kLegs], speed[kLegs];  // of the actuated joints
  double fastest;                        // the largest rate of any joint
  // after finish()
  double acceleration[6], load[8];  // u'; on the base about its origin, base axes
  double speed_rate[kLegs];         // accelerations of the actuated joints
  double rate[kRows][kPlaces], joint_acceleration[kRows][kPlaces];
  double joint_position[kRows][kPlaces], reaction[kRows][kPlaces];  // whole; the first also after find_joints()
  double kinetic, potential, momentum[8];                           // about the base's origin, base axes
};

// base: [a_0; Omega; Omega'] of a base that moves, or nullptr
std::unique_ptr<HexMotion> make_motion(const Hexapod& hexapod, const double* base);

}  // namespace zveno
