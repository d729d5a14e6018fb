// The search with its deliberate mistakes, for the tests. Its own file, so that the product does
// not link it.
#include "dpor/odpor.h"
#include "dpor/odpor_impl.h"

namespace mc::dpor {

template class OptimalSearch<true>;

}  // namespace mc::dpor
