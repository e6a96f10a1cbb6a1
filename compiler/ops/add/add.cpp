// SPDX-License-Identifier: Apache-2.0
// add and sub, with broadcasting and a fused activation.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "ops/add/sum.h"
#include "ops/common/binary.h"
#include "ops/common/checks.h"
#include "ops/common/fixed_scale.h"

namespace aotc::ops {

namespace {

using tir::Ex;

// int16 with `shift_only`: the reference's arithmetic for fixed point formats.
struct ShiftedSum {
  std::array<int, 2> right{};
  ClampI32 clamp;
  bool subtract;

  // Nothing if the scales are no such formats.
  static std::optional<ShiftedSum> of(const OpView& op, bool subtract) {
    std::array<std::optional<int>, 3> logs = {whole_log2(op.operand(0).scale()), whole_log2(op.operand(1).scale()),
                                              whole_log2(op.result().scale())};
    if (!logs[0] || !logs[1] || !logs[2]) return std::nullopt;
    ShiftedSum out;
    for (size_t i = 0; i < 2; ++i) out.right[i] = *logs[2] - *logs[i];
    auto [least, most] = std::minmax(out.right[0], out.right[1]);
    if (least != 0 || most > 15) return std::nullopt;
    out.clamp = quantized_clamp(op.attrs<BinaryAttrs>().activation, op.result());
    out.subtract = subtract;
    return out;
  }

  int64_t operator()(int64_t a, int64_t b) const {
    int64_t x = rounding_divide_by_pot(static_cast<int32_t>(a), right[0]);
    int64_t y = rounding_divide_by_pot(static_cast<int32_t>(b), right[1]);
    return std::clamp<int64_t>(subtract ? x - y : x + y, clamp.min, clamp.max);
  }

  Lowered lower(const OpView& op, const std::string& name) const {
    return lower_binary(op, name, [&](const Ex& a, const Ex& b) {
      Ex x = shifted(a, right[0]), y = shifted(b, right[1]);
      return emit_bound(subtract ? x - y : x + y, clamp);
    });
  }

 private:
  static Ex shifted(const Ex& x, int right) { return right == 0 ? x : (x + (1 << (right - 1)) - (x < 0)) >> right; }
};

class AddOrSub : public BinaryArithmetic, public Fusable, public Prunable {
 public:
  AddOrSub(std::string_view name, std::string_view summary, bool subtract)
      : BinaryArithmetic(name, summary), subtract_(subtract) {}

  std::optional<size_t> as_addition(const OpView& op) const override {
    if (subtract_ || op.result().dtype != DType::kF32 || op.result().shape.empty()) return std::nullopt;
    const int64_t row = op.result().shape.back();
    for (size_t i : {0, 1}) {
      if (op.constant(i) == nullptr || op.operand(i).shape.empty()) continue;
      const bool a_row = op.operand(i).elements() == row && op.operand(i).shape.back() == row;
      if (a_row && op.operand(1 - i).shape == op.result().shape) return i;
    }
    return std::nullopt;
  }

  ChannelFlow channel_flow(const OpView& op) const override {
    return op.operand(0).dtype == DType::kI8 ? ChannelFlow::kEach : ChannelFlow::kOpaque;
  }

  // Both multipliers are positive and only shift right: monotone in each operand.
  ChannelRanges channel_ranges(const OpView& op, const std::vector<ChannelRanges>& operands) const override {
    auto element = quantized(op);
    ChannelRanges out;
    for (size_t c = 0; c < operands[0].size(); ++c) {
      ValueRange a = operands[0][c], b = operands[1][c];
      if (subtract_) std::swap(b.low, b.high);
      out.push_back({static_cast<int32_t>(element(a.low, b.low)), static_cast<int32_t>(element(a.high, b.high))});
    }
    return out;
  }

 protected:
  // The reference's sum of two shifted operands does not broadcast.
  bool verify_shifts(const OpView& op, Diagnostics& diags) const {
    if (!ShiftedSum::of(op, subtract_)) {
      diags.error(op.where(), "op-quantization",
                  fmt::format("{} of int16 in powers of two takes one operand of the result's scale {:g}, "
                              "and another of this or a smaller one down to 2^-15 of it",
                              op.op.name(), op.result().scale()));
      return false;
    }
    if (subtract_ || op.operand(0).shape == op.operand(1).shape) return true;
    return bad_shape(op, diags, "add of int16 in powers of two does not broadcast");
  }

  bool verify_quantized(const OpView& op, Diagnostics& diags) const override {
    if (op.attrs<BinaryAttrs>().shift_only) return verify_shifts(op, diags);
    if (op.attrs<BinaryAttrs>().rounding != PairRounding::kLitert) {
      FloatSum exact(op);
      if (!subtract_ && std::isfinite(exact.fixed)) return true;
      bad_attribute(op, diags, subtract_ ? "sub has no rounding = onnxruntime" : "its scales are no ratio of float32");
      return false;
    }
    Sum sum(op);
    // From 1 on the reference's arithmetic is undefined.
    if (std::isfinite(sum.out_real) && quantize_multiplier(sum.out_real).shift <= 0) return true;
    diags
        .error(op.where(), "op-quantization",
               fmt::format("result scale {:g} of {} is too small for operands of scale {:g} and {:g}",
                           op.result().scale(), op.op.name(), op.operand(0).scale(), op.operand(1).scale()))
        .help("re-quantise the model; the result's range does not hold any sum of the operands");
    return false;
  }

  std::function<int64_t(int64_t, int64_t)> quantized(const OpView& op) const override {
    if (op.attrs<BinaryAttrs>().shift_only) return *ShiftedSum::of(op, subtract_);
    if (op.attrs<BinaryAttrs>().rounding != PairRounding::kLitert) return FloatSum(op);
    return [sum = Sum(op), subtract = subtract_](int64_t a, int64_t b) {
      int32_t y = sum.operand(1, b);
      return sum.result(sum.operand(0, a) + (subtract ? -y : y));
    };
  }

  Lowered lower_quantized(const OpView& op, const TargetInfo&) const override {
    if (op.attrs<BinaryAttrs>().shift_only) return ShiftedSum::of(op, subtract_)->lower(op, std::string(name()));
    return SumLowering(op, std::string(name()), subtract_).run();
  }

 private:
  bool subtract_;
};

class Add final : public AddOrSub {
 public:
  Add() : AddOrSub("add", "sum of two tensors, broadcasting", false) {}

 protected:
  float compute(float a, float b) const override { return a + b; }
  uint64_t compute(uint64_t a, uint64_t b) const override { return a + b; }
  Ex emit(const Ex& a, const Ex& b) const override { return a.type() == DType::kF32 ? a + b : add_wrapping(a, b); }
};

class Sub final : public AddOrSub {
 public:
  Sub() : AddOrSub("sub", "difference of two tensors, broadcasting", true) {}

 protected:
  float compute(float a, float b) const override { return a - b; }
  uint64_t compute(uint64_t a, uint64_t b) const override { return a - b; }
  Ex emit(const Ex& a, const Ex& b) const override { return a.type() == DType::kF32 ? a - b : sub_wrapping(a, b); }
};

}  // namespace

void add_operators_add(OperatorSet& set) {
  set.add(std::make_unique<Add>());
  set.add(std::make_unique<Sub>());
}

}  // namespace aotc::ops
