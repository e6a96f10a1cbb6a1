// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite Micro's signal operators: the audio front end in front of a model. The one thing
// to know: each is stated once, as TIR, with the reference's own integer steps; what it computes is
// found in its lowering only.
#pragma once

#include "ops/common/checks.h"
#include "ops/common/lowered_evaluation.h"
#include "ops/operator.h"
#include "ops/signature.h"

namespace aotc::ops {

// What all of them share: evaluation is the lowering.
class SignalOperator : public Operator {
 public:
  void evaluate(const OpView& op, const EvalData& data) const override { evaluate_lowering(op, data); }
  std::shared_ptr<graph::AttributesBase> default_attributes() const override {
    return std::make_shared<graph::NoAttributes>();
  }

 protected:
  using Shapes = Result<std::vector<graph::Shape>>;
  // Operand 0 and result i have the types, the others are the operator's affair.
  static Status check_types(const OpView& op, std::initializer_list<DType> operands,
                            std::initializer_list<DType> results, Diagnostics& diags);
};

// The same, of operators with a signature.
class SignalFunction : public SpecifiedOperator {
 public:
  using SpecifiedOperator::SpecifiedOperator;
  void evaluate(const OpView& op, const EvalData& data) const override { evaluate_lowering(op, data); }
};

// With attributes that are custom options of the same names: int32_t are whole numbers, bool is a bool.
template <typename Attrs>
class SignalOperatorOf : public SignalOperator {
 public:
  std::shared_ptr<graph::AttributesBase> default_attributes() const override { return std::make_shared<Attrs>(); }
};

inline tir::Ex u32(int64_t v) { return tir::imm(DType::kU32, v); }
// Of an u32 > 0: the number of bits up to the highest that is set, as u32.
tir::Ex emit_significant_bits(LoweringBuilder& f, const tir::Ex& x);

void add_signal_window(OperatorSet& set);
void add_signal_fft_auto_scale(OperatorSet& set);
void add_signal_energy(OperatorSet& set);
void add_signal_fft(OperatorSet& set);
void add_signal_filter_bank(OperatorSet& set);
void add_signal_square_root(OperatorSet& set);
void add_signal_spectral_subtraction(OperatorSet& set);
void add_signal_pcan(OperatorSet& set);
void add_signal_log(OperatorSet& set);
void add_signal_frames(OperatorSet& set);
void add_signal_overlap_add(OperatorSet& set);

}  // namespace aotc::ops
