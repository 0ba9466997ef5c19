// Memory of what runs and steps make one of after another. Runs are larger than what malloc
// keeps at hand: for more than a kilobyte, glibc first puts together all that was freed.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define CLEW_HAS_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#define CLEW_HAS_ADDRESS_SANITIZER __has_feature(address_sanitizer)
#else
#define CLEW_HAS_ADDRESS_SANITIZER 0
#endif

namespace clew::pregel {

// The last few blocks of one size that this thread gave back.
template <std::size_t Size>
class RecycledBlocks {
 public:
  static void* take() {
    RecycledBlocks* blocks = of_thread();
    if (!blocks || blocks->count_ == 0) return ::operator new(Size);
    return blocks->blocks_[--blocks->count_];
  }

  static void give(void* block) noexcept {
    RecycledBlocks* blocks = of_thread();
    if (!blocks || blocks->count_ == blocks->blocks_.size()) return ::operator delete(block, Size);
    blocks->blocks_[blocks->count_++] = block;
  }

 private:
  RecycledBlocks() = default;
  ~RecycledBlocks() {
    has_ended_ = true;
    while (count_ > 0) ::operator delete(blocks_[--count_], Size);
  }

  // Null while the thread is ending, and where AddressSanitizer is to see what is freed.
  static RecycledBlocks* of_thread() noexcept {
#if CLEW_HAS_ADDRESS_SANITIZER
    return nullptr;
#else
    if (has_ended_) return nullptr;
    thread_local RecycledBlocks blocks;
    return &blocks;
#endif
  }

  static inline thread_local bool has_ended_ = false;

  std::array<void*, 4> blocks_;
  std::size_t count_ = 0;
};

template <class T>
struct RecyclingAllocator {
  using value_type = T;

  RecyclingAllocator() = default;
  template <class U>
  RecyclingAllocator(const RecyclingAllocator<U>&) noexcept {}

  // One at a time.
  T* allocate(std::size_t) {
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    return static_cast<T*>(RecycledBlocks<sizeof(T)>::take());
  }
  void deallocate(T* object, std::size_t) noexcept { RecycledBlocks<sizeof(T)>::give(object); }

  friend bool operator==(const RecyclingAllocator&, const RecyclingAllocator&) { return true; }
};

// For vectors that hold a `Few`, sometimes four times as many, and seldom more. Whoever reserves
// the few can add them at little cost.
template <class T, std::size_t Few>
struct FewAllocator {
  using value_type = T;
  template <class U>
  struct rebind {
    using other = FewAllocator<U, Few>;
  };

  FewAllocator() = default;
  template <class U>
  FewAllocator(const FewAllocator<U, Few>&) noexcept {}

  T* allocate(std::size_t count) {
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    if (count <= Few) return static_cast<T*>(FewBlocks::take());
    if (count <= 4 * Few) return static_cast<T*>(ManyBlocks::take());
    return std::allocator<T>().allocate(count);
  }
  void deallocate(T* objects, std::size_t count) noexcept {
    if (count <= Few) return FewBlocks::give(objects);
    if (count <= 4 * Few) return ManyBlocks::give(objects);
    std::allocator<T>().deallocate(objects, count);
  }

  friend bool operator==(const FewAllocator&, const FewAllocator&) { return true; }

 private:
  using FewBlocks = RecycledBlocks<Few * sizeof(T)>;
  using ManyBlocks = RecycledBlocks<4 * Few * sizeof(T)>;
};

template <class T, class... Arguments>
std::shared_ptr<T> make_recycled(Arguments&&... arguments) {
  return std::allocate_shared<T>(RecyclingAllocator<T>(), std::forward<Arguments>(arguments)...);
}

}  // namespace clew::pregel
