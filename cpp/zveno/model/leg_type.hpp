// Leg structures: what distinguishes them, in one table; and the numbers of one leg as the kernels see them.
#pragma once

#include <cstdint>
#include <type_traits>

#include <zveno/math/lin.hpp>

namespace zveno {

// those that close in closed form, in the order of kLegTraits
#define ZVENO_LEG_TYPES(X) X(ups) X(spu) X(ucu) X(rus) X(rsu)

#define ZVENO_LEG_NAME(type) type,
enum class LegType : std::uint8_t { ZVENO_LEG_TYPES(ZVENO_LEG_NAME) custom };
#undef ZVENO_LEG_NAME

struct LegTraits {
  LegType type;
  const char* name;    // joints by letter, base to ring
  bool hunt;           // crank and coupler, actuated at the crank; else Gough: housing and rod, the stroke actuated
  bool spins;          // closes with a universal joint and has a spin about its line; else closes with a ball
  bool housing_spins;  // with the rod
  int coordinates;
  const char* coordinate[4];
};

// in the order of LegType; custom legs are closed by iteration and have no row
inline constexpr LegTraits kLegTraits[] = {
    {LegType::ups, "UPS", false, false, false, 3, {"u1", "u2", "stroke", ""}},
    {LegType::spu, "SPU", false, true, true, 4, {"u1", "u2", "spin", "stroke"}},
    {LegType::ucu, "UCU", false, true, false, 4, {"u1", "u2", "spin", "stroke"}},
    {LegType::rus, "RUS", true, false, false, 3, {"crank", "u1", "u2", ""}},
    {LegType::rsu, "RSU", true, true, false, 4, {"crank", "u1", "u2", "spin"}},
};

constexpr const LegTraits& traits_of(LegType type) { return kLegTraits[static_cast<int>(type)]; }

// f(std::integral_constant<LegType, type>()), of a type with a row
template <class F>
decltype(auto) with_leg_type(LegType type, F&& f) {
  switch (type) {
#define ZVENO_LEG_CASE(type) \
  case LegType::type: return f(std::integral_constant<LegType, LegType::type>());
    ZVENO_LEG_TYPES(ZVENO_LEG_CASE)
#undef ZVENO_LEG_CASE
    default: return f(std::integral_constant<LegType, LegType::ups>());
  }
}

namespace leg {

// Numbers of one leg, as an array. Lengths: `inner` from the housing's hinge to the slide's zero (or crank), `outer` from
// there to the ring's hinge (or coupler).
enum Param : int {
  kBase = 0,       // l_0, 3
  kFrame = 3,      // gamma_0 by rows, 9
  kRing = 12,      // l_C, 3
  kRingAxis = 15,  // second axis of the ring's U joint: row 3 of gamma_C, 3
  kInner = 18,
  kOuter = 19,
  kInvOuter = 20,  // 1 / outer; for a slide 1 / (inner + outer)
  kReach = 21,     // inner^2 - outer^2
  kHalfInvInner = 22,
  kReflected = 23,
  kElbow = 24,
  kSpin = 25,
  kInnerMass = 26,
  kInnerMoment = 27,   // 3
  kInnerInertia = 30,  // xx xy xz yy yz zz about the body's origin
  kOuterMass = 36,
  kOuterMoment = 37,
  kOuterInertia = 40,
  kCrankFrame = 46,  // gamma_1 by rows, 9
  kHook = 55,        // first axis of the ring's U joint in the last link: row 2 of gamma_L, 3
  kParams = 58,
};

// Parameters stand kSlots apart: legs of one structure side by side, or one leg repeated, ready to be loaded into lanes.
constexpr int kSlots = 8;

}  // namespace leg

// the ring as a body
template <class T>
struct Platform {
  T mass;
  Sym3<T> inertia;  // ring axes, about the centre of mass
};

}  // namespace zveno
