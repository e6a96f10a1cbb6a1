// SPDX-License-Identifier: Apache-2.0
// Base of operators that aotc only computes itself, while it compiles: what works out shapes. The
// one thing to know: they have an evaluation and no lowering, so whoever leaves one in a graph that
// is to become code has to refuse it (ops/constants.h).
#pragma once

#include "ops/operator.h"

namespace aotc::ops {

// What `aotc ops` says of a type that has an evaluation and no lowering.
inline constexpr const char* kConstantsOnly = "constants only";

class ConstantsOnly : public Operator {
 public:
  bool has_lowering(const OpView&) const final { return false; }
  Lowered lower(const OpView&, const TargetInfo&) const final { return {}; }
  std::shared_ptr<graph::AttributesBase> default_attributes() const override {
    return std::make_shared<graph::NoAttributes>();
  }
};

// The types, each with that note.
std::vector<TypeSupport> constants_only(std::initializer_list<DType> types);

// The elements of operand `i`, int32 or int64, as what they are: the dimensions of a result. Reports
// [op-attribute] if the operand is not constant, has more than kMostAxes elements, or one is
// negative.
bool constant_shape(const OpView& op, size_t i, std::string_view what, graph::Shape& out, Diagnostics& diags);

}  // namespace aotc::ops
