// Numbers that begin at a line of the cache.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace limber::math {

// No pack of four that begins at a multiple of four is then in two lines.
template <class T>
struct LineAllocator {
  using value_type = T;
  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{64})); }
  void deallocate(T* p, std::size_t) { ::operator delete (p, std::align_val_t{64}); }
  bool operator==(const LineAllocator&) const { return true; }
};
using Numbers = std::vector<double, LineAllocator<double>>;

}  // namespace limber::math
