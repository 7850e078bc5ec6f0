// A cut through a link, and what hangs beyond it.
#pragma once

#include <cstdint>
#include <vector>

#include <zveno/math/inertia.hpp>
#include <zveno/model/chain.hpp>

namespace zveno {

enum class SectionAxes : std::uint8_t { section, link, world };

struct SectionCut {
  int body = kWorld;                                      // of the link; kWorld: it is welded to the base
  Vec3<double> p_BoCut_B{0, 0, 0};                        // the point that moments are taken about
  Mat3<double> R_BA = diagonal(1.0);                      // axes of the result, world axes excepted
  Moments<double> far{0, {0, 0, 0}, {0, 0, 0, 0, 0, 0}};  // of the body's part beyond the cut, about Bo, body axes
  std::vector<int> carried;                               // bodies whose joints stand on that part
  std::vector<char> loaded;                               // by link: wrenches on it act on that part
  bool world_axes = false;
  // what is counted: weight and external wrenches; velocities, accelerations and the motion of the base
  bool at_rest = true, in_motion = true;
};

// The cut through a link at `point`, its axes R_US (columns x, y, z) and its own part beyond the cut in link axes. `welded`:
// links fixed to that part, `carried`: links whose moving joints stand on it or on those; `loaded`: wrenches on the link
// itself act beyond the cut.
inline SectionCut cut_of(const Chain& chain, int link, const Vec3<double>& point, const Mat3<double>& R_US,
                         const Inertia<double>& far, const std::vector<int>& welded, const std::vector<int>& carried,
                         bool loaded, SectionAxes axes) {
  const LinkFrame& frame = chain.frame(link);
  SectionCut cut;
  cut.body = frame.body;
  cut.p_BoCut_B = frame.p_BoUo_B + times(frame.R_BU, point);
  cut.R_BA = axes == SectionAxes::section ? times(frame.R_BU, R_US) : frame.R_BU;
  cut.world_axes = axes == SectionAxes::world;
  cut.far = moved(frame.R_BU, frame.p_BoUo_B, moments_of(far));
  cut.loaded.assign(chain.links().size(), 0);
  cut.loaded[link] = loaded;
  for (const int other : welded) {
    const LinkFrame& place = chain.frame(other);
    cut.far = cut.far + moved(place.R_BU, place.p_BoUo_B, moments_of(inertia_of(chain.links()[other].body)));
    cut.loaded[other] = 1;
  }
  for (const int other : carried) cut.carried.push_back(chain.frame(other).body);
  return cut;
}

}  // namespace zveno
