#include <zveno/inst/legs_inst.hpp>

template zveno::LegCalls zveno::leg_calls<zveno::LegType::ucu>(bool, BaseKind);
template void zveno::leg_kinematics<zveno::LegType::ucu>(const double*, const Packed*, Packed*, Packed*, Packed*, Packed*);
