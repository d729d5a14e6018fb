#include "sched/memory_copy.h"

#include <cstring>

namespace mc::sched {

void MemoryCopy::Add(const void* memory, size_t size) {
  if (size == 0) return;
  if (used_ + size > bytes_.size()) bytes_.resize(2 * (used_ + size));
  memcpy(&bytes_[used_], memory, size);
  pieces_.push_back({const_cast<void*>(memory), size});
  used_ += size;
}

void MemoryCopy::PutBack() const {
  const unsigned char* from = bytes_.data();
  for (const Piece& piece : pieces_) {
    memcpy(piece.memory, from, piece.size);
    from += piece.size;
  }
}

}  // namespace mc::sched
