#include <zveno/scalar/count.hpp>

#include <zveno/instances/legs.hpp>

#define ZVENO_LEG_INSTANCE(type) ZVENO_LEG_INSTANCES(zveno::LegType::type, zveno::Counted)
ZVENO_LEG_TYPES(ZVENO_LEG_INSTANCE)
