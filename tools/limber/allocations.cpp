// malloc and its relatives, defined here, take the place of glibc's for the whole process and hand on to
// glibc's own entry points; free needs no replacement. Sanitizers bring their own allocator, so there nothing
// is counted.
#include "allocations.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define LIMBER_COUNTS_ALLOCATIONS 1
#endif

namespace limber::cli {
namespace {
constinit std::atomic<std::uint64_t> calls{0};
}

std::uint64_t allocation_count() { return calls.load(std::memory_order_relaxed); }

#ifdef LIMBER_COUNTS_ALLOCATIONS
bool counting_allocations() { return true; }
static void count() { calls.fetch_add(1, std::memory_order_relaxed); }
#else
bool counting_allocations() { return false; }
#endif

}  // namespace limber::cli

#ifdef LIMBER_COUNTS_ALLOCATIONS
extern "C" {

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  limber::cli::count();
  return __libc_malloc(size);
}

void* calloc(std::size_t count, std::size_t size) {
  limber::cli::count();
  return __libc_calloc(count, size);
}

void* realloc(void* block, std::size_t size) {
  limber::cli::count();
  return __libc_realloc(block, size);
}

void* memalign(std::size_t alignment, std::size_t size) {
  limber::cli::count();
  return __libc_memalign(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
  limber::cli::count();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  limber::cli::count();
  if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
  void* result = __libc_memalign(alignment, size);
  if (result == nullptr) return ENOMEM;
  *block = result;
  return 0;
}

}  // extern "C"
#endif
