// A library that a program loads (tests/e2e/wrapper.test): a counter without a lock of its own.
#include <stdlib.h>

static int count;
static int* heap;

__attribute__((constructor)) static void Construct(void) {
  heap = malloc(sizeof *heap);
  *heap = 0;
}

void Increment(void);
int Count(void);

void Increment(void) {
  ++count;
  ++*heap;
}
int Count(void) { return count == *heap ? count : -1; }
