// The lines of SolveReport::warning: each is there once, in the order in which they came.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "limber/result/report.h"

namespace limber::result {

inline std::vector<std::string> warnings_of(const SolveReport& report) {
  std::vector<std::string> lines;
  std::istringstream in(report.warning);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Those of `text` that are not yet in the report.
inline void add_warning(SolveReport& report, const std::string& text) {
  if (text.empty()) return;  // nearly always
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    bool known = false;
    for (const std::string& other : warnings_of(report)) known = known || other == line;
    if (!known) report.warning += (report.warning.empty() ? "" : "\n") + line;
  }
}

}  // namespace limber::result
