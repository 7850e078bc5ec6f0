#include <zveno/graph/algebra.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace zveno {
namespace {

using Id = Graph::Id;
using Ids = std::vector<Id>;

// a unit and a sign in one number
using Signed = std::int32_t;
Signed positive(Id u) { return 2 * u; }
Id unit_of(Signed x) { return x >> 1; }
Signed sign_of(Signed x) { return x & 1; }
Signed magnitude(Signed x) { return x & ~1; }
std::size_t at(Id i) { return static_cast<std::size_t>(i); }

// whatever has a value; sums (add) and products (mul) have any number of parts, there is no sub, neg or fma
struct Unit {
  Op op;
  double value = 0;  // of a constant, not negative
  Ids parts;         // signed; those of a product positive, a constant first; those of an input as in the graph
  Id place = 0;      // where the graph has it
};

// The table of units, equal ones stored once.
class Units {
 public:
  explicit Units(AlgebraReport& report) : report_(report), index_(0, Hash{&units_}, Same{&units_}) {}

  const Unit& operator[](Id u) const { return units_[at(u)]; }
  const Unit& of(Signed x) const { return units_[at(unit_of(x))]; }
  std::size_t size() const { return units_.size(); }
  Ids& parts(Id u) { return units_[at(u)].parts; }

  Id place = 0;  // of units to come

  Signed constant(double x) { return positive(store({Op::constant, std::fabs(x), {}})) | Signed{x < 0}; }
  Signed unit(Op op, Ids parts) { return positive(store({op, 0, std::move(parts)})); }
  // not looked for: its parts may change
  Id fresh(Op op, Ids parts) {
    units_.push_back({op, 0, std::move(parts), place});
    return static_cast<Id>(units_.size()) - 1;
  }

  Signed product(const Ids& factors) {
    Signed sign = 0;
    double k = 1;
    Ids parts, apart;  // constants whose product would leave the range of numbers stay apart
    for (const Signed f : factors) {
      sign ^= sign_of(f);
      if (of(f).op != Op::constant)
        parts.push_back(magnitude(f));
      else if (const double value = of(f).value; value == 0 || std::isnormal(k * value))
        k *= value;
      else
        apart.push_back(magnitude(f));
    }
    if (k == 0) return constant(0);
    std::sort(parts.begin(), parts.end());
    if (k != 1 || parts.empty()) parts.insert(parts.begin(), constant(k));
    Signed x = parts.size() == 1 ? parts[0] : unit(Op::mul, std::move(parts));
    for (const Signed c : apart) x = unit(Op::mul, {c, x});
    return x ^ sign;
  }

  Signed sum(const Ids& terms) {
    Ids kept = collected(terms);
    std::sort(kept.begin(), kept.end());
    if (pythagoras(kept)) return sum(kept);
    if (kept.empty()) return constant(0);
    if (kept.size() == 1) return kept[0];
    const Signed sign = sign_of(kept[0]);
    for (Signed& t : kept) t ^= sign;
    return unit(Op::add, std::move(kept)) ^ sign;
  }

  // a multiple of something, or a constant
  bool is_multiple(Signed x) const {
    const Unit& u = of(x);
    return u.op == Op::constant || (u.op == Op::mul && of(u.parts[0]).op == Op::constant);
  }

 private:
  struct Hash {
    const std::vector<Unit>* units;
    std::size_t operator()(Id u) const {
      const Unit& x = (*units)[at(u)];
      std::uint64_t h;
      std::memcpy(&h, &x.value, sizeof h);
      h ^= static_cast<std::uint64_t>(x.op);
      for (const Id p : x.parts) h = (h ^ (h >> 29) ^ static_cast<std::uint32_t>(p)) * 0x9e3779b97f4a7c15u;
      return static_cast<std::size_t>(h ^ (h >> 31));
    }
  };
  struct Same {
    const std::vector<Unit>* units;
    bool operator()(Id u, Id v) const {
      const Unit &x = (*units)[at(u)], &y = (*units)[at(v)];
      return x.op == y.op && x.value == y.value && x.parts == y.parts;
    }
  };

