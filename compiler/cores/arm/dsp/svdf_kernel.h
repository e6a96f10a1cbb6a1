// SPDX-License-Identifier: Apache-2.0
// The part of svdf over time, for cores that multiply two pairs of halfwords at once (SMLAD): filter after
// filter what is remembered moves on by a word, takes in the new value and is multiplied. The one thing to
// know: a word's halves (int16) or bytes (int8) are values of times far apart, so that moving on is copying
// words (svdf.h).
#pragma once

#include <vector>

#include "cores/arm/lowering.h"
#include "ops/lowering.h"

namespace aotc::cores::arm {

// The weights, [filter][time] in the order of the state, as the kernel takes them: the number of filters, then for
// each filter what its sum begins with and for every word of state the weights of its halves, or those of bytes 0
// and 2 and those of bytes 1 and 3.
std::vector<int32_t> svdf_time_stream(const std::vector<int16_t>& weights, const std::vector<int32_t>& start,
                                      bool bytes);

// (state, weights, next state, values): values are those of each filter, and then its sum. A filter has `words`
// of state.
tir::KernelPtr svdf_time_kernel(int64_t words, bool bytes);

// One call.
Work svdf_time_work(int64_t words, bool bytes, int64_t filters);

}  // namespace aotc::cores::arm
