#include <zveno/inst/legs_inst.hpp>

template zveno::LegCalls zveno::leg_calls<zveno::LegType::ups>(bool, BaseKind);
template void zveno::leg_kinematics<zveno::LegType::ups>(const double*, const Packed*, Packed*, Packed*, Packed*, Packed*);
