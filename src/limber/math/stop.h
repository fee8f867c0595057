// Asking what computes to leave.
//
// Whatever may take longer than a twentieth of a second (compiling a model, finding an equilibrium, a step
// that is divided again and again, reducing a mechanism) looks at one flag on its way and throws `Stopped`
// once it is set. A step leaves its state as it was, a run a folder that can be resumed or none, a file that
// is half written vanishes; a search for an equilibrium leaves what it began with at some place on its way.
//
//   std::signal(SIGINT, [](int) { limber::request_stop(); });
//   try {
//     articulated::solve_static(system, state, workspace);
//   } catch (const limber::Stopped&) {
//     …
//   }
//   limber::withdraw_stop();  // what begins now runs again
#pragma once

#include <atomic>

namespace limber {

// Not a std::exception on purpose: where one method's failure becomes a line of a table, a stop must not.
struct Stopped {};

namespace detail {
inline constinit std::atomic<bool> stop_flag{false};
inline thread_local constinit const std::atomic<bool>* stop_of_thread = nullptr;
}  // namespace detail

// Of everything in the process, from any thread; may be called in a signal handler.
inline void request_stop() noexcept { detail::stop_flag.store(true, std::memory_order_relaxed); }
inline void withdraw_stop() noexcept { detail::stop_flag.store(false, std::memory_order_relaxed); }

inline bool stop_requested() noexcept {
  const std::atomic<bool>* own = detail::stop_of_thread;
  return detail::stop_flag.load(std::memory_order_relaxed) || (own && own->load(std::memory_order_relaxed));
}

inline void stop_if_requested() {
  if (stop_requested()) throw Stopped{};
}

// While it lives, what this thread computes looks at `flag` too (nullptr: at none).
class StopScope {
 public:
  explicit StopScope(const std::atomic<bool>* flag) noexcept : outer_(detail::stop_of_thread) {
    if (flag) detail::stop_of_thread = flag;
  }
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;
  ~StopScope() { detail::stop_of_thread = outer_; }

 private:
  const std::atomic<bool>* outer_;
};

}  // namespace limber
