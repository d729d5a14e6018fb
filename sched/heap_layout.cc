#include "sched/heap_layout.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace mc::sched {
namespace {

// Writes a message piece by piece: no formatting function may be used this early.
class ErrorMessage {
 public:
  ErrorMessage& Text(const char* text) {
    while (*text != 0 && length_ < sizeof(buffer_)) buffer_[length_++] = *text++;
    return *this;
  }
  ErrorMessage& Number(uint64_t value, unsigned base) {
    char digits[64];
    size_t count = 0;
    do {
      digits[count++] = "0123456789abcdef"[value % base];
      value /= base;
    } while (value != 0);
    while (count > 0 && length_ < sizeof(buffer_)) buffer_[length_++] = digits[--count];
    return *this;
  }
  void Write() {
    if (write(STDERR_FILENO, buffer_, length_) < 0) return;  // nobody left to tell
  }

 private:
  char buffer_[512];
  size_t length_ = 0;
};

const char* HintFor(int error) {
  switch (error) {
    case EEXIST:
      return "something else is mapped there: run the program through mc, which turns address "
             "randomisation off";
    case ENOMEM:
    case EAGAIN:
      return "the limit on address space is too small (ulimit -v), or the system does not "
             "overcommit memory (vm.overcommit_memory = 2)";
    default:
      return "the system refused it";
  }
}

}  // namespace

void ReserveAt(uint64_t address, size_t size, const char* what) {
  void* const wanted = reinterpret_cast<void*>(address);
  void* const got = mmap(wanted, size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  int error = errno;
  if (got == wanted) {
    // Huge pages would zero and keep 2 MiB for the few KiB that most programs use.
    madvise(wanted, size, MADV_NOHUGEPAGE);
    madvise(wanted, size, MADV_DONTDUMP);
    return;
  }
  if (got != MAP_FAILED) {  // a kernel that does not know MAP_FIXED_NOREPLACE
    munmap(got, size);
    error = EEXIST;
  }
  ErrorMessage()
      .Text("mc: error: cannot reserve ")
      .Number(size >> 20, 10)
      .Text(" MiB at 0x")
      .Number(address, 16)
      .Text(" for ")
      .Text(what)
      .Text(" (error ")
      .Number(static_cast<uint64_t>(error), 10)
      .Text("): ")
      .Text(HintFor(error))
      .Text("\n")
      .Write();
  _exit(2);
}

void Unreserve(uint64_t address, size_t size) { munmap(reinterpret_cast<void*>(address), size); }

void DiscardPages(uint64_t begin, uint64_t end) {
  begin = (begin + 4095) & ~uint64_t{4095};
  end &= ~uint64_t{4095};
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace mc::sched