  Id store(Unit u) {
    u.place = place;
    units_.push_back(std::move(u));
    const auto [found, fresh] = index_.insert(static_cast<Id>(units_.size()) - 1);
    if (!fresh) units_.pop_back();
    return *found;
  }

  // a number times something without a constant; constants are multiples of 1
  std::pair<double, Signed> multiple(Signed x) {
    double k = sign_of(x) ? -1 : 1;
    if (!is_multiple(x)) return {k, magnitude(x)};
    if (of(x).op == Op::constant) return {k * of(x).value, constant(1)};
    Ids parts = of(x).parts;
    k *= of(parts[0]).value;
    parts.erase(parts.begin());
    return {k, parts.size() == 1 ? parts[0] : unit(Op::mul, std::move(parts))};
  }

  // k1 x + k2 x = (k1 + k2) x
  Ids collected(const Ids& terms) {
    struct Multiple {
      Signed of;
      double k;
      Signed term;
    };
    std::vector<Multiple> list;
    for (const Signed t : terms) {
      const auto [k, x] = multiple(t);
      if (k != 0) list.push_back({x, k, t});
    }
    std::stable_sort(list.begin(), list.end(), [](const Multiple& x, const Multiple& y) { return x.of < y.of; });
    Ids kept;
    for (auto first = list.begin(), last = first; first != list.end(); first = last) {
      double k = 0;
      for (; last != list.end() && last->of == first->of; ++last) k += last->k;
      if (last - first == 1 || !std::isfinite(k)) {
        for (auto t = first; t != last; ++t) kept.push_back(t->term);
      } else {
        ++report_.collected;
        if (k != 0) kept.push_back(product({constant(k), first->of}));
      }
    }
    return kept;
  }

  // k sin^2 x + k cos^2 x = k, once; terms are sorted
  bool pythagoras(Ids& terms) {
    for (Signed& t : terms) {
      if (of(t).op != Op::mul) continue;
      const Ids parts = of(t).parts;
      for (std::size_t p = 0; p + 1 < parts.size(); ++p) {
        if (parts[p] != parts[p + 1] || of(parts[p]).op != Op::sin) continue;
        Ids other = parts;
        other[p] = other[p + 1] = unit(Op::cos, Ids(of(parts[p]).parts));
        const Signed partner = product(other) ^ sign_of(t);
        const auto found = std::lower_bound(terms.begin(), terms.end(), partner);
        if (found == terms.end() || *found != partner) continue;
        ++report_.identities;
        other = parts;
        other.erase(other.begin() + static_cast<std::ptrdiff_t>(p), other.begin() + static_cast<std::ptrdiff_t>(p) + 2);
        t = product(other) ^ sign_of(t);
        terms.erase(found);
        return true;
      }
    }
    return false;
  }

  AlgebraReport& report_;
  std::vector<Unit> units_;
  std::unordered_set<Id, Hash, Same> index_;
};

class Algebra {
 public:
  Algebra(const Graph& g, AlgebraReport& report) : in_(g), report_(report), units_(report) {}

  Graph run() {
    read();
    factor();
    share(Op::mul);
    share(Op::add);
    // a few more additions shorten the wait for results, if it is that which takes the time
    Graph shortest = write();
    const int products = count_of(shortest, Op::mul) + count_of(shortest, Op::fma);
    return end_ > kCyclesPerProduct * products ? write(kLate) : shortest;
  }

 private:
  static constexpr std::size_t kLong = 32;  // parts of a sum or product that come from parts of their own
  static constexpr Id kFar = 200;           // nodes after which a value is cheaper to keep than its parts
  static constexpr int kNever = std::numeric_limits<int>::max();
  static constexpr int kLate = 3;                   // cycles that justify an addition
  static constexpr double kCyclesPerProduct = 0.3;  // about what one takes; results that come later are waited for

  // adds the parts of x to a sum or product, if x is one that nothing else needs
  void append(Signed x, Op op, bool owned, Ids& list) const {
    const Unit& u = units_.of(x);
    if (!owned || u.op != op || list.size() + u.parts.size() > kLong) return list.push_back(x);
    const std::size_t first = list.size();
    for (const Signed p : u.parts) list.push_back(op == Op::add ? p ^ sign_of(x) : p);
    if (op == Op::mul) list[first] ^= sign_of(x);
  }

