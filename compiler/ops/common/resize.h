// SPDX-License-Identifier: Apache-2.0
// What operators share that give images (NHWC) another size: attributes and shapes.
#pragma once

#include "ops/operator.h"

namespace aotc::ops {

struct ResizeAttrs : graph::Attributes<ResizeAttrs> {
  int32_t height = 0, width = 0;
  bool align_corners = false, half_pixel_centers = false;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("height", self.height);
    field("width", self.width);
    field("align_corners", self.align_corners);
    field("half_pixel_centers", self.half_pixel_centers);
  }
};

// Expects one operand of rank 4.
Result<std::vector<graph::Shape>> infer_resize(const OpView& op, Diagnostics& diags);

}  // namespace aotc::ops
