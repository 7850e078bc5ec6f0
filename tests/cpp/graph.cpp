// Expression graphs: the builder keeps every bit, the algebraic level rounds differently and nothing else.
#include <zveno/graph/algebra.hpp>

#include <algorithm>
#include <cmath>
#include <random>

#include "check.hpp"

using namespace zveno;
using Id = Graph::Id;

namespace {

constexpr int kInputs = 5;

double applied(Op op, double a, double b, double c) {
  switch (op) {
    case Op::add: return a + b;
    case Op::sub: return a - b;
    case Op::mul: return a * b;
    case Op::div: return a / b;
    case Op::neg: return -a;
    case Op::sqrt: return std::sqrt(a);
    case Op::sin: return std::sin(a);
    case Op::cos: return std::cos(a);
    case Op::angle: return std::atan2(a, b);
    default: return std::fma(a, b, c);
  }
}

std::vector<double> evaluated(const Graph& g, const double* x) {
  std::vector<double> value, results;
  for (const Node& n : g.nodes()) {
    const auto operand = [&](Id i) { return i < 0 ? 0.0 : value[static_cast<std::size_t>(i)]; };
    if (n.op == Op::constant)
      value.push_back(n.value);
    else if (n.op == Op::input)
      value.push_back(x[n.b]);
    else
      value.push_back(applied(n.op, operand(n.a), operand(n.b), operand(n.c)));
  }
  for (const auto& list : g.outputs)
    for (const Id i : list) results.push_back(value[static_cast<std::size_t>(i)]);
  return results;
}

// additions, products and the like of whatever is there, also into double: value[i] is that of node[i]
struct Random {
  explicit Random(unsigned seed, const std::vector<Op>& ops, int steps) : generator(seed) {
    for (int i = 0; i < kInputs; ++i) keep(graph.input(0, i), x[i] = uniform());
    for (const double k : {0.0, 1.0, -1.0, 0.3, -2.0}) keep(graph.constant(k), k);
    for (int step = 0; step < steps; ++step) {
      const Op op = ops[below(ops.size())];
      const std::size_t a = below(node.size()), b = below(node.size()), c = below(node.size());
      const double y = applied(op, value[a], value[b], value[c]);
      if (!(std::fabs(y) < 1e3) || (y != 0 && std::fabs(y) < 1e-3)) continue;
      keep(graph.apply(op, node[a], node[b], node[c]), y);
    }
    // the later half, the last alone
    graph.outputs = {{node.begin() + node.size() / 2, node.end() - 1}, {node.back()}};
    results.assign(value.begin() + value.size() / 2, value.end());
  }
  std::size_t below(std::size_t n) { return generator() % n; }
  double uniform() { return static_cast<double>(generator()) / 1e9 - 2; }
  void keep(Id i, double y) {
    node.push_back(i);
    value.push_back(y);
  }

  std::mt19937 generator;
  Graph graph;
  double x[kInputs];
  std::vector<Id> node;
  std::vector<double> value, results;
};

const std::vector<Op> kArithmetic{Op::add, Op::sub, Op::mul, Op::mul, Op::neg};
const std::vector<Op> kEverything{Op::add, Op::sub, Op::mul, Op::div, Op::neg, Op::sqrt, Op::sin, Op::cos, Op::fma};

int instructions(const Graph& g) {
  return static_cast<int>(
      std::count_if(g.nodes().begin(), g.nodes().end(), [](const Node& n) { return arity(n.op) > 0 && n.op != Op::neg; }));
}

Graph simplified(const Graph& g) {
  AlgebraReport report;
  return algebraic(g, report);
}

void check_order(const Graph& g) {
  for (std::size_t i = 0; i < g.size(); ++i) {
    const Node& n = g.nodes()[i];
    const Id operand[3] = {n.a, n.b, n.c};
    for (int k = 0; k < arity(n.op); ++k) CHECK(operand[k] >= 0 && static_cast<std::size_t>(operand[k]) < i);
  }
}

}  // namespace