  bool is_near(Signed x) const { return units_.place - units_.of(x).place < kFar; }

  // ---- sums and products out of the graph

  void read() {
    const std::size_t n = in_.size();
    std::vector<int> uses(n, 0), divisions(n, 0);
    for (const auto& list : in_.outputs)
      for (const Id i : list) uses[at(i)] += 2;  // stands for itself
    for (std::size_t i = n; i-- > 0;) {
      const Node& x = in_.nodes()[i];
      const Id operand[3] = {x.a, x.b, x.c};
      for (int k = 0; k < arity(x.op); ++k) uses[at(operand[k])] += x.op == Op::neg ? uses[i] : 1;
      if (x.op == Op::div) ++divisions[at(x.b)];
    }
    std::vector<Signed> value(n);
    const auto operand = [&](Id i, Op op, Signed sign, Ids& list) {
      append(value[at(i)] ^ sign, op, uses[at(i)] == 1 && is_near(value[at(i)]), list);
    };
    const auto times = [&](Id a, Id b) {
      Ids factors;
      operand(a, Op::mul, 0, factors);
      operand(b, Op::mul, 0, factors);
      return units_.product(factors);
    };
    for (std::size_t i = 0; i < n; ++i) {
      const Node& x = in_.nodes()[i];
      units_.place = static_cast<Id>(i);
      Ids terms;
      switch (x.op) {
        case Op::constant: value[i] = units_.constant(x.value); break;
        case Op::input: value[i] = units_.unit(Op::input, {x.a, x.b}); break;
        case Op::neg: value[i] = value[at(x.a)] ^ 1; break;
        case Op::add:
        case Op::sub:
          operand(x.a, Op::add, 0, terms);
          operand(x.b, Op::add, Signed{x.op == Op::sub}, terms);
          value[i] = units_.sum(terms);
          break;
        case Op::fma:
          terms = {times(x.a, x.b)};
          operand(x.c, Op::add, 0, terms);
          value[i] = units_.sum(terms);
          break;
        case Op::mul: value[i] = times(x.a, x.b); break;
        case Op::div: value[i] = quotient(value[at(x.a)], value[at(x.b)], divisions[at(x.b)] > 1); break;
        case Op::angle: value[i] = units_.unit(Op::angle, {value[at(x.a)], value[at(x.b)]}); break;
        default: value[i] = units_.unit(x.op, {value[at(x.a)]});
      }
    }
    for (const auto& list : in_.outputs)
      for (const Id i : list) results_.push_back(value[at(i)]);
  }

  Signed quotient(Signed a, Signed b, bool often) {
    const double inverse = 1 / units_.of(b).value;
    const bool constant = units_.of(b).op == Op::constant;
    if (constant ? !std::isnormal(inverse) : !often)
      return units_.unit(Op::div, {magnitude(a), magnitude(b)}) ^ sign_of(a) ^ sign_of(b);
    ++report_.reciprocals;
    const Signed r = constant ? units_.constant(inverse) : units_.unit(Op::div, {units_.constant(1), magnitude(b)});
    return units_.product({a, r ^ sign_of(b)});
  }

  // ---- which units matter

  template <class F>
  void for_parts(Id u, const F& f) const {
    if (units_[u].op != Op::input)
      for (const Signed p : units_[u].parts) f(unit_of(p));
  }

