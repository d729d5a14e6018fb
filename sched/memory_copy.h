// MemoryCopy: copies of ranges of memory, to be put back where they came from.
#ifndef MC_SCHED_MEMORY_COPY_H_
#define MC_SCHED_MEMORY_COPY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mc::sched {

class MemoryCopy {
 public:
  // Forgets all copies; the memory they took is kept for the next ones.
  void Clear() {
    pieces_.clear();
    used_ = 0;
  }
  void Add(const void* memory, size_t size);
  void PutBack() const;
  size_t size() const { return used_; }  // in bytes

 private:
  struct Piece {
    void* memory;
    size_t size;
  };
  std::vector<Piece> pieces_;
  std::vector<unsigned char> bytes_;  // of all pieces, one after the other
  size_t used_ = 0;
};

}  // namespace mc::sched

#endif  // MC_SCHED_MEMORY_COPY_H_
