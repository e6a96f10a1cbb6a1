// SPDX-License-Identifier: Apache-2.0
#include "ops/common/reduction.h"

#include <algorithm>

#include <fmt/format.h>

#include "ops/common/checks.h"

namespace aotc::ops {

bool ReduceFields::reduces(size_t dim) const {
  return std::binary_search(axes.begin(), axes.end(), static_cast<int64_t>(dim));
}

Result<std::vector<graph::Shape>> infer_reduction(const OpView& op, const ReduceFields& attrs, Diagnostics& diags) {
  const graph::Shape& in = op.operand(0).shape;
  int64_t last = -1;
  for (int64_t axis : attrs.axes) {
    if (axis <= last || axis >= static_cast<int64_t>(in.size())) {
      bad_attribute(op, diags,
                    fmt::format("{} are not ascending axes of a tensor of rank {}",
                                graph::attribute_text::print(attrs.axes), in.size()));
      return kFailure;
    }
    last = axis;
  }
  graph::Shape out;
  for (size_t i = 0; i < in.size(); ++i) {
    if (!attrs.reduces(i)) out.push_back(in[i]);
    if (attrs.reduces(i) && attrs.keep_dims) out.push_back(1);
  }
  return std::vector<graph::Shape>{out};
}

}  // namespace aotc::ops
