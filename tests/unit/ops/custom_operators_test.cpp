// SPDX-License-Identifier: Apache-2.0
// Operators that keep rows, and boxes that have no corners.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "graph/graph.h"
#include "ops/operator.h"

namespace aotc::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Checked {
  std::optional<graph::Graph> graph;
  std::string said;
};

Checked check_text(const std::string& text) {
  Diagnostics diags;
  auto graph = graph::parse("graph \"g\" {\n" + text + "}\n", "test", definition_lookup(), diags);
  if (graph) (void)verify_graph(*graph, diags);
  Checked out;
  if (graph) out.graph = std::move(*graph);
  out.said = diags.str();
  return out;
}

// Rows of one element; the row comes here in every third run.
TEST(CircularBuffer, TakesARowWhenTheReferenceComesHere) {
  Checked c = check_text(R"(
input %0 "x" i8[1x1x1x1] quant(1, 0)
state %1 "rows" i8[1x2x1x1] quant(1, 0) = [0, 0]
state %2 "runs" i32[] = [3]
%3 "after" i8[1x2x1x1] quant(1, 0), %4 "left" i32[] = circular_buffer(%0, %1, %2) {cycles = 1, every = 3}
next %1 = %3
next %2 = %4
output %3
)");
  ASSERT_EQ(c.said, "");
  StateValues states = initial_states(*c.graph);
  std::vector<std::vector<uint8_t>> rows;
  for (uint8_t run = 1; run <= 7; ++run) rows.push_back(evaluate_graph(*c.graph, {{run}}, &states)[3]);
  EXPECT_THAT(rows, ElementsAre(ElementsAre(0, 0), ElementsAre(0, 0), ElementsAre(0, 3), ElementsAre(0, 3),
                                ElementsAre(0, 3), ElementsAre(3, 6), ElementsAre(3, 6)));
}

std::string buffer_text(const std::string& row, const std::string& rows, const std::string& attributes) {
  return "input %0 \"x\" " + row + "\ninput %1 \"rows\" " + rows + "\n%2 \"after\" " + rows +
         " = circular_buffer(%0, %1) {" + attributes + "}\noutput %2\n";
}

TEST(CircularBuffer, Refusals) {
  const std::string row = "i8[1x1x2x3] quant(1, 0)", rows = "i8[1x4x2x3] quant(1, 0)";
  EXPECT_EQ(check_text(buffer_text(row, rows, "cycles = 1")).said, "");
  EXPECT_THAT(check_text(buffer_text("i8[1x2x2x3] quant(1, 0)", rows, "cycles = 1")).said,
              HasSubstr("a row is [1, 1, x, y]"));
  EXPECT_THAT(check_text(buffer_text("i8[1x1x3x2] quant(1, 0)", rows, "cycles = 1")).said,
              HasSubstr("a row is [1, 1, x, y]"));
  EXPECT_THAT(check_text(buffer_text("i8[1x1x2x3] quant(2, 0)", rows, "cycles = 1")).said,
              HasSubstr("op-quantization"));
  EXPECT_THAT(check_text(buffer_text(row, rows, "cycles = 0")).said, HasSubstr("cycles 0 is outside of 1..65536"));
  EXPECT_THAT(check_text(buffer_text(row, rows, "cycles = 1, every = 2")).said, HasSubstr("op-operands"));
  EXPECT_THAT(check_text(buffer_text("i16[1x1x2x3] quant(1, 0)", "i16[1x4x2x3] quant(1, 0)", "cycles = 1")).said,
              HasSubstr("op-type"));
}

std::string boxes_text(const std::string& anchor, const std::string& attributes,
                       const std::string& scores = "f32[1x1x2]") {
  return "input %0 \"boxes\" f32[1x1x4]\ninput %1 \"scores\" " + scores + "\nconst %2 \"anchors\" f32[1x4] = [" +
         anchor +
         "]\n%3 \"b\" f32[1x2x4], %4 \"c\" f32[1x2], %5 \"s\" f32[1x2], %6 \"n\" f32[1] = detection_postprocess(%0, "
         "%1, %2) "
         "{max_detections = 2, num_classes = 2" +
         attributes + "}\noutput %6\n";
}

float count_of(const std::string& anchor) {
  Checked c = check_text(boxes_text(anchor, ""));
  EXPECT_EQ(c.said, "");
  std::vector<uint8_t> boxes(16), scores(8);
  const float numbers[] = {0.25f, 0.75f};
  std::memcpy(scores.data(), numbers, sizeof numbers);
  auto values = evaluate_graph(*c.graph, {boxes, scores});
  float out = -1;
  std::memcpy(&out, values[6].data(), sizeof out);
  return out;
}

// LiteRT takes boxes without an area, and gives up at those turned over.
TEST(DetectionPostprocess, BoxesWithoutCorners) {
  EXPECT_EQ(count_of("0.5, 0.5, 1, 1"), 1.0f);
  EXPECT_EQ(count_of("0.5, 0.5, 0, 1"), 1.0f);
  EXPECT_EQ(count_of("0.5, 0.5, -1, 1"), 0.0f);
}

TEST(DetectionPostprocess, Refusals) {
  const std::string anchor = "0.5, 0.5, 1, 1";
  auto said = [&](const std::string& more) { return check_text(boxes_text(anchor, more)).said; };
  EXPECT_THAT(said(", nms_iou_threshold = 0"), HasSubstr("nms_iou_threshold 0 is not above 0"));
  EXPECT_THAT(said(", nms_iou_threshold = 1.5"), HasSubstr("nms_iou_threshold 1.5"));
  EXPECT_THAT(said(", nms_iou_threshold = nan"), HasSubstr("nms_iou_threshold nan"));
  EXPECT_THAT(said(", nms_score_threshold = -inf"), HasSubstr("no finite number"));
  EXPECT_THAT(said(", y_scale = 0"), HasSubstr("a scale of boxes is 0"));
  EXPECT_THAT(said(", detections_per_class = 0"), HasSubstr("detections_per_class 0"));
  EXPECT_THAT(said(", max_classes_per_detection = 40000"), HasSubstr("outside of 1..65536"));
  EXPECT_THAT(check_text(boxes_text(anchor, "", "f32[1x1x4]")).said, HasSubstr("4 scores for 2 classes"));
  EXPECT_THAT(check_text(boxes_text(anchor, "", "f32[1x2x2]")).said, HasSubstr("1 boxes and scores"));
  EXPECT_THAT(check_text(boxes_text(anchor, "", "i8[1x1x2] quant(1, 0)")).said, HasSubstr("op-type"));
}

}  // namespace
}  // namespace aotc::ops
