// SPDX-License-Identifier: Apache-2.0
// conv_3d and conv_3d_transpose: convolutions over volumes, NDHWC, of floats. Operands: input [N,D,H,W,C], weights
// ([D,H,W,C/groups,OC], or [D,H,W,OC/groups,C] of the transposed one), optional bias [OC]. Weights may be computed.
// conv_3d_sums makes int32 sums of integers instead: int8 by int8 or uint8, less their zero points, or int32 by int32.
#pragma once

#include <vector>

#include "ops/common/activation.h"
#include "ops/operator.h"

namespace aotc::ops {

// Each list is of depth, height and width.
struct Conv3DAttrs : graph::Attributes<Conv3DAttrs> {
  std::vector<int64_t> strides = {1, 1, 1}, dilations = {1, 1, 1};
  std::vector<int64_t> pads_before = {0, 0, 0};  // of the transposed one: elements in front that are not kept
  std::vector<int64_t> pads_after = {0, 0, 0};   // of conv_3d
  std::vector<int64_t> shape;                    // of conv_3d_transpose: of the result
  int32_t groups = 1;                            // of channels: a group's results depend on its own inputs only
  Activation activation = Activation::kNone;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("strides", self.strides);
    field("dilations", self.dilations);
    field("pads_before", self.pads_before);
    field("pads_after", self.pads_after);
    field("shape", self.shape);
    field("groups", self.groups);
    field("activation", self.activation);
  }
};

}  // namespace aotc::ops
