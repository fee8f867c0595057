// What computes: without the interpreter's lock, and so that Ctrl-C ends it.
//
// Python's own handler of SIGINT only takes a note, which is read between byte codes: a solve that takes
// minutes would not hear it. So while the main thread computes, another handler raises the library's flag
// (math/stop.h) too; what computes then throws Stopped, and Python's handler has its turn.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <csignal>

#include "limber/math/stop.h"

namespace limber::python {

// Python has to be asked what becomes of the signal: KeyboardInterrupt, or what another handler raises.
struct Interrupted {};

class SignalWatch {
 public:
  SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  ~SignalWatch();  // what came is handed to Python

  std::atomic<bool> stop{false};  // for whoever computes meanwhile; anyone may set it
  std::atomic<bool> came{false};  // … and the signal did

 private:
  bool installed_ = false;
  struct sigaction before_ {};
  SignalWatch* outer_ = nullptr;
};

// Calls f(stop) without the lock.
template <class F>
auto computing_with(F&& f) {
  SignalWatch watch;
  try {
    const nanobind::gil_scoped_release release;
    const StopScope scope(&watch.stop);
    return f(watch.stop);
  } catch (const Stopped&) {
    throw Interrupted{};
  }
}
template <class F>
auto computing(F&& f) {
  return computing_with([&](std::atomic<bool>&) { return f(); });
}

// After Stopped, or where work returns early for it: lets Python's handler speak. Always ends in a Python
// error.
void raise_interrupt() noexcept;

}  // namespace limber::python
