// Scratch: working memory of one thread. Grows on the first calls, then a call allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include <zveno/support/compiler.hpp>

namespace zveno {

class Scratch {
 public:
  // `count` uninitialised objects, valid until the enclosing Frame ends
  template <class T>
  T* take(std::size_t count) {
    static_assert(alignof(T) <= kAlign);
    const std::size_t bytes = (count * sizeof(T) + kAlign - 1) / kAlign * kAlign;
    if (block_ == blocks_.size() || used_ + bytes > blocks_[block_].size) next_block(bytes);
    T* p = reinterpret_cast<T*>(blocks_[block_].data.get() + used_);
    used_ += bytes;
    return p;
  }

  // everything taken during a Frame's life is given back at its end
  class Frame {
   public:
    explicit Frame(Scratch& s) : scratch_(s), block_(s.block_), used_(s.used_) {}
    ~Frame() {
      scratch_.block_ = block_;
      scratch_.used_ = used_;
    }
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;

   private:
    Scratch& scratch_;
    std::size_t block_, used_;
  };

  // fill with signalling garbage (all bits set is a NaN): tests that nothing is read before it is written
  void poison() {
    for (Block& b : blocks_) std::memset(b.data.get(), 0xff, b.size);
  }

  static Scratch& of_this_thread() {
    thread_local Scratch scratch;
    return scratch;
  }

 private:
  static constexpr std::size_t kAlign = 64, kFirst = std::size_t{1} << 16;
  struct Free {
    void operator()(std::byte* p) const { ::operator delete(p, std::align_val_t{kAlign}); }
  };
  struct Block {
    std::unique_ptr<std::byte, Free> data;
    std::size_t size;
  };

  ZVENO_COLD void next_block(std::size_t bytes) {
    if (block_ < blocks_.size()) ++block_;
    // later blocks hold nothing: drop those too small
    while (block_ < blocks_.size() && blocks_[block_].size < bytes)
      blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(block_));
    if (block_ == blocks_.size()) {
      const std::size_t twice = blocks_.empty() ? kFirst : 2 * blocks_.back().size;
      const std::size_t size = bytes > twice ? bytes : twice;
      blocks_.push_back(
          {std::unique_ptr<std::byte, Free>(static_cast<std::byte*>(::operator new(size, std::align_val_t{kAlign}))), size});
    }
    used_ = 0;
  }

  std::vector<Block> blocks_;
  std::size_t block_ = 0, used_ = 0;
};

}  // namespace zveno
