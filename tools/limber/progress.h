// How far a run is: one line redrawn on a terminal, a plain line every few seconds elsewhere.
#pragma once

#include <string>

#include "limber/sim/run.h"

namespace limber::cli {

class ProgressDisplay {
 public:
  explicit ProgressDisplay(bool quiet);
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;
  ~ProgressDisplay();  // takes the bar away

  void show(
      const sim::Progress& progress);  // called after every step: returns at once when there is nothing to do
  void say(const std::string& line);   // a message that does not tear the bar

 private:
  void clear();
  bool quiet_, terminal_;
  bool drawn_ = false;
  double next_ = 0;         // [s] of the run's wall clock
  double first_time_ = -1;  // [s] simulated when this process began
};

// "42 %  2.10 of 5.00 s  12× real time  4 s left  63 frames"
std::string progress_text(const sim::Progress& progress, double first_time);
std::string progress_bar(double fraction, int width);

}  // namespace limber::cli
