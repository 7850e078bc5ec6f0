// The global operator new of the test program, counting. Apart from its users, so that no compiler sees through it.
#include <cstddef>
#include <cstdlib>
#include <new>

#if defined(_MSC_VER)
#include <malloc.h>
#endif

#include "allocations.hpp"

namespace {

thread_local long count = 0;

// the limit keeps a request for absurd sizes out of the sanitizer's own allocator, which ends the process
constexpr std::size_t kMost = std::size_t{1} << 40;

void* allocate(std::size_t size, std::size_t alignment) {
  ++count;
  if (size > kMost) throw std::bad_alloc();
#if defined(_MSC_VER)
  void* p = _aligned_malloc(size ? size : 1, alignment);
#else
  const std::size_t whole = (size + alignment - 1) / alignment * alignment;
  void* p = alignment <= alignof(std::max_align_t) ? std::malloc(size ? size : 1) : std::aligned_alloc(alignment, whole);
#endif
  if (!p) throw std::bad_alloc();
  return p;
}

void release(void* p) noexcept {
#if defined(_MSC_VER)
  _aligned_free(p);
#else
  std::free(p);
#endif
}

}  // namespace

long allocations() { return count; }

void* operator new(std::size_t size) { return allocate(size, alignof(std::max_align_t)); }
void* operator new[](std::size_t size) { return allocate(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t a) { return allocate(size, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t size, std::align_val_t a) { return allocate(size, static_cast<std::size_t>(a)); }
// of std::stable_sort; the library's own would call the sanitizer's
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return allocate(size, alignof(std::max_align_t));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* p, const std::nothrow_t&) noexcept { release(p); }
void operator delete(void* p) noexcept { release(p); }
void operator delete[](void* p) noexcept { release(p); }
void operator delete(void* p, std::size_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t) noexcept { release(p); }
void operator delete(void* p, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::align_val_t) noexcept { release(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { release(p); }
