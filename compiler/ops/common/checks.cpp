// SPDX-License-Identifier: Apache-2.0
#include "ops/common/checks.h"

#include <cmath>

#include <fmt/format.h>

namespace aotc::ops {

namespace {

std::string plural(size_t n, const char* word) { return fmt::format("{} {}{}", n, word, n == 1 ? "" : "s"); }

}  // namespace

std::string list_types(std::span<const DType> types) {
  std::string out;
  size_t i = 0;
  for (DType t : types) {
    if (i > 0) out += i + 1 == types.size() ? " or " : ", ";
    out += name_of(t);
    ++i;
  }
  return out;
}

bool check_counts(const OpView& op, size_t least, size_t most, size_t results, Diagnostics& diags) {
  size_t have = op.operand_count();
  bool present = have >= least && have <= most;
  for (size_t i = 0; present && i < least; ++i) present = op.has_operand(i);
  if (!present) {
    std::string wanted =
        least == most ? plural(least, "operand") : fmt::format("{} to {}", least, plural(most, "operand"));
    diags.error(op.where(), "op-operands", fmt::format("{} takes {}, the model gives {}", op.op.name(), wanted, have));
    return false;
  }
  if (op.op.results.size() != results) {
    diags.error(
        op.where(), "op-operands",
        fmt::format("{} has {}, the model lists {}", op.op.name(), plural(results, "result"), op.op.results.size()));
    return false;
  }
  return true;
}

bool check_type(const OpView& op, size_t i, std::span<const DType> allowed, Diagnostics& diags) {
  DType have = op.operand(i).dtype;
  for (DType t : allowed)
    if (t == have) return true;
  diags
      .error(
          op.where(), "op-type",
          fmt::format("operand {} ('{}') of {} is {}; supported: {}", i, escape_for_display(op.operand_tensor(i).name),
                      op.op.name(), name_of(have), list_types(allowed)))
      .help("'aotc ops' lists the types of every operator");
  return false;
}

bool check_result_type(const OpView& op, size_t i, DType wanted, Diagnostics& diags) {
  if (op.result(i).dtype == wanted) return true;
  diags.error(
      op.where(), "op-type",
      fmt::format("result {} of {} is {}, expected {}", i, op.op.name(), name_of(op.result(i).dtype), name_of(wanted)));
  return false;
}

bool check_rank(const OpView& op, size_t i, size_t least, size_t most, Diagnostics& diags) {
  size_t rank = op.operand(i).shape.size();
  if (rank >= least && rank <= most) return true;
  std::string wanted = least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
  diags.error(op.where(), "op-shape",
              fmt::format("operand {} of {} has rank {} ({}), expected {}", i, op.op.name(), rank,
                          graph::to_string(op.operand(i).shape), wanted));
  return false;
}

bool check_per_tensor(const OpView& op, const graph::Tensor& tensor, Diagnostics& diags) {
  const graph::Quantization& q = tensor.type.quantization;
  auto fail = [&](const std::string& why) {
    diags.error(op.where(), "op-quantization", fmt::format("tensor '{}' {}", escape_for_display(tensor.name), why))
        .help("quantise the model with full integer post-training quantisation");
    return false;
  };
  if (!q.present()) return fail("is an integer tensor without quantisation parameters");
  if (q.scale.size() != 1 || q.zero_point.size() != 1)
    return fail("is quantised per channel where one scale is needed");
  if (!(q.scale[0] > 0.0f) || !std::isfinite(q.scale[0]))
    return fail(fmt::format("has scale {}, which is not a positive number", q.scale[0]));
  IntRange range = int_range(tensor.type.dtype);
  if (q.zero_point[0] < range.min || q.zero_point[0] > range.max)
    return fail(fmt::format("has zero point {}, outside {}", q.zero_point[0], name_of(tensor.type.dtype)));
  return true;
}

bool has_scale(DType type) { return type == DType::kI8 || type == DType::kU8 || type == DType::kI16; }

bool check_quantized_io(const OpView& op, Diagnostics& diags) {
  bool good = true;
  for (size_t i = 0; i < op.operand_count(); ++i)
    if (op.has_operand(i) && has_scale(op.operand(i).dtype))
      good = check_per_tensor(op, op.operand_tensor(i), diags) && good;
  for (graph::TensorId id : op.op.results)
    if (has_scale(op.graph[id].type.dtype)) good = check_per_tensor(op, op.graph[id], diags) && good;
  return good;
}

bool check_symmetric_io(const OpView& op, Diagnostics& diags) {
  auto check = [&](const graph::Tensor& tensor) {
    if (tensor.type.dtype != DType::kI16 || tensor.type.zero_point() == 0) return true;
    diags
        .error(op.where(), "op-quantization",
               fmt::format("tensor '{}' is int16 with zero point {}; {} takes 0 only", escape_for_display(tensor.name),
                           tensor.type.zero_point(), op.op.name()))
        .help("LiteRT refuses it as well; quantise int16 symmetrically");
    return false;
  };
  bool good = true;
  for (size_t i = 0; i < op.operand_count(); ++i)
    if (op.has_operand(i)) good = check(op.operand_tensor(i)) && good;
  for (graph::TensorId id : op.op.results) good = check(op.graph[id]) && good;
  return good;
}

bool check_same_quantization(const OpView& op, size_t operand, size_t result, Diagnostics& diags) {
  const graph::Quantization& a = op.operand(operand).quantization;
  const graph::Quantization& b = op.result(result).quantization;
  if (a.scale == b.scale && a.zero_point == b.zero_point) return true;
  diags.error(op.where(), "op-quantization",
              fmt::format("{} copies values, but its operand {} and result {} are quantised "
                          "differently",
                          op.op.name(), operand, result));
  return false;
}

bool bad_attribute(const OpView& op, Diagnostics& diags, const std::string& message) {
  diags.error(op.where(), "op-attribute", message);
  return false;
}

bool bad_shape(const OpView& op, Diagnostics& diags, const std::string& message) {
  diags.error(op.where(), "op-shape", message);
  return false;
}

bool normalize_axis(const OpView& op, int64_t axis, size_t rank, size_t& out, Diagnostics& diags) {
  int64_t r = static_cast<int64_t>(rank);
  if (axis < -r || axis >= r)
    return bad_attribute(op, diags, fmt::format("axis {} is outside a tensor of rank {}", axis, rank));
  out = static_cast<size_t>(axis < 0 ? axis + r : axis);
  return true;
}

}  // namespace aotc::ops