  // those that results depend on: parts first, else as in the graph
  Ids order() const {
    enum : char { unknown, found, listed };
    std::vector<char> state(units_.size(), unknown);
    Ids all, stack, list;
    for (const Signed x : results_) stack.push_back(unit_of(x));
    while (!stack.empty()) {
      const Id u = stack.back();
      stack.pop_back();
      if (state[at(u)] != unknown) continue;
      state[at(u)] = found;
      all.push_back(u);
      for_parts(u, [&](Id p) { stack.push_back(p); });
    }
    std::sort(all.begin(), all.end(),
              [&](Id u, Id v) { return std::pair(units_[u].place, u) < std::pair(units_[v].place, v); });
    for (const Id next : all) {
      stack.push_back(next);
      while (!stack.empty()) {
        const Id u = stack.back();
        const std::size_t depth = stack.size();
        for_parts(u, [&](Id p) {
          if (state[at(p)] == found) stack.push_back(p);
        });
        if (stack.size() > depth) continue;
        stack.pop_back();
        if (state[at(u)] == found) list.push_back(u);
        state[at(u)] = listed;
      }
    }
    return list;
  }

  void count(const Ids& units) {
    uses_.assign(units_.size(), 0);
    terms_.assign(units_.size(), 0);
    for (const Id u : units)
      for_parts(u, [&](Id p) {
        ++uses_[at(p)];
        terms_[at(p)] += units_[u].op == Op::add;
      });
    for (const Signed x : results_) ++uses_[at(unit_of(x))];
  }

  // ---- a b + a c = a (b + c) for products that nothing else needs, k (k1 x + k2 y) = (k k1) x + (k k2) y

  void factor() {
    const Ids units = order();
    count(units);
    std::vector<Signed> value(units_.size());
    const auto moved = [&](Signed x) { return value[at(unit_of(x))] ^ sign_of(x); };
    for (const Id u : units) {
      const Op op = units_[u].op;
      const Ids parts = units_[u].parts;
      if (op == Op::constant || op == Op::input) {
        value[at(u)] = positive(u);
        continue;
      }
      units_.place = units_[u].place;
      Ids list;
      std::vector<char> owned;
      for (const Signed p : parts) {
        const bool single = uses_[at(unit_of(p))] == 1;
        append(moved(p), op, single && is_near(p) && (op == Op::add || op == Op::mul), list);
        owned.resize(list.size(), single);
      }
      value[at(u)] = op == Op::add   ? factored(list, owned)
                     : op == Op::mul ? distributed(list, owned)
                                     : units_.unit(op, list);
    }
    for (Signed& x : results_) x = moved(x);
  }

  Signed distributed(const Ids& factors, const std::vector<char>& owned) {
    if (factors.size() == 2 && owned[1] && units_.of(factors[0]).op == Op::constant && units_.of(factors[1]).op == Op::add) {
      const Ids terms = units_.of(factors[1]).parts;
      if (std::all_of(terms.begin(), terms.end(), [&](Signed t) { return units_.is_multiple(t); })) {
        ++report_.distributed;
        Ids list;
        for (const Signed t : terms) {
          Ids parts;
          parts.reserve(kLong + 1);
          parts.push_back(factors[0] ^ sign_of(factors[1]));
          append(t, Op::mul, true, parts);
          list.push_back(units_.product(parts));
        }
        return units_.sum(list);
      }
    }
    return units_.product(factors);
  }

  Signed factored(const Ids& terms, const std::vector<char>& owned) {
    std::unordered_map<Signed, std::vector<std::size_t>> having;  // factor: terms
    Ids factors;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const Unit& t = units_.of(terms[i]);
      if (!owned[i] || t.op != Op::mul) continue;
      for (std::size_t p = 0; p < t.parts.size(); ++p) {
        if (p > 0 && t.parts[p] == t.parts[p - 1]) continue;
        std::vector<std::size_t>& list = having[t.parts[p]];
        list.push_back(i);
        if (list.size() == 2) factors.push_back(t.parts[p]);
      }
    }
    if (factors.empty()) return units_.sum(terms);
    // the most frequent first; among equals the latest, which then waits for nothing but one product
    std::sort(factors.begin(), factors.end(),
              [&](Signed a, Signed b) { return std::pair(having[a].size(), a) > std::pair(having[b].size(), b); });
    std::vector<char> left(terms.size(), 1), own;
    Ids result;
    for (const Signed f : factors) {
      std::vector<std::size_t>& group = having[f];
      group.erase(std::remove_if(group.begin(), group.end(), [&](std::size_t i) { return !left[i]; }), group.end());
      if (group.size() < 2) continue;
      report_.factored += static_cast<int>(group.size());
      Ids inner;
      for (const std::size_t i : group) {
        left[i] = 0;
        Ids rest = units_.of(terms[i]).parts;
        rest.erase(std::find(rest.begin(), rest.end(), f));
        inner.push_back(units_.product(rest) ^ sign_of(terms[i]));
      }
      Ids parts{f};
      append(factored(inner, std::vector<char>(inner.size(), 1)), Op::mul, true, parts);
      result.push_back(units_.product(parts));
      own.push_back(1);
    }
    for (std::size_t i = 0; i < terms.size(); ++i)
      if (left[i]) result.push_back(terms[i]), own.push_back(owned[i]);
    return factored(result, own);
  }

