// A lost update: two people deposit into one account, and nobody locks it.
//
// An ordinary program: nothing in it knows about mc. Run by itself it practically always succeeds,
// because each deposit takes a few nanoseconds. mc runs the one order in a million in which both
// threads read the balance before either writes it back.
//
//   mc-c++ bank.cc -o bank && mc ./bank
#include <cassert>
#include <thread>

static int balance = 0;

static void Deposit(int amount) { balance += amount; }  // a load, an addition and a store

int main() {
  std::thread alice(Deposit, 30);
  std::thread bob(Deposit, 12);
  alice.join();
  bob.join();
  assert(balance == 42);
}
