#include <zveno/inst/legs_inst.hpp>

template zveno::LegCalls zveno::leg_calls<zveno::LegType::spu>(bool, BaseKind);
template void zveno::leg_kinematics<zveno::LegType::spu>(const double*, const Packed*, Packed*, Packed*, Packed*, Packed*);