  // ---- pairs of parts that several sums, or several products, have in common

  // a and b, or -a and -b
  struct Pair {
    Signed a, b;

    Pair(Signed x, Signed y) : a(std::min(x, y)), b(std::max(x, y)) {
      const Signed sign = sign_of(a);
      a ^= sign, b ^= sign;
    }
    bool operator<(const Pair& p) const { return std::pair(a, b) < std::pair(p.a, p.b); }

    // in the parts of a unit: 0, or 1 if they have it negated, or -1 if they have it not
    int sign_in(const Ids& parts) const {
      for (const Signed sign : {0, 1}) {
        const auto first = std::find(parts.begin(), parts.end(), a ^ sign);
        if (first == parts.end()) continue;
        if (std::find(a == b ? first + 1 : parts.begin(), parts.end(), b ^ sign) != parts.end()) return sign;
      }
      return -1;
    }
  };

  void share(Op op) {
    std::map<Pair, Ids> having;  // units with a pair
    std::priority_queue<std::tuple<std::size_t, Signed, Signed>> queue;
    const auto note = [&](Id u, const Pair& pair) {
      Ids& list = having[pair];
      if (list.empty() || list.back() != u) list.push_back(u);
    };
    const auto await = [&](const Pair& pair) {
      if (const std::size_t k = having[pair].size(); k > 1) queue.emplace(k, -pair.a, -pair.b);
    };
    for (const Id u : order()) {
      const Ids& parts = units_[u].parts;
      if (units_[u].op != op) continue;
      for (std::size_t i = 0; i < parts.size(); ++i)
        for (std::size_t j = i + 1; j < parts.size(); ++j) note(u, {parts[i], parts[j]});
    }
    for (const auto& entry : having) await(entry.first);
    while (!queue.empty()) {  // the most frequent first
      const auto [expected, a, b] = queue.top();
      queue.pop();
      const Pair pair(-a, -b);
      Ids& users = having[pair];
      const auto lacks = [&](Id u) { return pair.sign_in(units_[u].parts) < 0; };
      users.erase(std::remove_if(users.begin(), users.end(), lacks), users.end());
      if (users.size() != expected) {
        await(pair);
        continue;
      }
      const auto whole = std::find_if(users.begin(), users.end(), [&](Id u) { return units_[u].parts.size() == 2; });
      Signed common;
      if (whole != users.end()) {
        common = positive(*whole) ^ pair.sign_in(units_[*whole].parts);
      } else {
        units_.place = std::max(units_.of(pair.a).place, units_.of(pair.b).place);
        common = positive(units_.fresh(op, {pair.a, pair.b}));
      }
      for (const Id u : users) {
        Ids& parts = units_.parts(u);
        const int sign = u == unit_of(common) ? -1 : pair.sign_in(parts);
        if (sign < 0) continue;
        ++report_.shared;
        const Signed x = common ^ sign;
        for (const Signed p : {pair.a, pair.b}) parts.erase(std::find(parts.begin(), parts.end(), p ^ sign));
        for (const Signed p : parts) {
          note(u, {x, p});
          await({x, p});
        }
        parts.push_back(x);
      }
    }
  }

  // ---- instructions

