// Containers of the standard library, part of which is compiled into the library. What that part
// does to memory counts as if it were in the headers. corners.txt says what mc must make of each.
#include <mc/mc.h>

#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>

namespace {

std::mutex g_lock;
std::map<int, std::string> g_map;
std::set<int> g_set;
std::list<int> g_list;
std::unordered_map<int, int> g_table;

template <typename Body>
void InTwoThreads(Body body) {
  std::thread one(body, 1), two(body, 2);
  one.join();
  two.join();
}

void CheckOrder() {
  int last = -1;
  size_t count = 0;
  for (const auto& [key, value] : g_map) {
    mc_assert(key > last);
    last = key;
    ++count;
  }
  mc_assert(count == g_map.size());
  for (auto at = g_map.rbegin(); at != g_map.rend(); ++at) --count;
  mc_assert(count == 0);
}

}  // namespace

MC_TEST(MapUnderALock) {
  InTwoThreads([](int who) {
    for (int k = 0; k < 2; ++k) {
      std::lock_guard<std::mutex> hold(g_lock);
      for (int i = 0; i < 8; ++i) {
        g_map[100 * who + (i * 5 + k) % 8] += static_cast<char>('a' + i);
      }
      CheckOrder();
      for (int i = 1; i < 8; i += 2) g_map.erase(100 * who + i);
      CheckOrder();
    }
  });
  mc_assert(g_map.size() == 8);
  g_map.clear();
}

MC_TEST(MapWithoutALock) {
  InTwoThreads([](int who) { g_map[who] = "x"; });
}

// The step itself, in the library, is all that reads what an insertion changes.
MC_TEST(StepDuringAnInsertion) {
  g_set = {1, 2};
  auto at = g_set.begin();
  std::thread writer([] { g_set.insert(3); });
  ++at;
  mc_assert(*at >= 2);
  writer.join();
}
// And here the rebalancing is all that changes what a step reads: it rotates 4 below 5.
MC_TEST(StepDuringARebalancing) {
  g_set = {1, 2, 3, 4, 5};
  auto at = g_set.find(4);
  std::thread writer([] { g_set.insert(6), g_set.insert(7); });
  --at;
  mc_assert(*at == 3);
  writer.join();
}
MC_TEST(StepsOnly) {
  g_set = {1, 2, 3, 4, 5};
  InTwoThreads([](int) {
    int sum = 0;
    for (const int x : g_set) sum += x;
    for (auto at = g_set.rbegin(); at != g_set.rend(); ++at) sum -= *at;
    mc_assert(sum == 0);
  });
}

MC_TEST(ListUnderALock) {
  InTwoThreads([](int who) {
    std::lock_guard<std::mutex> hold(g_lock);
    g_list.push_back(who);
    g_list.push_front(10 * who);
    std::list<int> others = {5, 3, 4}, none;
    others.sort();
    others.reverse();
    mc_assert(others.front() == 5 && others.back() == 3);
    g_list.splice(g_list.end(), others, others.begin());
    mc_assert(g_list.back() == 5);
    g_list.swap(others);
    others.swap(none);
    mc_assert(others.empty());
    others.swap(none);
    g_list.splice(g_list.begin(), others);
    mc_assert(g_list.back() == 3 && others.empty());
    g_list.remove(3);
    mc_assert(g_list.back() == 4);
    const std::list<int> backwards(g_list.rbegin(), g_list.rend());
    mc_assert(backwards.front() == 4 && backwards.size() == g_list.size());
  });
  mc_assert(g_list.size() == 8);
  g_list.clear();
}

MC_TEST(ListWithoutALock) {
  g_list.assign({1, 2});
  std::thread writer([] { g_list.push_back(7); });
  for (const int x : g_list) mc_assert(x != 9);
  writer.join();
}
// The reader sees the new element only in one order, which no race hides.
MC_TEST(ListInOneOrder) {
  std::thread writer([] {
    std::lock_guard<std::mutex> hold(g_lock);
    g_list.push_back(7);
  });
  {
    std::lock_guard<std::mutex> hold(g_lock);
    for (const int x : g_list) mc_assert(x != 7);
  }
  writer.join();
}

MC_TEST(HashTableUnderALock) {
  InTwoThreads([](int who) {
    for (int i = 0; i < 2; ++i) {
      std::lock_guard<std::mutex> hold(g_lock);
      for (int k = 0; k < 10; ++k) g_table[100 * who + 10 * i + k] = k;
      for (const auto& [key, value] : g_table) mc_assert(key % 10 == value);
    }
  });
  mc_assert(g_table.size() == 40);
  g_table.clear();
}

MC_TEST(HashOfAChangingString) {
  static std::string text = "abc";
  std::thread other([] { text[1] = 'x'; });
  mc_assert(std::hash<std::string>()(text) != 0);
  other.join();
}

MC_MAIN();
