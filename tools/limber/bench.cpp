#include "bench.h"

namespace limber::cli {

std::span<const Suite> suites() {
  static constexpr Suite list[] = {
      {"articulated", "time and allocations of a step of chains, beside their size", bench_articulated},
      {"thread", "steps a second of threads, without and with contact, beside conjugate gradients", bench_thread},
  };
  return list;
}

}  // namespace limber::cli
