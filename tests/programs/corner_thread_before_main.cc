// A global object starts threads that race, before main: mc cannot schedule them, and says so.
#include <thread>

namespace {

int count;

struct Eager {
  Eager() {
    std::thread one([] { ++count; }), other([] { ++count; });
    one.join();
    other.join();
  }
};
Eager eager;

}  // namespace

int main() { return 0; }
