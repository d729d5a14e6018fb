// Figures 1 to 9 and the cases of Lemma 3 of Blum, "Soundness Proofs for Iterative Deepening"
// (CMU-PDL-16-103), one test each.
//
// tests/e2e/figures.test compiles this with -O0, so that every access of the source is one of the
// program, and finds the lines it speaks about by their @marks. All but Figures 1 and 5 are about
// heap blocks that change owners: run with --heap=recycle.
//
// "publish" and "get published" are a critical section each: a synchronisation event, so a
// preemption point in the largest set of static ones, as the paper assumes. In Figure 6 the pointer
// travels through a heap block.
#include <mc/mc.h>

#include <cstdlib>
#include <mutex>
#include <thread>

// Using what was freed is the point of these programs.
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wuse-after-free"

namespace {

// Two kinds of block of one size class, as in the paper.
struct Block {
  int foo;
  int baz;
};
struct OtherBlock {
  int bar;
  int qux;
};

template <typename T>
T* Allocate() {
  return static_cast<T*>(std::malloc(sizeof(T)));
}

// A pointer handed from thread to thread.
template <typename T>
class Mailbox {
 public:
  void Publish(T* value) {
    std::lock_guard<std::mutex> lock(mutex_);
    value_ = value;
  }
  T* Get() {
    std::lock_guard<std::mutex> lock(mutex_);
    return value_;
  }

 private:
  std::mutex mutex_;
  T* value_ = nullptr;
};

template <typename First, typename Second>
void RunTwo(First first, Second second) {
  std::thread one(first);
  std::thread two(second);
  one.join();
  two.join();
}

Mailbox<Block> mailbox;

}  // namespace

// Figure 1: written before it is published under a lock, and again by who got it. Never a race, but
// not ordered by what must happen.
MC_TEST(Figure1) {
  static Block x;
  RunTwo(
      [] {
        x.foo = 1;  // @fig1-before
        mailbox.Publish(&x);
      },
      [] {
        Block* mine = mailbox.Get();
        if (mine != nullptr) {
          mine->foo = 2;  // @fig1-after
        }
      });
}

// Figure 2: the usual false alarm. Nothing is shared but the memory, which was freed in between.
MC_TEST(Figure2) {
  [[maybe_unused]] static OtherBlock* volatile published;
  RunTwo(
      [] {
        Block* x = Allocate<Block>();
        x->foo = 1;  // @fig2-first
        std::free(x);
      },
      [] {
        OtherBlock* y = Allocate<OtherBlock>();
        published = y;
        y->bar = 2;  // @fig2-second
      });
}

// Figure 3: fits the same pattern in the order printed, and is a true race all the same. Figure 4
// is the order that shows it.
MC_TEST(Figure3) {
  RunTwo(
      [] {
        Block* x1 = Allocate<Block>();
        mailbox.Publish(x1);
        x1->foo = 1;  // @fig3-first
        std::free(x1);
      },
      [] {
        Block* x2 = mailbox.Get();
        if (x2 == nullptr) return;
        OtherBlock* y = Allocate<OtherBlock>();
        x2->foo = 2;  // @fig3-second
        std::free(y);
      });
}

// Figure 5: the race on y can only be seen once threads are switched in the race on x.
MC_TEST(Figure5) {
  struct Progress {
    bool x, y;
  };
  static int x, y;
  static Progress first, second;
  const auto run = [](Progress* mine, Progress* theirs) {
    x = x + 1;  // @fig5-x
    mine->x = true;
    if (x == 1 && theirs->x) {  // @fig5-if-x
      y = y + 1;                // @fig5-y
      mine->y = true;
      if (y == 1 && theirs->y) {  // @fig5-if-y
        mc_assert(!"panic");
      }
    }
  };
  RunTwo([&] { run(&first, &second); }, [&] { run(&second, &first); });
}

