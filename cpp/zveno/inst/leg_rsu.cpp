#include <zveno/inst/legs_inst.hpp>

template zveno::LegCalls zveno::leg_calls<zveno::LegType::rsu>(bool, BaseKind);
template void zveno::leg_kinematics<zveno::LegType::rsu>(const double*, const Packed*, Packed*, Packed*, Packed*, Packed*);
