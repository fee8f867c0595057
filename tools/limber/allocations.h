// Counts calls of the allocator in this executable, so that a benchmark can say how many a step makes.
#pragma once

#include <cstdint>

namespace limber::cli {

bool counting_allocations();       // false in builds that cannot (sanitizers, a C library other than glibc)
std::uint64_t allocation_count();  // since the start, all threads

}  // namespace limber::cli