LAW(the_builder_keeps_every_bit) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const Random r(seed, kEverything, 60);
    const std::vector<double> got = evaluated(r.graph.pruned(), r.x);
    CHECK_EQUAL(got.size(), r.results.size());
    for (std::size_t i = 0; i < got.size(); ++i) CHECK_EQUAL(got[i], r.results[i]);  // -0 equals 0
    check_order(r.graph.pruned());
    CHECK(r.graph.pruned().size() <= r.graph.size());
  }
}

LAW(the_algebraic_level_changes_rounding_only) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const Random r(seed, seed % 2 ? kArithmetic : kEverything, 40);
    const Graph simpler = simplified(r.graph);
    const std::vector<double> got = evaluated(simpler, r.x);
    CHECK_EQUAL(simpler.outputs.size(), r.graph.outputs.size());
    CHECK_NEAR("seed " + std::to_string(seed), got.data(), r.results.data(), static_cast<std::ptrdiff_t>(got.size()), 1e-9);
    check_order(simpler);
    if (seed % 2) CHECK(instructions(simpler) <= instructions(r.graph.pruned()));
  }
}

LAW(the_algebraic_level_reports_what_it_did) {
  Graph g;
  Id x[kInputs];
  for (int i = 0; i < kInputs; ++i) x[i] = g.input(0, i);
  const Id s = g.sin(x[0]), c = g.cos(x[0]);
  g.outputs = {{g.add(g.mul(s, s), g.mul(c, c)), g.add(g.mul(x[1], x[2]), g.mul(x[1], x[3])), g.div(x[2], x[4]),
                g.div(x[3], x[4]), g.add(g.mul(x[0], x[4]), x[2])}};
  AlgebraReport report;
  const Graph simpler = algebraic(g, report);
  CHECK_EQUAL(report.identities, 1);
  CHECK_EQUAL(report.factored, 2);
  CHECK_EQUAL(report.reciprocals, 2);
  CHECK_EQUAL(report.fused, 1);
  CHECK_EQUAL(report.shared, 0);
  CHECK_EQUAL(instructions(simpler), 6);  // none, an addition and a product, a division, two products, one fused
}

LAW(long_and_deep_graphs_need_no_stack) {
  for (const Op op : {Op::add, Op::mul, Op::fma, Op::div}) {
    Graph g;
    Id x[kInputs];
    for (int i = 0; i < kInputs; ++i) x[i] = g.input(0, i);
    Id y = x[0];
    for (int i = 0; i < 20000; ++i) y = g.apply(op, y, x[i % 3], x[i % 4]);
    g.outputs = {{y}, {}, {y, x[1]}};
    const Graph simpler = simplified(g);
    CHECK_EQUAL(simpler.outputs[2].size(), std::size_t{2});
    CHECK(instructions(simpler) <= 20003);
    const double ones[kInputs] = {1, 1, 1, 1, 1};
    const std::vector<double> got = evaluated(simpler, ones), expected = evaluated(g, ones);
    CHECK(got == expected);
  }
}

LAW(a_full_graph_refuses_more_and_stays_usable) {
  Graph g(2);
  const Id a = g.input(0, 0), b = g.input(0, 1);
  CHECK_THROWS(g.add(a, b), GraphSizeError, "more than 2 nodes", CHECK_EQUAL(error.limit, std::size_t{2}));
  CHECK_EQUAL(g.size(), std::size_t{2});
  CHECK_EQUAL(g.input(0, 1), b);
}

LAW(constants_are_finite) {
  Graph g;
  CHECK_THROWS(g.constant(HUGE_VAL), std::domain_error, "not finite");
  CHECK_THROWS(g.apply(Op::input, 0, 0, 0), std::invalid_argument, "not an operation");
  CHECK(!std::signbit(g[g.constant(-0.0)].value));
  const Id huge = g.constant(1e300);
  g.outputs = {{g.mul(huge, huge), g.add(g.constant(1.7e308), g.mul(g.input(0, 0), huge))}};
  CHECK(simplified(g).nodes().size() >= 4);
}
