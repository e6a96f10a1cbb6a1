// SPDX-License-Identifier: Apache-2.0
// What detection_postprocess is told, and its lowering.
#pragma once

#include <string_view>

#include "ops/operator.h"

namespace aotc::ops {

// Under the names of the custom options.
struct DetectionAttrs : graph::Attributes<DetectionAttrs> {
  int32_t max_detections = 1, max_classes_per_detection = 1, detections_per_class = 100, num_classes = 1;
  bool use_regular_nms = false;
  float nms_score_threshold = 0.0f, nms_iou_threshold = 1.0f;
  float y_scale = 1.0f, x_scale = 1.0f, h_scale = 1.0f, w_scale = 1.0f;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("max_detections", self.max_detections);
    field("max_classes_per_detection", self.max_classes_per_detection);
    field("detections_per_class", self.detections_per_class);
    field("num_classes", self.num_classes);
    field("use_regular_nms", self.use_regular_nms);
    field("nms_score_threshold", self.nms_score_threshold);
    field("nms_iou_threshold", self.nms_iou_threshold);
    field("y_scale", self.y_scale);
    field("x_scale", self.x_scale);
    field("h_scale", self.h_scale);
    field("w_scale", self.w_scale);
  }
  // Files may leave it out; the others have to be there.
  static bool optional(std::string_view name) { return name == "detections_per_class" || name == "use_regular_nms"; }
};

Lowered lower_detection_postprocess(const OpView& op);

}  // namespace aotc::ops
