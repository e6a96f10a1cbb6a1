// SPDX-License-Identifier: Apache-2.0
// Base of operators that aotc only computes itself, while it compiles: what works out shapes. The
// one thing to know: they have an evaluation and no lowering, so whoever leaves one in a graph that
// is to become code has to refuse it (ops/constants.h).
#pragma once

#include "ops/signature.h"

namespace aotc::ops {

// What `aotc ops` says of a type that has an evaluation and no lowering.
inline constexpr const char* kConstantsOnly = "constants only";

class ConstantsOnly : public SpecifiedOperator {
 public:
  using SpecifiedOperator::SpecifiedOperator;
  // The types of the signature, each with that note.
  std::vector<TypeSupport> types() const override;
  bool has_lowering(const OpView&) const final { return false; }
  Lowered lower(const OpView&, const TargetInfo&) const final { return {}; }
};

// The elements of operand `i`, int32 or int64, as what they are: the dimensions of a result. Reports
// [op-attribute] if the operand is not constant, has more than kMostAxes elements, or one is
// negative.
bool constant_shape(const OpView& op, size_t i, std::string_view what, graph::Shape& out, Diagnostics& diags);

}  // namespace aotc::ops
