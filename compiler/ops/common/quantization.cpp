// SPDX-License-Identifier: Apache-2.0
#include "ops/common/quantization.h"

#include <cmath>

#include <fmt/format.h>

#include "ops/common/checks.h"

namespace aotc::ops {

using tir::Ex;

bool check_slices(const OpView& op, const graph::Tensor& tensor, Diagnostics& diags) {
  const graph::Quantization& q = tensor.type.quantization;
  if (!q.per_channel()) return check_per_tensor(op, tensor, diags);
  auto fail = [&](const std::string& why) {
    diags.error(op.where(), "op-quantization", fmt::format("tensor '{}' {}", escape_for_display(tensor.name), why));
    return false;
  };
  size_t rank = tensor.type.shape.size();
  if (q.axis < 0 || static_cast<size_t>(q.axis) >= rank ||
      tensor.type.shape[static_cast<size_t>(q.axis)] != static_cast<int64_t>(q.scale.size()))
    return fail(fmt::format("has {} scales along axis {}, which its shape {} does not have", q.scale.size(), q.axis,
                            graph::to_string(tensor.type.shape)));
  if (q.zero_point.size() > 1 && q.zero_point.size() != q.scale.size())
    return fail(fmt::format("has {} scales and {} zero points", q.scale.size(), q.zero_point.size()));
  IntRange range = int_range(tensor.type.dtype);
  for (float s : q.scale)
    if (!(s > 0.0f) || !std::isfinite(s)) return fail(fmt::format("has scale {}, which is not a positive number", s));
  for (int64_t z : q.zero_point)
    if (z < range.min || z > range.max)
      return fail(fmt::format("has zero point {}, outside {}", z, name_of(tensor.type.dtype)));
  return true;
}

Slices::Slices(const graph::TensorType& type) : quantization_(type.quantization) {
  if (!quantization_.per_channel()) {
    inner_ = static_cast<size_t>(type.elements());
    return;
  }
  count_ = quantization_.scale.size();
  auto axis = static_cast<size_t>(quantization_.axis);
  for (size_t d = 0; d < type.shape.size(); ++d) {
    if (d < axis) outer_ *= type.shape[d];
    if (d > axis) inner_ *= static_cast<size_t>(type.shape[d]);
  }
}

int32_t Slices::zero_point(size_t slice) const {
  const std::vector<int64_t>& z = quantization_.zero_point;
  if (z.empty()) return 0;
  return static_cast<int32_t>(z.size() == 1 ? z[0] : z[slice]);
}

SliceTables::SliceTables(LoweringBuilder& f, const Slices& slices) : slices_(slices) {
  std::vector<float> scales;
  std::vector<int32_t> zero_points;
  for (size_t c = 0; c < slices.count(); ++c) {
    scales.push_back(slices.scale(c));
    zero_points.push_back(slices.zero_point(c));
  }
  scales_ = f.constant("scales", DType::kF32, scales);
  zero_points_ = f.constant("zero_points", DType::kI32, zero_points);
}

void SliceTables::for_each(tir::FunctionBuilder& f, const Body& body) const {
  if (slices_.inner() == 0) return;
  auto count = static_cast<int64_t>(slices_.count());
  f.loop("o", 0, slices_.outer(), [&](const Ex& o) {
    f.loop("c", 0, count, [&](const Ex& c) {
      Ex scale = f.let("scale", load(scales_, c));
      Ex zero = f.let("zero", load(zero_points_, c));
      Ex first = (o * count + c) * slices_.inner();
      f.loop("i", 0, slices_.inner(), [&](const Ex& i) { body(first + i, scale, zero); });
    });
  });
}

}  // namespace aotc::ops
