#include "work.h"

#include <unistd.h>

namespace limber::python {
namespace {

constinit std::atomic<SignalWatch*> watching{nullptr};
void take_note(int) {
  if (SignalWatch* watch = watching.load(std::memory_order_relaxed)) {
    watch->came.store(true, std::memory_order_relaxed);
    watch->stop.store(true, std::memory_order_relaxed);
  }
}

bool on_main_thread() { return ::gettid() == ::getpid(); }

}  // namespace

// A signal that is ignored, or that ends the process, keeps doing so.
SignalWatch::SignalWatch() {
  struct sigaction now {};
  if (!on_main_thread() || ::sigaction(SIGINT, nullptr, &before_) != 0) return;
  if (!(before_.sa_flags & SA_SIGINFO) && (before_.sa_handler == SIG_DFL || before_.sa_handler == SIG_IGN))
    return;
  outer_ = watching.exchange(this);
  now.sa_handler = take_note;
  ::sigemptyset(&now.sa_mask);
  now.sa_flags = SA_RESTART;
  installed_ = ::sigaction(SIGINT, &now, nullptr) == 0;
}

// One within another hands on to the outer one, whose work ends too.
SignalWatch::~SignalWatch() {
  if (!installed_) return;
  ::sigaction(SIGINT, &before_, nullptr);
  watching.store(outer_);
  if (came.load(std::memory_order_relaxed)) ::raise(SIGINT);
}

void raise_interrupt() noexcept {
  if (PyErr_CheckSignals() == 0) PyErr_SetNone(PyExc_KeyboardInterrupt);
}

}  // namespace limber::python
