// Ctrl-C and its like. Outside a simulation a signal ends the command at once with exit code 130: files only
// get their final names when complete. Inside, the first asks what computes to save and leave, a second ends
// at once.
#pragma once

namespace limber::cli {

void install_signal_handlers();  // also: no death by a closed pipe or a file size limit, those are errors to
                                 // report

// While it lives the first signal only asks for a stop (limber/math/stop.h).
class GracefulStop {
 public:
  GracefulStop();
  GracefulStop(const GracefulStop&) = delete;
  GracefulStop& operator=(const GracefulStop&) = delete;
  ~GracefulStop();
};

}  // namespace limber::cli
