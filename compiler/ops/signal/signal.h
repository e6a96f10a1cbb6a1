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

// Their evaluation is the lowering.
template <typename Base>
class SignalOperator : public Base {
 public:
  using Base::Base;
  void evaluate(const OpView& op, const EvalData& data) const override { evaluate_lowering(op, data); }
};
using SignalFunction = SignalOperator<SpecifiedOperator>;
using StatefulSignal = SignalOperator<StatefulOperator>;

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
