#include <zveno/scalar/trace.hpp>

#include <zveno/instances/legs.hpp>

ZVENO_LEG_INSTANCES(zveno::LegType::ups, zveno::Traced)
ZVENO_LEG_INSTANCES(zveno::LegType::spu, zveno::Traced)
ZVENO_LEG_INSTANCES(zveno::LegType::ucu, zveno::Traced)
ZVENO_LEG_INSTANCES(zveno::LegType::rus, zveno::Traced)
ZVENO_LEG_INSTANCES(zveno::LegType::rsu, zveno::Traced)
