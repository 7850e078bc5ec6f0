#include <zveno/inst/legs_inst.hpp>

template zveno::LegCalls zveno::leg_calls<zveno::LegType::rus>(bool, BaseKind);
template void zveno::leg_kinematics<zveno::LegType::rus>(const double*, const Packed*, Packed*, Packed*, Packed*, Packed*);
