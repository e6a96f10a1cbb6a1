// SPDX-License-Identifier: Apache-2.0
#include "ops/common/resize.h"

#include <fmt/format.h>

#include "ops/common/checks.h"

namespace aotc::ops {

namespace {

// Float32 positions are exact enough to agree with LiteRT up to here.
constexpr int64_t kMostPixels = int64_t{1} << 24;

bool possible(int64_t n) { return n >= 1 && n <= kMostPixels; }

}  // namespace

Result<std::vector<graph::Shape>> infer_resize(const OpView& op, Diagnostics& diags) {
  const auto& attrs = op.attrs<ResizeAttrs>();
  const graph::Shape& in = op.operand(0).shape;
  if (!possible(attrs.height) || !possible(attrs.width) || !possible(in[1]) || !possible(in[2])) {
    bad_attribute(op, diags,
                  fmt::format("cannot resize {} to {} x {}", graph::to_string(in), attrs.height, attrs.width));
    return kFailure;
  }
  return std::vector<graph::Shape>{{in[0], attrs.height, attrs.width, in[3]}};
}

}  // namespace aotc::ops