  // late: cycles that justify an addition
  Graph write(int late = kNever) {
    const Ids units = order();
    count(units);
    out_ = Graph(std::numeric_limits<std::size_t>::max());  // with signs that are not used in the end
    time_.clear();
    node_.assign(units_.size(), -1);
    const std::vector<int> wish = wishes(units);
    for (const Id u : units) {
      const Unit& x = units_[u];
      Id& n = node_[at(u)];
      switch (x.op) {
        case Op::constant: n = out_.constant(x.value); break;
        case Op::input: n = out_.input(x.parts[0], x.parts[1]); break;
        case Op::add: n = write_sum(x.parts, Signed{wish[at(u)] > 0}, late); break;
        case Op::mul:
          if (is_fused(u)) break;
          if (const auto [a, b] = write_factors(x.parts); true) n = b < 0 ? a : write_product(a, b);
          break;
        default: n = out_.apply(x.op, node(x.parts[0]), x.parts.size() > 1 ? node(x.parts[1]) : -1, -1);
      }
    }
    auto result = results_.begin();
    for (const auto& list : in_.outputs) {
      out_.outputs.emplace_back();
      for (std::size_t i = 0; i < list.size(); ++i) {
        out_.outputs.back().push_back(node(*result++));
        end_ = std::max(end_, time(out_.outputs.back().back()));
      }
    }
    Graph kept = out_.pruned();
    report_.fused = count_of(kept, Op::fma);
    return kept;
  }
  static int count_of(const Graph& g, Op op) {
    return static_cast<int>(std::count_if(g.nodes().begin(), g.nodes().end(), [&](const Node& n) { return n.op == op; }));
  }

  // how often the negative of a unit is asked for where a sign costs an instruction
  std::vector<int> wishes(const Ids& units) const {
    std::vector<int> wish(units_.size(), 0);
    const auto ask = [&](Signed x) { wish[at(unit_of(x))] += sign_of(x) ? 1 : -1; };
    std::for_each(results_.begin(), results_.end(), ask);
    std::for_each(units.rbegin(), units.rend(), [&](Id u) {
      const Unit& x = units_[u];
      if (x.op == Op::mul) {  // a sum among the factors may turn
        const auto is_own_sum = [&](Signed p) { return units_.of(p).op == Op::add && uses_[at(unit_of(p))] == 1; };
        const auto sum = std::find_if(x.parts.begin(), x.parts.end(), is_own_sum);
        if (sum != x.parts.end()) wish[at(unit_of(*sum))] = wish[at(u)];
      } else if (x.op == Op::sqrt || x.op == Op::sin || x.op == Op::cos || x.op == Op::angle) {
        std::for_each(x.parts.begin(), x.parts.end(), ask);
      }
    });
    return wish;
  }

  // a product that one sum alone uses becomes part of its instructions
  bool is_fused(Id u) const {
    return units_[u].op == Op::mul && units_[u].parts.size() > 1 && uses_[at(u)] == 1 && terms_[at(u)] == 1;
  }

  Id node(Signed x) { return with_sign(node_[at(unit_of(x))], sign_of(x)); }

  // cycles, about
  static int latency(Op op) {
    switch (op) {
      case Op::add:
      case Op::sub:
      case Op::mul: return 3;
      case Op::fma: return 4;
      case Op::div: return 13;
      case Op::sqrt: return 20;
      case Op::angle: return 40;
      default: return 0;  // sines and cosines come first of all
    }
  }

  // when node n is known
  int time(Id n) {
    while (time_.size() < out_.size()) {
      const Node& x = out_.nodes()[time_.size()];
      const Id operand[3] = {x.a, x.b, x.c};
      int start = 0;
      for (int k = 0; k < arity(x.op); ++k) start = std::max(start, time_[at(operand[k])]);
      time_.push_back(start + latency(x.op));
    }
    return time_[at(n)];
  }

  Id write_product(Id a, Id b) {
    const auto is_two = [&](Id i) { return out_[i].op == Op::constant && out_[i].value == 2; };
    return is_two(a) ? out_.add(b, b) : is_two(b) ? out_.add(a, a) : out_.mul(a, b);
  }

