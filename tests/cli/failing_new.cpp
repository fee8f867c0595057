// To be loaded before a program: its operator new fails for good after FAIL_AFTER calls, as when memory is
// gone.
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

bool fails() {
  static std::atomic<long> calls{0};
  static const long most = [] {
    const char* text = std::getenv("FAIL_AFTER");
    return text ? std::atol(text) : -1L;
  }();
  return most >= 0 && calls.fetch_add(1) >= most;
}

void* allocate(std::size_t size, std::size_t alignment) {
  void* memory = fails() ? nullptr : std::aligned_alloc(alignment, (size / alignment + 1) * alignment);
  if (!memory) throw std::bad_alloc();
  return memory;
}

constexpr std::size_t usual = alignof(std::max_align_t);

}  // namespace

void* operator new(std::size_t size) { return allocate(size, usual); }
void* operator new[](std::size_t size) { return allocate(size, usual); }
void* operator new(std::size_t size, std::align_val_t a) {
  return allocate(size, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t size, std::align_val_t a) {
  return allocate(size, static_cast<std::size_t>(a));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
