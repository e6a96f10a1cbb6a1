// SPDX-License-Identifier: Apache-2.0
// What passes may know of an operator's channels: the indices of the last dimension of its int8
// tensors. The one thing to know: ranges are of stored values, and hold for every input of the
// network, at borders too.
#pragma once

#include <cstdint>
#include <vector>

namespace aotc::ops {

// Values that all elements of one channel lie between, both included.
struct ValueRange {
  int32_t low = -128;
  int32_t high = 127;

  bool constant() const { return low == high; }
  bool operator==(const ValueRange&) const = default;
};

using ChannelRanges = std::vector<ValueRange>;  // by channel

// How the channels of an operator's only result depend on those of its operands.
enum class ChannelFlow : uint8_t {
  kOpaque,  // nothing is promised
  // Result channel c is computed from channel c of every operand, the same way in every place:
  // without channel k of all operands, and of constants whose last dimension is the number of
  // channels, the others stay as they are. Operands have as many channels as the result, unless
  // they are constants.
  kEach,
  // Operand 0's channels are added up: operand 1 is a constant of int8 weights [result channels,
  // ..., operand channels] with zero point 0, operand 2 an optional constant int32 bias [result
  // channels], and every result element is a function, by channel, of bias + sum of (x - zero
  // point) * weight over all weights of its channel.
  kSum,
  // The same, but weights may meet places beyond operand 0, where they add nothing.
  kPaddedSum,
};

}  // namespace aotc::ops
