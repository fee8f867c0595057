// Where a cable runs: the guides that it touches, its stretches, the lengths and tensions of its runs, and
// what slides over guides that rub. Internal to articulated/.
#pragma once

#include <cmath>

#include "limber/articulated/system.h"

namespace limber::articulated {

inline constexpr double full_turn = 2 * pi;

inline double near(double angle, double reference) {
  return angle + full_turn * std::round((reference - angle) / full_turn);
}

inline int guide_of(const CompiledCable& c, int k) {
  const int n = static_cast<int>(c.guides.size());
  return k < n ? k : k - n;
}

inline bool is_ring(const CompiledCable& c, const CableRun& run) {
  return run.last - run.first == static_cast<int>(c.guides.size()) && !c.guides[run.first].holds;
}

inline double wrap_of(const CompiledCable& c, const CableShape& at, int k) {
  return c.guides[k].sense * (at.leaves[k] - at.meets[k]);
}

inline int first_touched(const CompiledCable& c, const CableRun& run, const CableShape& at) {
  int k = run.first;
  while (is_ring(c, run) && !at.touches[k] && k < run.last - 1) ++k;
  return k;
}

template <class Each>
void each_stretch(const CompiledCable& c, const CableRun& run, const CableShape& at, const Each& each) {
  const int start = first_touched(c, run, at), end = guide_of(c, run.last);
  int k = start;
  do {
    each(k, at.next[k], at.stretch[k]);
    k = at.next[k];
  } while (k != (is_ring(c, run) ? start : end));
}

// Guides that rub, with the runs before and behind each.
template <class Each>
void each_rub(const CompiledCable& c, const Each& each) {
  const std::size_t runs = c.runs.size();
  for (std::size_t a = 0; a < runs; ++a) {
    const int k = guide_of(c, c.runs[a].last);
    const std::size_t b = a + 1 < runs ? a + 1 : 0;
    if (c.guides[k].friction > 0 && (c.closed || b > 0) && a != b) each(a, b, k);
  }
}

// Stretches of a run between the guides that it touches, from guide `start` on. `from`: angles to be near to;
// null: as they are. False: there is no line, or it leaves a groove.
bool lay(const CompiledCable& c, const CableRun& run, int start, const double* from, CableShape& at);
void lay_run(const CompiledCable& c, const CableRun& run, const double* from, CableShape& at);
// The length of a run with what its ends' angles say.
double raw_length(const CompiledCable& c, const CableRun& run, const CableShape& at);
void place_guides(const CompiledCable& c, const std::vector<LinkMotion>& links, CableShape& at);
// [N] −∂V/∂slip: the tensions' difference, and the energy that the cable takes along.
double loss_by_slip(const CompiledCable& c, const CableShape& at, std::size_t a, std::size_t b);
// All of a cable for links as they stand, at time t.
void place_cable(const CompiledCable& c, const std::vector<LinkMotion>& links, double t,
                 const std::vector<double>& state, CableShape& at);

}  // namespace limber::articulated
