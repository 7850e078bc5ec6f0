#include <zveno/graph/graph.hpp>

#include <cmath>
#include <cstring>
#include <utility>

namespace zveno {
namespace {

std::uint64_t bits_of(double x) {
  std::uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

bool power_of_two(double x) {
  int exponent;
  return std::frexp(std::fabs(x), &exponent) == 0.5 && exponent > -1000 && exponent < 1000;
}

}  // namespace

std::size_t Graph::Hash::operator()(const Node& n) const {
  std::uint64_t h = static_cast<std::uint64_t>(n.op);
  for (const std::uint64_t part : {static_cast<std::uint64_t>(static_cast<std::uint32_t>(n.a)),
                                   static_cast<std::uint64_t>(static_cast<std::uint32_t>(n.b)),
                                   static_cast<std::uint64_t>(static_cast<std::uint32_t>(n.c)), bits_of(n.value)}) {
    h = (h ^ part) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
  }
  return static_cast<std::size_t>(h);
}

bool Graph::Same::operator()(const Node& x, const Node& y) const {
  return x.op == y.op && x.a == y.a && x.b == y.b && x.c == y.c && bits_of(x.value) == bits_of(y.value);
}

Graph::Id Graph::store(Node n) {
  const auto [place, fresh] = index_.try_emplace(n, static_cast<Id>(nodes_.size()));
  if (fresh) {
    if (nodes_.size() >= limit_) {
      index_.erase(place);
      throw GraphSizeError(limit_);
    }
    nodes_.push_back(n);
  }
  return place->second;
}

Graph::Id Graph::find(const Node& n) const {
  const auto place = index_.find(n);
  return place == index_.end() ? -1 : place->second;
}

Graph::Id Graph::constant(double x) {
  if (!std::isfinite(x)) throw std::domain_error("a constant of the graph is not finite");
  Node n;
  n.value = x + 0.0;  // no negative zero
  return store(n);
}

Graph::Id Graph::input(int argument, int element) { return store({Op::input, argument, element}); }

Graph::Id Graph::neg(Id a) {
  if (negated(a)) return (*this)[a].a;
  if (is_constant(a)) return constant(-(*this)[a].value);
  return store({Op::neg, a});
}

Graph::Id Graph::add(Id a, Id b) {
  if (is(a, 0)) return b;
  if (is(b, 0)) return a;
  if (is_constant(a) && is_constant(b))
    if (const double x = (*this)[a].value + (*this)[b].value; std::isfinite(x)) return constant(x);
  if (carries_sign(b)) return sub(a, opposite(b));
  if (carries_sign(a)) return sub(b, opposite(a));
  if (a > b) std::swap(a, b);
  return store({Op::add, a, b});
}

Graph::Id Graph::sub(Id a, Id b) {
  if (is(b, 0)) return a;
  if (is(a, 0)) return neg(b);
  if (a == b) return constant(0);
  if (is_constant(a) && is_constant(b))
    if (const double x = (*this)[a].value - (*this)[b].value; std::isfinite(x)) return constant(x);
  if (carries_sign(b)) return add(a, opposite(b));
  if (carries_sign(a)) return neg(add(opposite(a), b));
  if (const Id reversed = find({Op::sub, b, a}); reversed >= 0) return neg(reversed);
  return store({Op::sub, a, b});
}

Graph::Id Graph::mul(Id a, Id b) {
  if (is(a, 0) || is(b, 0)) return constant(0);
  if (is(a, 1)) return b;
  if (is(b, 1)) return a;
  if (is_constant(a) && is_constant(b))
    if (const double x = (*this)[a].value * (*this)[b].value; std::isfinite(x)) return constant(x);
  if (carries_sign(a) && carries_sign(b)) return mul(opposite(a), opposite(b));
  if (carries_sign(a)) return neg(mul(opposite(a), b));
  if (carries_sign(b)) return neg(mul(a, opposite(b)));
  if (a > b) std::swap(a, b);
  return store({Op::mul, a, b});
}

Graph::Id Graph::div(Id a, Id b) {
  if (is(b, 1)) return a;
  if (is_constant(b) && power_of_two((*this)[b].value)) return mul(a, constant(1 / (*this)[b].value));
  if (is_constant(a) && is_constant(b))
    if (const double x = (*this)[a].value / (*this)[b].value; std::isfinite(x)) return constant(x);
  if (carries_sign(a) && carries_sign(b)) return div(opposite(a), opposite(b));
  if (carries_sign(a)) return neg(div(opposite(a), b));
  if (carries_sign(b)) return neg(div(a, opposite(b)));
  return store({Op::div, a, b});
}

Graph::Id Graph::sqrt(Id a) {
  if (is_constant(a) && (*this)[a].value >= 0) return constant(std::sqrt((*this)[a].value));
  return store({Op::sqrt, a});
}

Graph::Id Graph::fma(Id a, Id b, Id c) {
  if (is_constant(a) && is_constant(b) && is_constant(c))
    if (const double x = std::fma((*this)[a].value, (*this)[b].value, (*this)[c].value); std::isfinite(x))
      return constant(x);
  // one sign at most, on the first factor; all three can be turned at once
  bool sign = false;
  if (carries_sign(a)) sign = !sign, a = opposite(a);
  if (carries_sign(b)) sign = !sign, b = opposite(b);
  if (is(a, 0) || is(b, 0) || is(a, 1) || is(b, 1) || is(c, 0)) return add(mul(sign ? neg(a) : a, b), c);
  if (a > b) std::swap(a, b);
  if (sign && negated(c)) return neg(store({Op::fma, a, b, opposite(c)}));
  return store({Op::fma, sign ? neg(a) : a, b, c});
}

Graph::Id Graph::apply(Op op, Id a, Id b, Id c) {
  switch (op) {
    case Op::add: return add(a, b);
    case Op::sub: return sub(a, b);
    case Op::mul: return mul(a, b);
    case Op::div: return div(a, b);
    case Op::neg: return neg(a);
    case Op::sqrt: return sqrt(a);
    case Op::sin: return sin(a);
    case Op::cos: return cos(a);
    case Op::angle: return angle(a, b);
    case Op::fma: return fma(a, b, c);
    default: throw std::invalid_argument("not an operation");
  }
}

Graph Graph::pruned() const {
  std::vector<char> live(size(), 0);
  for (const auto& list : outputs)
    for (const Id i : list) live[static_cast<std::size_t>(i)] = 1;
  for (std::size_t i = size(); i-- > 0;) {
    const Node& n = nodes_[i];
    const Id operand[3] = {n.a, n.b, n.c};
    for (int k = 0; live[i] && k < arity(n.op); ++k) live[static_cast<std::size_t>(operand[k])] = 1;
  }
  Graph kept(limit_);
  std::vector<Id> place(size(), -1);
  const auto moved = [&](Id i) { return place[static_cast<std::size_t>(i)]; };
  for (std::size_t i = 0; i < size(); ++i) {
    if (!live[i]) continue;
    Node n = nodes_[i];
    if (const int operands = arity(n.op)) {
      n.a = moved(n.a);
      if (operands > 1) n.b = moved(n.b);
      if (operands > 2) n.c = moved(n.c);
    }
    place[i] = kept.store(n);
  }
  for (const auto& list : outputs) {
    kept.outputs.emplace_back();
    for (const Id i : list) kept.outputs.back().push_back(moved(i));
  }
  return kept;
}

}  // namespace zveno
