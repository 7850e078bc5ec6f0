#include <zveno/instances/legs.hpp>

ZVENO_LEG_INSTANCES(zveno::LegType::spu, zveno::Packed)
