// The algebraic level: the same function of real numbers in fewer instructions that wait for each other less; only rounding
// differs.
//
// The graph is read as sums of products. Like terms are collected, constants merged, divisions by one number share its
// reciprocal, sin^2 + cos^2 is 1, common factors are pulled out, and what several sums or several products have in common
// is computed once. Then sums are written as fused multiply-adds, terms that are known early first.
//
// Cost of an instruction: multiplications and fused ones are the scarce kind (processors that add elsewhere are limited by
// them, and elsewhere all count alike), so a product with several uses is computed once and not fused into each of them.
#pragma once

#include <zveno/graph/graph.hpp>

namespace zveno {

// how often something was done
struct AlgebraReport {
  int collected = 0;    // like terms put together
  int distributed = 0;  // constants moved into sums of multiples
  int reciprocals = 0;  // divisions that became products
  int identities = 0;   // sin^2 + cos^2
  int factored = 0;     // terms that share a factor with another
  int shared = 0;       // pairs of terms or factors taken from elsewhere
  int fused = 0;        // multiply-adds
};

Graph algebraic(const Graph& g, AlgebraReport& report);

}  // namespace zveno
