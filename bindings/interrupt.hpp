// Computing without the interpreter lock, and hearing Ctrl-C all the same.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <utility>

#include <zveno/support/pool.hpp>

namespace zveno::bindings {

// Ends the calls of other threads, which hear no signals, if they follow it.
class Stop {
 public:
  void set() { set_ = true; }
  bool is_set() const { return set_; }

  // while it lives, this thread follows a stop
  class Following {
   public:
    explicit Following(const Stop& stop) : before_(std::exchange(of_this_thread(), &stop)) {}
    Following(const Following&) = delete;
    Following& operator=(const Following&) = delete;
    ~Following() { of_this_thread() = before_; }

   private:
    const Stop* before_;
  };
  static bool stops_this_thread() { return of_this_thread() && of_this_thread()->is_set(); }
  [[noreturn]] static void raise() {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    throw pybind11::error_already_set();
  }

 private:
  static const Stop*& of_this_thread() {
    static thread_local const Stop* stop = nullptr;
    return stop;
  }
  std::atomic<bool> set_{false};
};

// The interpreter lock is free while this lives. Signals are asked for by its watch: Python handles them in its main thread
// only, elsewhere they are left alone and a stop may be followed.
class Unlocked {
 public:
  Watch watch{&interrupted, this};

  Unlocked() : state_(PyEval_SaveThread()) {}
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;
  ~Unlocked() {
    if (state_) PyEval_RestoreThread(state_);
  }

  // what the handler of a signal has raised, once the watch has stopped; of a stop the same
  [[noreturn]] void raise() {
    PyEval_RestoreThread(std::exchange(state_, nullptr));
    if (!PyErr_Occurred()) Stop::raise();
    throw pybind11::error_already_set();
  }

 private:
  static bool interrupted(void* unlocked) noexcept {
    auto& self = *static_cast<Unlocked*>(unlocked);
    if (Stop::stops_this_thread()) return true;
    if (self.hearing_ == Hearing::none) return false;
    PyEval_RestoreThread(self.state_);
    bool raised = PyErr_CheckSignals() != 0;
    if (!raised && self.hearing_ == Hearing::unknown) raised = !self.find_out();
    self.state_ = PyEval_SaveThread();
    return raised;
  }
  // false: a handler has raised on the way
  bool find_out() noexcept {
    try {
      const auto main = pybind11::module_::import("threading").attr("main_thread")();
      const bool here = main.attr("ident").cast<unsigned long>() == PyThread_get_thread_ident();
      hearing_ = here ? Hearing::good : Hearing::none;
      return true;
    } catch (pybind11::error_already_set& e) {
      e.restore();
      return false;
    }
  }

  enum class Hearing { unknown, good, none };
  PyThreadState* state_;
  Hearing hearing_ = Hearing::unknown;
};

}  // namespace zveno::bindings
