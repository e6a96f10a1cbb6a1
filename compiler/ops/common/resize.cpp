// SPDX-License-Identifier: Apache-2.0
#include "ops/common/resize.h"

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/import.h"
#include "ops/tflite_op.h"

namespace aotc::ops {

namespace {

// Float32 positions are exact enough to agree with LiteRT up to here.
constexpr int64_t kMostPixels = int64_t{1} << 24;

bool possible(int64_t n) { return n >= 1 && n <= kMostPixels; }

}  // namespace

Result<std::vector<graph::Shape>> infer_resize(const OpView& op, Diagnostics& diags) {
  if (!check_counts(op, 1, 1, 1, diags) || !check_rank(op, 0, 4, 4, diags)) return kFailure;
  const auto& attrs = op.attrs<ResizeAttrs>();
  const graph::Shape& in = op.operand(0).shape;
  if (!possible(attrs.height) || !possible(attrs.width) || !possible(in[1]) || !possible(in[2])) {
    bad_attribute(
        op, diags,
        fmt::format("cannot resize {} to {} x {}", graph::to_string(in), attrs.height, attrs.width));
    return kFailure;
  }
  return std::vector<graph::Shape>{{in[0], attrs.height, attrs.width, in[3]}};
}

Status import_resize(const TfliteOp& from, graph::Op& op, bool align_corners, bool half_pixel_centers,
                     Diagnostics& diags) {
  auto attrs = std::make_shared<ResizeAttrs>();
  op.attributes = attrs;
  OpView view{from.graph(), op};
  std::vector<int64_t> size;
  if (!check_counts(view, 2, 2, 1, diags) || !constant_ints(view, 1, "size", 2, size, diags))
    return kFailure;
  if (size.size() != 2 || !possible(size[0]) || !possible(size[1])) {
    bad_attribute(view, diags,
                  fmt::format("{} is not a size of images", graph::attribute_text::print(size)));
    return kFailure;
  }
  attrs->height = static_cast<int32_t>(size[0]);
  attrs->width = static_cast<int32_t>(size[1]);
  attrs->align_corners = align_corners;
  attrs->half_pixel_centers = half_pixel_centers;
  op.operands.resize(1);
  return success();
}

}  // namespace aotc::ops
