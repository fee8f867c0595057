// Ctrl-C and its like. Outside a simulation a signal ends the command at once with exit code 130: files only
// get their final names when complete. Inside, the first asks the run to save and leave, a second ends at
// once.
#pragma once

#include <atomic>

namespace limber::cli {

void install_signal_handlers();  // also: no death by a closed pipe or a file size limit, those are errors to
                                 // report

const std::atomic<bool>& stop_requested();

// While it lives the first signal only sets stop_requested().
class GracefulStop {
 public:
  GracefulStop();
  GracefulStop(const GracefulStop&) = delete;
  GracefulStop& operator=(const GracefulStop&) = delete;
  ~GracefulStop();
};

}  // namespace limber::cli