  // two numbers whose product it is (one: b < 0), early factors multiplied first
  std::pair<Id, Id> write_factors(const Ids& parts) {
    std::vector<std::pair<int, Id>> list;
    for (const Signed p : parts) list.emplace_back(time(node(p)), node(p));
    for (; list.size() > 2; list.erase(list.begin())) {
      std::sort(list.begin(), list.end());
      const Id n = write_product(list[0].second, list[1].second);
      list[1] = {time(n), n};
    }
    return {list[0].second, list.size() > 1 ? list[1].second : -1};
  }

  // what is still to be added: a b, or a (b < 0)
  struct Term {
    int time;
    Id a, b;
    Signed sign;
  };
  using Terms = std::vector<Term>;  // the earliest last

  static bool is_later(const Term& x, const Term& y) { return x.time > y.time; }
  static void insert(Terms& terms, const Term& x) {
    terms.insert(std::lower_bound(terms.begin(), terms.end(), x, is_later), x);
  }
  static Term pop(Terms& terms) {
    const Term x = terms.back();
    terms.pop_back();
    return x;
  }

  // adds everything up, what is known early first; plus(x, y): x + y, where y may be a product
  template <class Plus>
  static Term total(Terms values, Terms products, const Plus& plus) {
    while (values.size() + products.size() > 1) {
      const Term x = pop(values);
      const bool multiply = !products.empty() && (values.empty() || products.back().time <= values.back().time);
      insert(values, plus(x, pop(multiply ? products : values)));
    }
    return values[0];
  }
  static int end(const Terms& values, const Terms& products) {
    return total(values, products,
                 [](const Term& x, const Term& y) {
                   return Term{std::max(x.time, y.time) + latency(y.b < 0 ? Op::add : Op::fma), -1, -1, 0};
                 })
        .time;
  }

  // whether the end comes sooner if the first product is a value of its own
  static bool starts(const Terms& values, const Terms& products, int late) {
    Terms more = values, fewer(products.begin(), products.end() - 1);
    insert(more, {products.back().time + latency(Op::mul), -1, -1, 0});
    return end(more, fewer) <= end(values, products) - late;
  }

  // with the sign that is wished for, where both are as cheap
  Id write_sum(const Ids& parts, Signed wish, int late) {
    Terms values, products;
    for (const Signed p : parts) {
      if (is_fused(unit_of(p))) {
        const auto [a, b] = write_factors(units_.of(p).parts);
        insert(products, {std::max(time(a), time(b)), a, b, sign_of(p)});
      } else {
        insert(values, value(node(p)));
      }
    }
    // a product may start a sum of its own: an addition more, but the rest need not wait for a late value
    while (values.empty() || (!products.empty() && starts(values, products, late))) {
      const Term first = pop(products);
      insert(values, value(out_.mul(first.a, first.b), first.sign));
    }
    const Term sum = total(values, products, [&](const Term& x, const Term& y) {
      const Signed sign = x.sign == y.sign ? x.sign : wish;
      if (y.b >= 0) return value(out_.fma(with_sign(y.a, y.sign ^ sign), y.b, with_sign(x.a, x.sign ^ sign)), sign);
      return value(out_.add(with_sign(x.a, x.sign ^ sign), with_sign(y.a, y.sign ^ sign)), sign);
    });
    return with_sign(sum.a, sum.sign);
  }
  Id with_sign(Id n, Signed sign) { return sign ? out_.neg(n) : n; }
  Term value(Id n, Signed sign = 0) {
    const Signed more = out_[n].op == Op::neg;
    return {time(n), more ? out_[n].a : n, -1, sign ^ more};
  }

  const Graph& in_;
  AlgebraReport& report_;
  Units units_;
  std::vector<Signed> results_;
  std::vector<int> uses_, terms_;  // of a unit: all, and those as a term of a sum
  Graph out_;
  Ids node_;               // of a unit; none of a fused product
  std::vector<int> time_;  // of a node
  int end_ = 0;            // time of the last result
};

}  // namespace

Graph algebraic(const Graph& g, AlgebraReport& report) {
  const Graph live = g.pruned();
  return Algebra(live, report).run();
}

}  // namespace zveno
