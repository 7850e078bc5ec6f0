#include <zveno/instances/legs.hpp>

ZVENO_LEG_INSTANCES(zveno::LegType::ucu, zveno::Packed)
