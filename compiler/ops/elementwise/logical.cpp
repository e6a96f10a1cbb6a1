// SPDX-License-Identifier: Apache-2.0
// Operators on truth values, and the choice between two tensors by one.
#include "ops/elementwise/table.h"

namespace aotc::ops::elementwise {

namespace {

using tir::Ex;

// Any byte but 0 is true.
Ex chosen(const Element& e) { return select(e[0] != 0, e[1], e[2]); }

Row select_row(std::string_view name, std::string_view summary, Shapes shapes) {
  Row r{name,
        summary,
        3,
        {DType::kBool, DType::kI8, DType::kU8, DType::kI16, DType::kI32, DType::kI64, DType::kF32},
        chosen};
  r.condition = true;
  r.stored = Stored::kCopied;
  r.shapes = shapes;
  r.note = "one quantisation throughout";
  return r;
}

}  // namespace

std::span<const Row> logical_rows() {
  static const Row rows[] = {
      {"logical_and", "a and b, broadcasting", 2, {DType::kBool}, [](const Element& e) { return e[0] && e[1]; }},
      {"logical_or", "a or b, broadcasting", 2, {DType::kBool}, [](const Element& e) { return e[0] || e[1]; }},
      {"logical_not", "not x", 1, {DType::kBool}, [](const Element& e) { return e[0] == 0; }},
      select_row("select", "a where the condition holds, else b; one condition may rule a row",
                 Shapes::kLeadingCondition),
      select_row("select_v2", "a where the condition holds, else b; broadcasting", Shapes::kBroadcast),
  };
  return rows;
}

}  // namespace aotc::ops::elementwise
