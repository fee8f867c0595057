// An event that happened in a run.
#pragma once

#include <string>

namespace limber::sim {

struct Happening {
  std::string event;
  double found = 0;  // [s] when its value was passed, or its time came
  double acted = 0;  // [s] later by its delay
  std::string what;  // release joint "sling", …
};
std::string to_string(const Happening& happening);  // for people: at t = 1.2 s: let_go: release …

}  // namespace limber::sim
