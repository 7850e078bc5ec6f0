#include <zveno/scalar/count.hpp>

#include <zveno/instances/legs.hpp>

ZVENO_LEG_INSTANCES(zveno::LegType::ups, zveno::Counted)
ZVENO_LEG_INSTANCES(zveno::LegType::spu, zveno::Counted)
ZVENO_LEG_INSTANCES(zveno::LegType::ucu, zveno::Counted)
ZVENO_LEG_INSTANCES(zveno::LegType::rus, zveno::Counted)
ZVENO_LEG_INSTANCES(zveno::LegType::rsu, zveno::Counted)
