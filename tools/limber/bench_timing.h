// How benchmarks measure: CPU time of the calling thread, so that what else the machine does counts little,
// after a warm-up, in batches. The best batch is the figure; the middle one over it, less 1, is the spread.
#pragma once

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

namespace limber::cli {

// CPU time of this thread, as a clock of <chrono>.
struct CpuClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<CpuClock>;
  static constexpr bool is_steady = true;
  static time_point now() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return time_point(std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec));
  }
};

template <class Clock>
double seconds_since(std::chrono::time_point<Clock> begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct Measured {
  double seconds = 0;  // a call, in the best batch
  double spread = 0;   // of the batches: their middle over the best, less 1
};

// Batches of `calls` calls each; a call is cold in none of them.
template <class Clock = CpuClock, class F>
Measured measure_calls(F&& call, int calls, int batches = 7) {
  std::vector<double> times;
  for (int batch = 0; batch < batches; ++batch) {
    const auto begin = Clock::now();
    for (int i = 0; i < calls; ++i) call();
    times.push_back(seconds_since(begin) / calls);
  }
  std::sort(times.begin(), times.end());
  return {times.front(), times[times.size() / 2] / times.front() - 1};
}

// Seven batches of about `budget` seconds after a warm-up.
template <class Clock = CpuClock, class F>
Measured measure_call(F&& call, double budget = 0.02) {
  const double first = measure_calls<Clock>(call, 1, 1).seconds;
  return measure_calls<Clock>(call, std::clamp(static_cast<int>(budget / std::max(first, 1e-9)), 1, 100'000));
}

// Slope of log time over log size, by least squares.
inline double growth_exponent(const std::vector<std::pair<int, double>>& points) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (const auto& [n, seconds] : points) {
    const double x = std::log(n), y = std::log(seconds);
    sx += x, sy += y, sxx += x * x, sxy += x * y;
  }
  const auto count = static_cast<double>(points.size());
  return (count * sxy - sx * sy) / (count * sxx - sx * sx);
}

}  // namespace limber::cli
