// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent/recurrent.h"

#include <fmt/format.h>

#include "ops/common/checks.h"

namespace aotc::ops {

std::vector<size_t> joined(std::vector<size_t> a, const std::vector<size_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

bool check_shape_of(const OpView& op, size_t operand, const graph::Shape& wanted, Diagnostics& diags) {
  if (!op.has_operand(operand) || op.operand(operand).shape == wanted) return true;
  return bad_shape(op, diags,
                   fmt::format("operand {} is {}, not {}", operand, graph::to_string(op.operand(operand).shape),
                               graph::to_string(wanted)));
}

bool check_second_input(const OpView& op, size_t second, Diagnostics& diags) {
  if (op.operand(second).shape == op.operand(0).shape) return true;
  return bad_shape(op, diags,
                   fmt::format("the input of the way back is {}, the other {}",
                               graph::to_string(op.operand(second).shape), graph::to_string(op.operand(0).shape)));
}

std::vector<ResultSpec> both_result_specs(std::initializer_list<std::string_view> states) {
  std::vector<ResultSpec> out = {{.name = "y"}, {.name = "y_backward", .optional = true}};
  for (std::string_view state : states) out.push_back({.name = state});
  return out;
}

std::vector<graph::Shape> both_results(const OpView& op, const std::vector<int64_t>& outputs, bool merged,
                                       const std::vector<graph::Shape>& states) {
  std::vector<graph::Shape> out;
  int64_t all = 0;
  for (int64_t depth : outputs) {
    all += depth;
    out.push_back(op.operand(0).shape);
    out.back()[2] = depth;
  }
  if (merged) {
    out.resize(1);
    out[0][2] = all;
  }
  out.insert(out.end(), states.begin(), states.end());
  return out;
}

}  // namespace aotc::ops
