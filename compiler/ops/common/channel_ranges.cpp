// SPDX-License-Identifier: Apache-2.0
#include "ops/common/channel_ranges.h"

#include <algorithm>

#include "ops/common/conv.h"

namespace aotc::ops {

AccRange product_range(int32_t weight, ValueRange x, int32_t zero, bool optional) {
  int64_t a = int64_t{weight} * (x.low - zero);
  int64_t b = int64_t{weight} * (x.high - zero);
  AccRange range{std::min(a, b), std::max(a, b)};
  if (optional) range = {std::min<int64_t>(range.low, 0), std::max<int64_t>(range.high, 0)};
  return range;
}

ValueRange requantized_range(const Requantization& scaling, size_t channel, AccRange acc) {
  ValueRange all{scaling.clamp.min, scaling.clamp.max};
  // Without a wrapping shift every step is monotone, so the ends of the range give its ends. The
  // margin is for the zero point.
  int64_t most = (int64_t{1} << 31) - 256;
  int left = 0;
  if (scaling.rounding == Rounding::kDouble) left = std::max(quantize_multiplier(scaling.scales[channel]).shift, 0);
  if (acc.magnitude() >= most || (acc.magnitude() << left) >= most) return all;
  return {scaling.apply(static_cast<int32_t>(acc.low), channel),
          scaling.apply(static_cast<int32_t>(acc.high), channel)};
}

ChannelRanges sum_channel_ranges(const OpView& op, const Requantization& scaling, const ChannelRanges& input,
                                 bool padded) {
  const graph::ConstantView& weights = *op.constant(1);
  auto depth = static_cast<int64_t>(input.size());
  int64_t channels = op.operand(1).shape[0];
  int64_t taps = op.operand(1).elements() / channels / depth;
  int32_t zero = op.operand(0).zero_point();
  ChannelRanges out;
  for (int64_t c = 0; c < channels; ++c) {
    AccRange acc{bias_at(op, c), bias_at(op, c)};
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t k = 0; k < depth; ++k) {
        int32_t weight = weights.get<int8_t>((c * taps + tap) * depth + k);
        AccRange product = product_range(weight, input[static_cast<size_t>(k)], zero, padded);
        acc = {acc.low + product.low, acc.high + product.high};
      }
    out.push_back(requantized_range(scaling, static_cast<size_t>(c), acc));
  }
  return out;
}

ChannelRanges clamped_ranges(ChannelRanges ranges, ClampI32 clamp) {
  for (ValueRange& range : ranges)
    range = {std::clamp(range.low, clamp.min, clamp.max), std::clamp(range.high, clamp.min, clamp.max)};
  return ranges;
}

}  // namespace aotc::ops
