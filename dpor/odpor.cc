#include "dpor/odpor.h"

#include "dpor/odpor_impl.h"

namespace mc::dpor {

template class OptimalSearch<false>;

}  // namespace mc::dpor
