// SPDX-License-Identifier: Apache-2.0
#include "ops/common/import.h"

#include <fmt/format.h>

#include "ops/common/checks.h"

namespace aotc::ops {

bool constant_ints(const OpView& op, size_t i, std::string_view what, size_t most, std::vector<int64_t>& out,
                   Diagnostics& diags, size_t rank) {
  const graph::ConstantView* constant = op.constant(i);
  if (constant == nullptr) {
    diags
        .error(op.where(), "op-attribute",
               fmt::format("the {} of {} (operand {}) must be constant", what, op.op.name(), i))
        .help("export the model so that this does not depend on the input");
    return false;
  }
  DType type = op.operand(i).dtype;
  if (type != DType::kI32 && type != DType::kI64)
    return bad_attribute(op, diags,
                         fmt::format("the {} of {} (operand {}) is {}, expected {}", what, op.op.name(), i,
                                     name_of(type), list_types({DType::kI32, DType::kI64})));
  const graph::Shape& shape = op.operand(i).shape;
  if (rank != kAnyRank && shape.size() != rank)
    return bad_attribute(op, diags,
                         fmt::format("the {} of {} (operand {}) has shape {}, expected rank {}", what, op.op.name(), i,
                                     graph::to_string(shape), rank));
  size_t count = constant->bytes.size() / static_cast<size_t>(size_of(type));
  if (count > most)
    return bad_attribute(op, diags,
                         fmt::format("the {} of {} (operand {}) has {} elements, expected at most {}", what,
                                     op.op.name(), i, count, most));
  out.clear();
  for (size_t k = 0; k < count; ++k) {
    auto at = static_cast<int64_t>(k);
    out.push_back(type == DType::kI32 ? constant->get<int32_t>(at) : constant->get<int64_t>(at));
  }
  return true;
}

bool constant_int(const OpView& op, size_t i, std::string_view what, int64_t& out, Diagnostics& diags) {
  std::vector<int64_t> values;
  if (!constant_ints(op, i, what, 1, values, diags, kAnyRank)) return false;
  if (values.size() != 1)
    return bad_attribute(op, diags, fmt::format("the {} of {} (operand {}) is empty", what, op.op.name(), i));
  out = values[0];
  return true;
}

bool constant_axis(const OpView& op, size_t i, size_t& axis, Diagnostics& diags) {
  int64_t value = 0;
  return constant_int(op, i, "axis", value, diags) &&
         normalize_axis(op, value, op.operand(0).shape.size(), axis, diags);
}

}  // namespace aotc::ops
