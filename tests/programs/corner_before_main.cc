// Ends before main is reached: nothing mc could check.
#include <unistd.h>

namespace {

struct Impatient {
  Impatient() { _exit(4); }
};
Impatient impatient;

}  // namespace

int main() { return 0; }
