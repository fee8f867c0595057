#include "bench.h"

namespace limber::cli {

std::span<const Suite> suites() {
  static constexpr Suite list[] = {
      {"articulated", "time and allocations of a step of chains, beside their size", bench_articulated},
      {"chain", "time and error of the published chain algorithms and of Newton's method", bench_chain},
      {"adaptive",
       "time, computed joints and displacement error of adaptive quasi-statics, beside DCA and ABA",
       bench_adaptive},
      {"thread", "steps a second of threads, without and with contact, beside conjugate gradients",
       bench_thread},
      {"contact", "time of a step of piles, a chain on the floor, a wall that is hit; contacts and residuals",
       bench_contact},
      {"cables", "cables over many guides on a linkage of 1,000 bodies, beside the same without",
       bench_cables},
      {"rom", "time of a step of reduced models, beside the whole mechanisms", bench_rom},
  };
  return list;
}

}  // namespace limber::cli