// Figure 6: the address of x travels through another heap block, which is recycled too. The second
// thread puts an address of its own into the recycled block: mc does not leave the old content
// there (as the paper's malloc does), and what a block does not hold yet is no address.
MC_TEST(Figure6) {
  struct Carrier {  // of another size class than Block
    Block* ptr;
    char padding[120];
  };
  static Mailbox<Carrier> carriers;
  RunTwo(
      [] {
        Block* x1 = Allocate<Block>();
        Carrier* p1 = Allocate<Carrier>();
        p1->ptr = x1;
        carriers.Publish(p1);
        std::free(p1);
        x1->foo = 1;  // @fig6-first
        std::free(x1);
      },
      [] {
        Carrier* p2 = carriers.Get();
        if (p2 == nullptr) return;
        Block* own = Allocate<Block>();
        Carrier* q = Allocate<Carrier>();
        q->ptr = own;
        Block* x2 = p2->ptr;  // @fig6-pointer
        OtherBlock* y = Allocate<OtherBlock>();
        x2->foo = 2;  // @fig6-second
        std::free(y);
        std::free(q);
        std::free(own);
      });
}

// Figures 7 to 9: the address of x is found by running over the end of a neighbour. Only
// --heap-overruns promises to find it.
MC_TEST(Figure7) {
  RunTwo(
      [] {
        char* x1 = static_cast<char*>(std::malloc(42));
        x1[2] = 1;  // @fig7-first
        std::free(x1);
      },
      [] {
        char* z = static_cast<char*>(std::malloc(42));
        volatile int offset = 50;  // of which the compiler knows nothing
        char* x2 = &z[offset];
        char* y = static_cast<char*>(std::malloc(42));
        *x2 = 2;  // @fig7-second
        std::free(y);
        std::free(z);
      });
}

// Lemma 3: between the first access (by T1) and the second (by T2), the block is freed and handed
// out again, each by either thread. For each of the four cases the block was allocated first by T1
// (6.2 of the paper) or by T2 (6.1).
namespace {

enum Who { kT1, kT2 };

template <Who original, Who middle_free, Who middle_malloc>
struct Lemma3 {
  static inline Block* allocated;    // by `original`; read by main at the end
  static inline bool freed = false;  // written by `middle_free`
  static inline OtherBlock* recycled;

  static Block* Originally(Who me) {
    if (me != original) return mailbox.Get();
    allocated = Allocate<Block>();
    mailbox.Publish(allocated);
    return allocated;
  }
  static void Middle(Who me, Block* x) {
    if (me == middle_free) {
      std::free(x);
      freed = true;
    }
    if (me == middle_malloc) recycled = Allocate<OtherBlock>();
  }

  static void Run() {
    RunTwo(
        [] {
          Block* x1 = Originally(kT1);
          if (x1 == nullptr) return;
          x1->foo = 1;  // @lemma3-first
          Middle(kT1, x1);
        },
        [] {
          Block* x2 = Originally(kT2);
          if (x2 == nullptr) return;
          Middle(kT2, x2);
          x2->foo = 2;  // @lemma3-second
        });
    if (!freed) std::free(allocated);
    std::free(recycled);
  }
};

}  // namespace

MC_TEST(Lemma3_T1_FreeT1_MallocT1) { Lemma3<kT1, kT1, kT1>::Run(); }
MC_TEST(Lemma3_T1_FreeT1_MallocT2) { Lemma3<kT1, kT1, kT2>::Run(); }
MC_TEST(Lemma3_T1_FreeT2_MallocT1) { Lemma3<kT1, kT2, kT1>::Run(); }
MC_TEST(Lemma3_T1_FreeT2_MallocT2) { Lemma3<kT1, kT2, kT2>::Run(); }
MC_TEST(Lemma3_T2_FreeT1_MallocT1) { Lemma3<kT2, kT1, kT1>::Run(); }
MC_TEST(Lemma3_T2_FreeT1_MallocT2) { Lemma3<kT2, kT1, kT2>::Run(); }
MC_TEST(Lemma3_T2_FreeT2_MallocT1) { Lemma3<kT2, kT2, kT1>::Run(); }
MC_TEST(Lemma3_T2_FreeT2_MallocT2) { Lemma3<kT2, kT2, kT2>::Run(); }

MC_MAIN();
