#include <zveno/scalar/trace.hpp>

#include <zveno/instances/legs.hpp>

#define ZVENO_LEG_INSTANCE(type) ZVENO_LEG_INSTANCES(zveno::LegType::type, zveno::Traced)
ZVENO_LEG_TYPES(ZVENO_LEG_INSTANCE)
