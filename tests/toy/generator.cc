#include "tests/toy/generator.h"

#include <algorithm>
#include <cstddef>
#include <random>

namespace mc::toy {
namespace {

// Program pieces by theme. A program mixes a few themes, so that their operations meet.
const std::vector<std::vector<const char*>>& Themes() {
  static const auto& themes = *new std::vector<std::vector<const char*>>{
      // plain memory and atomics
      {"x=1", "x=2", "y=1", "r0=x", "r1=y", "r0=x, if r0==0 {y=2}", "r0=x, if r0==1 {; y=r0+1}",
       "r0=fadd(x,1)", "r1=fadd(y,1)", "r0=cas(x,0,1)", "r1=cas(y,1,2)", "r0=xchg(x,2)", "x=r0+1",
       "add(x,1)", "add(y,1)", "r0=x, r1=y", "r0=cas(x,1,2), if r0==1 {y=1}"},
      // mutexes
      {"lock m0", "unlock m0", "lock m0; x=1; unlock m0", "lock m0; r0=x; unlock m0", "lock m1",
       "unlock m1", "r2=trylock m0, if r2==1 {; unlock m0}", "r2=trylock m0", "x=1, lock m0",
       "lock m0; lock m1; unlock m1; unlock m0", "r2=trylock m0, if r2==1 {x=1}"},
      // condition variables
      {"lock m0; wait c0,m0; unlock m0", "lock m0; r3=timedwait c0,m0; unlock m0", "signal c0",
       "broadcast c0", "lock m0; r0=x, if r0==0 {; wait c0,m0}; unlock m0",
       "lock m0; x=1; signal c0; unlock m0", "lock m0; r3=timedwait c0,m0, if r3==1 {; x=1}",
       "lock m0; x=1; broadcast c0; unlock m0", "signal c0, signal c0"},
      // semaphores
      {"P s0", "V s0", "r2=tryP s0", "P s0; x=1; V s0", "x=1, P s0",
       "r2=tryP s0, if r2==1 {; V s0}", "P s0; r0=x", "r2=tryP s0, if r2==0 {y=1}"},
      // reader-writer locks
      {"rdlock w0", "rdunlock w0", "wrlock w0", "wrunlock w0", "rdlock w0; r0=x; rdunlock w0",
       "wrlock w0; x=1; wrunlock w0", "r2=tryrd w0, if r2==1 {; rdunlock w0}",
       "r2=trywr w0, if r2==1 {; wrunlock w0}", "rdlock w0, r0=x", "x=1, rdlock w0", "r2=trywr w0",
       "y=1, wrlock w0"},
      // barriers
      {"barrier b0", "barrier b0; x=1", "x=1; barrier b0", "barrier b0; r0=x"},
      // threads
      {"join T0", "join T1", "join T2", "x=1, join T1", "join T1; r0=x"},
      // choices
      {"r1=choose(2)", "r1=choose(2), if r1==1 {x=2}", "r1=choose(2), x=r1+1",
       "r1=choose(3), if r1==2 {; y=1}", "choose(2), r0=x", "r1=choose(2), if r1==0 {y=2}",
       "r0=x, r1=choose(2), if r1==1 {y=1}"},
      // failures and exit
      {"r3=x, assume r3==0", "r3=x, assert r3==0", "r1=choose(2), assume r1==1", "exit",
       "r3=x, if r3==1 {exit}", "r3=y, assume r3==1"},
      // spinning
      {"spin until x==1", "spin until x or y", "spin until cas(x,0,1); x=0",
       "spin until trylock m0; unlock m0", "spin until trylock m0", "spin until tryP s0", "x=0",
       "x=1", "spin until y==1", "y=1", "spin until cas(x,0,2)"},
      // the heap
      {"r5=new", "r5=new, p=r5", "r6=p, if r6!=0 {*r6=2}", "r6=p, if r6!=0 {; r7=*r6}",
       "r5=new; *r5=3; p=r5"},
  };
  return themes;
}

constexpr size_t kBarrierTheme = 5;
constexpr size_t kThreadTheme = 6;

}  // namespace

std::string Sketch::Text() const {
  std::string text;
  int barrier_users = 0;
  for (size_t t = 0; t < threads.size(); ++t) {
    if (t > 0) text += " ‖ ";
    if (threads[t].created) text += "(T" + std::to_string(t) + ") ";
    if (threads[t].items.empty()) text += "–";
    bool uses_barrier = false;
    for (size_t k = 0; k < threads[t].items.size(); ++k) {
      const Item& item = threads[t].items[k];
      if (k > 0) text += item.joined ? ", " : "; ";
      text += item.text;
      uses_barrier = uses_barrier || item.text.find("barrier") != std::string::npos;
    }
    barrier_users += uses_barrier ? 1 : 0;
  }
  text += options;
  if (barrier_users > 0) {
    text += " [b0 for " + std::to_string(barrier_count) + "]";
    // Arrivals commute only if exactly as many threads use the barrier as it counts.
    if (barrier_users > barrier_count) text += " [full-barriers]";
  }
  return text;
}

Sketch Generate(uint64_t seed) {
  std::mt19937_64 random(seed);
  auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  const auto& themes = Themes();
  std::vector<size_t> chosen;
  const size_t theme_count = 1 + below(3);
  for (size_t k = 0; k < theme_count; ++k) chosen.push_back(below(themes.size()));
  if (below(2) == 0) chosen.push_back(0);

  Sketch sketch;
  sketch.barrier_count = static_cast<int>(2 + below(2));
  sketch.threads.resize(2 + below(3));
  const size_t most_items = sketch.threads.size() == 4 ? 2 : 3;
  for (Sketch::Thread& thread : sketch.threads) {
    const size_t items = below(most_items + 1);
    for (size_t k = 0; k < items; ++k) {
      const auto& theme = themes[chosen[below(chosen.size())]];
      std::string text = theme[below(theme.size())];
      const size_t other = text.find("T2");
      if (other != std::string::npos && sketch.threads.size() < 3) text.replace(other, 2, "T1");
      thread.items.push_back({text, below(4) == 0});
    }
  }
  const bool threads_theme = std::ranges::find(chosen, kThreadTheme) != chosen.end();
  if (threads_theme || below(8) == 0) {
    const size_t child = 1 + below(sketch.threads.size() - 1);
    sketch.threads[child].created = true;
    auto& items = sketch.threads[below(child)].items;
    items.insert(items.begin() + static_cast<ptrdiff_t>(below(items.size() + 1)),
                 {"create T" + std::to_string(child), below(3) == 0});
  }
  const char* const options[] = {"",
                                 "",
                                 " [s0=1]",
                                 " [s0=2]",
                                 " [m0 recursive]",
                                 " [posts-commute]",
                                 " [s0=1] [posts-commute]"};
  sketch.options = options[below(std::size(options))];
  if (std::ranges::find(chosen, kBarrierTheme) != chosen.end() && below(3) == 0 &&
      sketch.options.empty()) {
    sketch.options = " [full-barriers]";
  }
  // Options may name only what the program uses.
  auto uses = [&](const char* name) {
    for (const auto& thread : sketch.threads) {
      for (const auto& item : thread.items) {
        if (item.text.find(name) != std::string::npos) return true;
      }
    }
    return false;
  };
  if (sketch.options.find("recursive") != std::string::npos && !uses("m0")) sketch.options = "";
  return sketch;
}

Sketch Shrink(Sketch sketch, const std::function<bool(const std::string&)>& fails) {
  bool smaller = true;
  auto try_this = [&](const Sketch& candidate) {
    if (!fails(candidate.Text())) return false;
    sketch = candidate;
    smaller = true;
    return true;
  };
  while (smaller) {
    smaller = false;
    // Only the last thread may go: others are named by their number.
    if (sketch.threads.size() > 1 && !sketch.threads.back().created) {
      Sketch candidate = sketch;
      candidate.threads.pop_back();
      try_this(candidate);
    }
    for (size_t t = 0; t < sketch.threads.size(); ++t) {
      for (size_t k = 0; k < sketch.threads[t].items.size(); ++k) {
        Sketch candidate = sketch;
        auto& items = candidate.threads[t].items;
        items.erase(items.begin() + static_cast<ptrdiff_t>(k));
        if (try_this(candidate)) break;
        if (!sketch.threads[t].items[k].joined || k == 0) continue;
        candidate = sketch;
        candidate.threads[t].items[k].joined = false;
        try_this(candidate);
      }
    }
    if (!sketch.options.empty()) {
      Sketch candidate = sketch;
      candidate.options.clear();
      try_this(candidate);
    }
  }
  return sketch;
}

}  // namespace mc::toy
