// A hexapod's functions as expression graphs.
#pragma once

#include <zveno/functions/hexapod.hpp>
#include <zveno/graph/graph.hpp>

namespace zveno {

// What job computes for rows like `given`: its arguments are those that have data there (which is not looked at), in the
// order of kHexInputs; its results are HexParts. Throws std::invalid_argument for legs that are closed by iteration.
Graph trace_hexapod(const HexJob& job, const HexRows& given, std::size_t limit = Graph::kLimit);

}  // namespace zveno
