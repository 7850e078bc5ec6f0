// Traced: a number that records where it comes from. Its value is a node of the graph that is being recorded.
#pragma once

#include <type_traits>

#include <zveno/graph/graph.hpp>
#include <zveno/scalar/contract.hpp>

namespace zveno {

class Traced {
 public:
  using Id = Graph::Id;

  Traced() = default;
  Traced(double x) : id_(graph().constant(x)) {}
  static Traced node(Id id) {
    Traced t;
    t.id_ = id;
    return t;
  }
  Id id() const { return id_; }

  friend Traced operator+(Traced a, Traced b) { return node(graph().add(a.id_, b.id_)); }
  friend Traced operator-(Traced a, Traced b) { return node(graph().sub(a.id_, b.id_)); }
  friend Traced operator*(Traced a, Traced b) { return node(graph().mul(a.id_, b.id_)); }
  friend Traced operator/(Traced a, Traced b) { return node(graph().div(a.id_, b.id_)); }
  friend Traced operator-(Traced a) { return node(graph().neg(a.id_)); }
  Traced& operator+=(Traced b) { return *this = *this + b; }
  Traced& operator-=(Traced b) { return *this = *this - b; }
  Traced& operator*=(Traced b) { return *this = *this * b; }
  ZVENO_NO_COMPARISON(Traced);

  // what this thread records into
  static Graph& graph() { return *current(); }

  class Recording {
   public:
    explicit Recording(Graph& graph) : before_(current()) { current() = &graph; }
    ~Recording() { current() = before_; }
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

   private:
    Graph* before_;
  };

 private:
  static Graph*& current() {
    thread_local Graph* graph = nullptr;
    return graph;
  }
  Id id_;
};

static_assert(std::is_trivially_copyable_v<Traced>);

inline void joint_trig(const Traced* theta, Traced* s, Traced* c, int n) {
  for (int i = 0; i < n; ++i) {
    s[i] = Traced::node(Traced::graph().sin(theta[i].id()));
    c[i] = Traced::node(Traced::graph().cos(theta[i].id()));
  }
}

inline Traced root(const Traced& x) { return Traced::node(Traced::graph().sqrt(x.id())); }
inline Traced joint_angle(const Traced& s, const Traced& c) { return Traced::node(Traced::graph().angle(s.id(), c.id())); }

}  // namespace zveno
