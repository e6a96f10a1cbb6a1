// SPDX-License-Identifier: Apache-2.0
// Value ranges of channels for operators that sum up products and requantise. The one thing to
// know: an accumulator whose left shift could wrap has every value the clamp leaves.
#pragma once

#include "ops/channels.h"
#include "ops/common/requantize.h"
#include "ops/operator.h"

namespace aotc::ops {

// Of one product (x - zero) * weight; of that or nothing if `optional`.
AccRange product_range(int32_t weight, ValueRange x, int32_t zero, bool optional);

// Of result channel `channel`, for accumulators in `acc`.
ValueRange requantized_range(const Requantization& scaling, size_t channel, AccRange acc);

// Of the results of ChannelFlow::kSum and kPaddedSum, `input` being operand 0's.
ChannelRanges sum_channel_ranges(const OpView& op, const Requantization& scaling, const ChannelRanges& input,
                                 bool padded);

// What `clamp` leaves of each range.
ChannelRanges clamped_ranges(ChannelRanges ranges, ClampI32 clamp);

}  // namespace aotc::ops
