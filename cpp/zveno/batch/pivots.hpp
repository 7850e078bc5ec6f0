// The pivots of a chain's forward dynamics, judged.
#pragma once

#include <cmath>

#include <zveno/functions/rows.hpp>
#include <zveno/model/chain.hpp>

namespace zveno {

inline Failure judge_pivots(const Chain& chain, const double* pivot) {
  for (int b = chain.n(); b-- > 0;)
    if (!(pivot[b] > chain.tiny_pivot()[b])) {
      if (!std::isfinite(pivot[b])) return {Cause::overflow};
      return {Cause::massless, -1, chain.user_index()[b]};
    }
  return {};
}

}  // namespace zveno
