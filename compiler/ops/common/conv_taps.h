// SPDX-License-Identifier: Apache-2.0
// Lowering of float convolutions tap by tap, with a test for each that may lie outside the image. The other
// schedules multiply padding as zeros, which adds nothing to a sum unless the weight is an infinity or NaN;
// the reference skips such a tap whatever its weight.
#pragma once

#include "ops/common/window.h"
#include "ops/lowering.h"

namespace aotc::ops {

// Does the window reach beyond the image, and is a float weight (operand 1) not finite?
bool needs_taps(const OpView& op, const Window& window);

struct TapConv {
  const char* name = "";  // of the operator
  Window window;
  int64_t in_channels = 1, out_channels = 1;
  int64_t group_in = 1;        // input channels that one output channel sees
  bool channels_last = false;  // weights are [y][x][out], else [out][y][x][in]
  Activation activation = Activation::kNone;
};

Lowered lower_conv_taps(const OpView& op, const TapConv& conv);

}  // namespace aotc::ops
