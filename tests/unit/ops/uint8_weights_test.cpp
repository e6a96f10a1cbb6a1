// SPDX-License-Identifier: Apache-2.0
// Which lowering layers with uint8 weights get on a core with the DSP extension.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "cores/cpu.h"
#include "graph/graph.h"
#include "ops/operator.h"

namespace aotc::ops {
namespace {

// Of a transposed convolution from four to two channels, whose weights have this zero point.
std::string transpose_conv_algorithm(int zero_point) {
  std::string weights;
  for (int i = 0; i < 2 * 3 * 3 * 4; ++i) weights += fmt::format("{}{}", i > 0 ? ", " : "", i * 97 % 256);
  Diagnostics diags;
  auto graph = graph::parse(
      fmt::format("graph \"g\" {{\ninput %0 \"x\" i8[1x4x4x4] quant(0.05, 3)\n"
                  "const %1 \"w\" u8[2x3x3x4] quant(0.01, {}) = [{}]\n"
                  "%2 \"y\" i8[1x8x8x2] quant(0.3, 0) = transpose_conv(%0, %1) {{height = 8, width = 8, stride_h = 2, "
                  "stride_w = 2}}\noutput %2\n}}\n",
                  zero_point, weights),
      "test", definition_lookup(), diags);
  if (!graph.ok() || !verify_graph(*graph, diags)) return diags.str();
  TargetInfo target;
  cores::extend(target, "arm", [](std::string_view feature) { return feature == "dsp"; });
  return lower(OpView{*graph, graph->ops[0]}, target).schedule.algorithm;
}

TEST(Uint8Weights, TransposedConvolutionsRunTheKernelsOfInt8WhereWeightsAreBytesWithoutTheirZeroPoint) {
  EXPECT_EQ(transpose_conv_algorithm(128), "pairs");
  EXPECT_NE(transpose_conv_algorithm(0), "pairs");
}

}  // namespace
}  // namespace aotc::ops
