// SPDX-License-Identifier: Apache-2.0
// dequantized_mean: int8 values become float32, are averaged, and become int8 again, as DequantizeLinear, ReduceMean
// and QuantizeLinear, or QLinearAveragePool, in onnxruntime. The rounding errors of the float sum decide a result only
// beside a tie. All other results follow from the integer sum.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace aotc::ops {

// The order in which onnxruntime adds the elements of a result.
enum class SumOrder : uint8_t {
  kInOrder,  // one running sum in memory order
  kLanes,    // packets of four elements, which begin at multiples of four elements of the tensor (lanes_sum)
  kFours,    // sums of four elements, a pair and single elements at the end; these are added in order
};
inline std::span<const std::string_view> enum_names(SumOrder) {
  static constexpr std::array<std::string_view, 3> kNames = {"in_order", "lanes", "fours"};
  return kNames;
}

// The quantisation of operand and result, and the number of elements that make a result.
struct MeanScales {
  float in = 1, out = 1;
  int32_t zero_in = 0, zero_out = 0;
  int64_t count = 1;
  SumOrder order = SumOrder::kInOrder;
  int32_t added = 0;  // before the rounding, whose ties it turns if it is odd
};

// The mean from an integer sum: place(sum) has 16 bits of fraction, and the mean is place >> 16, unless the fraction is
// below `beside`. Then the exact mean is so near to a tie that the float sum decides.
struct IntegerMean {
  int64_t multiplier = 0, start = 0;
  int shift = 0;
  int32_t beside = 0;
  bool may_tie = true;  // false: no sum of int8 values is beside a tie

  int32_t place(int64_t sum) const { return static_cast<int32_t>((sum * multiplier + start) >> shift); }
};
// `sum` is of stored values. nullopt if scales or counts are too large or too small for the form.
std::optional<IntegerMean> integer_mean(const MeanScales& scales);

}  // namespace aotc::ops
