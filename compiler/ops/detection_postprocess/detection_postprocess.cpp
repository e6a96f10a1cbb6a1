// SPDX-License-Identifier: Apache-2.0
// detection_postprocess: boxes of an object detector, decoded and thinned out.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/lowered_evaluation.h"
#include "ops/detection_postprocess/detection_postprocess.h"
#include "ops/signature.h"

namespace aotc::ops {

namespace {

constexpr int64_t kMostDetections = 1 << 16;

// Operands: encoded boxes, scores of classes, anchors. Results: boxes, classes, scores, how many.
class DetectionPostprocess final : public SpecifiedOperator {
 public:
  DetectionPostprocess()
      : SpecifiedOperator({.name = "detection_postprocess",
                           .summary = "boxes decoded from anchors, the best of those that overlap",
                           .operands = {{.name = "boxes", .types = {DType::kF32, {DType::kU8, "results float32"}}},
                                        {.name = "scores", .types = {DType::kF32, DType::kU8}},
                                        {.name = "anchors", .same_type_as = 0}},
                           .results = {{.name = "boxes", .types = {DType::kF32}},
                                       {.name = "classes", .types = {DType::kF32}},
                                       {.name = "scores", .types = {DType::kF32}},
                                       {.name = "count", .types = {DType::kF32}}},
                           .shapes = Shapes::kOwn,
                           .quantized = Quantized::kPerTensor,
                           .traits = {.uses_libm = true, .may_fail = true},
                           .attributes = make_attributes<DetectionAttrs>}) {}

  void evaluate(const OpView& op, const EvalData& data) const override { evaluate_lowering(op, data); }

  // For each that is chosen, all boxes are looked at twice.
  int64_t macs(const OpView& op) const override {
    const auto& a = op.attrs<DetectionAttrs>();
    const int64_t boxes = op.operand(0).shape[1];
    if (!a.use_regular_nms) return boxes * (a.num_classes + 2 * std::min<int64_t>(a.max_detections, boxes));
    return boxes * a.num_classes * (1 + 2 * std::min<int64_t>(a.detections_per_class, boxes));
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override { return lower_detection_postprocess(op); }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    if (!check_numbers(op, diags)) return kFailure;
    const auto& a = op.attrs<DetectionAttrs>();
    const int64_t count = int64_t{a.max_detections} * a.max_classes_per_detection;
    return std::vector<graph::Shape>{{1, count, 4}, {1, count}, {1, count}, {1}};
  }

  bool check(const OpView& op, Diagnostics& diags) const override { return check_shapes(op, diags); }

 private:
  static bool check_numbers(const OpView& op, Diagnostics& diags) {
    const auto& a = op.attrs<DetectionAttrs>();
    auto within = [&](const char* name, int64_t value) {
      return (value >= 1 && value <= kMostDetections) ||
             bad_attribute(op, diags, fmt::format("{} {} is outside of 1..{}", name, value, kMostDetections));
    };
    if (!within("max_detections", a.max_detections) || !within("num_classes", a.num_classes) ||
        !within("max_classes_per_detection", a.max_classes_per_detection) ||
        !within("detections_per_class", a.detections_per_class) ||
        !within("max_detections times max_classes_per_detection",
                int64_t{a.max_detections} * a.max_classes_per_detection))
      return false;
    for (float scale : {a.y_scale, a.x_scale, a.h_scale, a.w_scale})
      if (!std::isfinite(scale) || scale == 0.0f)
        return bad_attribute(op, diags, fmt::format("a scale of boxes is {}", scale));
    if (!std::isfinite(a.nms_score_threshold))
      return bad_attribute(op, diags, "nms_score_threshold is no finite number");
    return (a.nms_iou_threshold > 0.0f && a.nms_iou_threshold <= 1.0f) ||
           bad_attribute(op, diags,
                         fmt::format("nms_iou_threshold {} is not above 0 and at most 1", a.nms_iou_threshold));
  }

  static bool check_shapes(const OpView& op, Diagnostics& diags) {
    if (!check_rank(op, 0, 3, 3, diags) || !check_rank(op, 1, 3, 3, diags) || !check_rank(op, 2, 2, 2, diags))
      return false;
    const graph::Shape &boxes = op.operand(0).shape, &scores = op.operand(1).shape, &anchors = op.operand(2).shape;
    const int64_t classes = op.attrs<DetectionAttrs>().num_classes;
    if (boxes[0] != 1 || boxes[1] < 1 || boxes[2] < 4)
      return bad_shape(op, diags, fmt::format("boxes of {} are not 1 x n x 4 or more", graph::to_string(boxes)));
    if (anchors[0] != boxes[1] || anchors[1] != 4)
      return bad_shape(op, diags, fmt::format("{} boxes and anchors of {}", boxes[1], graph::to_string(anchors)));
    if (scores[0] != 1 || scores[1] != boxes[1])
      return bad_shape(op, diags, fmt::format("{} boxes and scores of {}", boxes[1], graph::to_string(scores)));
    return scores[2] == classes || scores[2] == classes + 1 ||
           bad_shape(op, diags, fmt::format("{} scores for {} classes and perhaps a background", scores[2], classes));
  }
};

}  // namespace

void add_operators_detection_postprocess(OperatorSet& set) { set.add(std::make_unique<DetectionPostprocess>()); }

}  // namespace aotc::ops
