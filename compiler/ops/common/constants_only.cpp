// SPDX-License-Identifier: Apache-2.0
#include "ops/common/constants_only.h"

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/import.h"

namespace aotc::ops {

std::vector<TypeSupport> ConstantsOnly::types() const {
  std::vector<TypeSupport> out = SpecifiedOperator::types();
  for (TypeSupport& t : out) t.note = kConstantsOnly;
  return out;
}

bool constant_shape(const OpView& op, size_t i, std::string_view what, graph::Shape& out, Diagnostics& diags) {
  if (!constant_ints(op, i, what, kMostAxes, out, diags)) return false;
  for (int64_t d : out)
    if (d < 0 || d > INT32_MAX)
      return bad_attribute(op, diags, fmt::format("the {} of {} are {}", what, op.op.name(), graph::to_string(out)));
  return true;
}

}  // namespace aotc::ops
