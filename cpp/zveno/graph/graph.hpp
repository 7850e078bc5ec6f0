// Graph: straight-line arithmetic as a list of nodes, every operand before its use, equal values stored once.
//
// Whatever is added is simplified in ways that keep every bit of a finite result, the sign of a zero apart: constants are
// folded, x + 0, x * 1, x * 0, -(-x) vanish, operands of commutative operations are sorted, signs move outwards until an
// addition or subtraction absorbs them. Nothing is re-associated: that is algebra.hpp's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace zveno {

enum class Op : std::uint8_t { constant, input, add, sub, mul, div, neg, sqrt, sin, cos, angle, fma };
constexpr int kOps = 12;

// operands that an operation has; those of an input are its argument and its place there
inline int arity(Op op) {
  switch (op) {
    case Op::constant:
    case Op::input: return 0;
    case Op::neg:
    case Op::sqrt:
    case Op::sin:
    case Op::cos: return 1;
    case Op::fma: return 3;
    default: return 2;
  }
}

struct Node {
  Op op = Op::constant;
  std::int32_t a = -1, b = -1, c = -1;
  double value = 0;  // of a constant
};

class GraphSizeError : public std::length_error {
 public:
  explicit GraphSizeError(std::size_t limit)
      : std::length_error("the expression graph has more than " + std::to_string(limit) + " nodes"), limit(limit) {}
  std::size_t limit;
};

class Graph {
 public:
  using Id = std::int32_t;
  static constexpr std::size_t kLimit = std::size_t{1} << 22;

  explicit Graph(std::size_t limit = kLimit) : limit_(limit) {}

  Id constant(double x);
  Id input(int argument, int element);
  Id add(Id a, Id b);
  Id sub(Id a, Id b);
  Id mul(Id a, Id b);
  Id div(Id a, Id b);
  Id neg(Id a);
  Id sqrt(Id a);
  Id sin(Id a) { return store({Op::sin, a}); }
  Id cos(Id a) { return store({Op::cos, a}); }
  Id angle(Id s, Id c) { return store({Op::angle, s, c}); }  // whose sine and cosine are s and c
  Id fma(Id a, Id b, Id c);                                  // a b + c rounded once
  // any operation but constants and inputs, by name
  Id apply(Op op, Id a, Id b, Id c);

  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& operator[](Id i) const { return nodes_[static_cast<std::size_t>(i)]; }
  std::size_t size() const { return nodes_.size(); }
  std::size_t limit() const { return limit_; }

  // results, by argument
  std::vector<std::vector<Id>> outputs;

  // the nodes that results depend on, in the same order
  Graph pruned() const;

 private:
  struct Hash {
    std::size_t operator()(const Node& n) const;
  };
  struct Same {
    bool operator()(const Node& x, const Node& y) const;
  };

  Id store(Node n);
  Id find(const Node& n) const;  // -1 if it is not there
  bool is_constant(Id i) const { return (*this)[i].op == Op::constant; }
  bool is(Id i, double x) const { return is_constant(i) && (*this)[i].value == x; }
  bool negated(Id i) const { return (*this)[i].op == Op::neg; }
  bool negative_constant(Id i) const { return is_constant(i) && (*this)[i].value < 0; }
  // whether -x is as cheap as x, and that -x
  bool carries_sign(Id i) const { return negated(i) || negative_constant(i); }
  Id opposite(Id i) { return negated(i) ? (*this)[i].a : neg(i); }

  std::size_t limit_;
  std::vector<Node> nodes_;
  std::unordered_map<Node, Id, Hash, Same> index_;
};

}  // namespace zveno
