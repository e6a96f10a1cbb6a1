// SPDX-License-Identifier: Apache-2.0
// ConvOfNeighbours: a convolution with one output channel as a convolution with two, which are neighbouring pixels of
// the result. The window of both is wider by one stride, and each channel has zeros where only the other one's window
// is. Operand 0 and the result have the same bytes in other shapes. So kernels that multiply two channels at a time
// apply.
#pragma once

#include <optional>

#include "ops/operator.h"

namespace aotc::ops {

class ConvOfNeighbours {
 public:
  // nullopt if the convolution is not int8, has more output channels, a dilation in x, or an odd number of results in a
  // row.
  static std::optional<ConvOfNeighbours> of(const OpView& op);

  OpView view() const { return {graph_, op_}; }

 private:
  graph::Graph graph_;
  graph::Op op_;
};

}  // namespace aotc::ops
