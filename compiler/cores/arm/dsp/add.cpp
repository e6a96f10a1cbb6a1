// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/dsp/add.h"

#include "cores/arm/dsp/elementwise.h"
#include "cores/arm/dsp/lowerings.h"

namespace aotc::cores::arm {

bool is_plain_sum(const OpView& op, const TargetInfo&) {
  const bool number = op.result().elements() == 1 && (op.constant(0) || op.constant(1));
  return op.operand(0).dtype == DType::kI8 && op.operand(0).shape == op.operand(1).shape && !number;
}

std::optional<Lowered> DspSumLowering::run_kernel(const AffineForm& form) {
  const int64_t elements = op_.result().elements();
  if (!saturates() || elements == 0 || elements % DspSum::kUnroll != 0) return std::nullopt;
  tir::BufferPtr a = f_.operand(0), b = f_.operand(1);
  const Turns turns = turns_of(elements, DspSum::kInstructions, target_, DspSum::kUnroll);
  const TurnTables tables(f_, turns, "table", [&](int64_t count) { return dsp_sum_table(form, count); });
  tir::BufferPtr result = f_.result();
  f_.take_turns(turns, [&](const tir::Ex& at, int64_t count) {
    f_.run(dsp_sum_kernel(form.shift),
           {address(a, at), address(b, at), address(result, at), address(tables.of(count), 0)});
  });
  publish_in_place(f_, op_);
  return f_.finish("weighted sum, saturated by the shift, proven equal for all pairs");
}

std::optional<Lowered> lower_sum_dsp(const OpView& op, const TargetInfo& target) {
  return DspSumLowering(op, target).run();
}

}  // namespace aotc::cores::arm
