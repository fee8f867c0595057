#include "bench.h"

namespace limber::cli {

std::span<const Suite> suites() {
  static constexpr Suite list[] = {
      {"articulated", "time and allocations of a step of chains, beside their size", bench_articulated},
      {"chain", "time and error of the published chain algorithms and of Newton's method", bench_chain},
  };
  return list;
}

}  // namespace limber::cli
