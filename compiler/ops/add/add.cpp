// SPDX-License-Identifier: Apache-2.0
// add and sub, with broadcasting and a fused activation.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "ops/common/affine.h"
#include "ops/common/binary.h"
#include "ops/common/checks.h"
#include "ops/common/dsp_elementwise.h"
#include "ops/common/fixed_scale.h"
#include "ops/common/mve_elementwise.h"
#include "ops/common/pair_budget.h"
#include "ops/common/scaler.h"
#include "ops/tflite_op.h"

namespace aotc::ops {

namespace {

using tir::Ex;

// The fixed-point form of a sum: both operands go to 2^20 (int16: 2^15) times a common scale, twice
// the larger of theirs; the sum is scaled to the result.
struct Sum {
  int headroom;
  std::array<int32_t, 2> zero;
  std::array<double, 2> in_real;
  std::array<QuantizedMultiplier, 2> in;
  double out_real;
  QuantizedMultiplier out;
  int32_t zero_out;
  ClampI32 clamp;

  explicit Sum(const OpView& op) : headroom(op.operand(0).dtype == DType::kI16 ? 15 : 20) {
    float twice = 2.0f * std::max(op.operand(0).scale(), op.operand(1).scale());
    for (size_t i = 0; i < 2; ++i) {
      zero[i] = op.operand(i).zero_point();
      in_real[i] = static_cast<double>(op.operand(i).scale()) / static_cast<double>(twice);
    }
    float out_scale = static_cast<float>(1 << headroom) * op.result().scale();
    out_real = static_cast<double>(twice) / static_cast<double>(out_scale);
    if (!std::isfinite(out_real)) return;
    for (size_t i = 0; i < 2; ++i) in[i] = quantize_multiplier(in_real[i]);
    out = quantize_multiplier(out_real);
    zero_out = op.result().zero_point();
    clamp = quantized_clamp(op.attrs<BinaryAttrs>().activation, op.result());
  }

  int32_t operand(size_t i, int64_t q) const {
    auto shifted = static_cast<int32_t>((q - zero[i]) * (1 << headroom));
    return multiply_by_quantized_multiplier(shifted, in[i]);
  }
  int64_t result(int32_t sum) const {
    int64_t v = multiply_by_quantized_multiplier(sum, out);
    return std::clamp<int64_t>(v + zero_out, clamp.min, clamp.max);
  }
  // The operand of the larger scale has multiplier one half: a shift.
  bool only_shifts(size_t i) const { return in[i].multiplier == 1 << 30 && in[i].shift == 0; }
};

class SumLowering {
 public:
  SumLowering(const OpView& op, const std::string& name, bool subtract)
      : op_(op), subtract_(subtract), sum_(op), f_(op, name) {}

  Lowered run(const TargetInfo& target) {
    bool bytes = op_.operand(0).dtype == DType::kI8;
    if (auto form = bytes ? affine() : std::nullopt) {
      if (fits_vectors(*form, target)) return run_vectors(*form);
      return fits_dsp(target) ? run_dsp(*form) : run_affine(*form);
    }
    std::array<tir::BufferPtr, 2> in = {f_.operand(0), f_.operand(1)};
    std::array<size_t, 2> zero;
    std::array<std::optional<Scaler>, 2> scaler;
    for (size_t i = 0; i < 2; ++i) {
      zero[i] = p_.add(i == 0 ? "a_zero" : "b_zero", sum_.zero[i]);
      if (!sum_.only_shifts(i)) scaler[i].emplace(p_, i == 0 ? "a" : "b", sum_.in[i], sum_.headroom);
    }
    Scaler out(p_, "out", sum_.out);
    size_t zero_out = p_.add("out_zero", sum_.zero_out);
    p_.load(f_);
    tir::BufferPtr result = f_.result();
    // Two operands that only shift are added first and shifted once.
    bool shift_sum = !scaler[0] && !scaler[1];
    Broadcast nest(op_);
    nest.emit(
        f_, result,
        [&](size_t i, const Ex& index) {
          Ex d = f_.let(i == 0 ? "a" : "b", load(in[i], index) - p_[zero[i]]);
          if (shift_sum) return d;
          return scaler[i] ? scaler[i]->emit(f_, d) : f_.let("y", d * (1 << (sum_.headroom - 1)));
        },
        [&](const std::vector<Ex>& v) {
          Ex sum = subtract_ ? v[0] - v[1] : v[0] + v[1];
          if (shift_sum) sum = sum * (1 << (sum_.headroom - 1));
          return emit_bound(out.emit(f_, f_.let("sum", sum)) + p_[zero_out], sum_.clamp);
        });
    publish_in_place(f_, op_);
    return f_.finish(shift_sum ? "fixed point, equal scales" : "fixed point");
  }

 private:
  std::optional<AffineForm> affine() const {
    if (!PairBudget::any()) return std::nullopt;
    std::array<std::array<int32_t, 256>, 2> scaled;
    for (size_t i = 0; i < 2; ++i)
      for (size_t q = 0; q < 256; ++q)
        scaled[i][q] = sum_.operand(i, static_cast<int64_t>(q) - 128);
    std::vector<int8_t> wanted(65536);
    int8_t* to = wanted.data();
    PairBudget::spend(65536);
    const RoundedTwice result(sum_.out, sum_.zero_out, sum_.clamp);
    for (int64_t a : scaled[0])
      for (int64_t b : scaled[1]) *to++ = static_cast<int8_t>(result(subtract_ ? a - b : a + b));
    std::array<double, 2> slope;
    double constant = sum_.zero_out;
    for (size_t i = 0; i < 2; ++i) {
      double ratio =
          static_cast<double>(op_.operand(i).scale()) / static_cast<double>(op_.result().scale());
      slope[i] = subtract_ && i == 1 ? -ratio : ratio;
      constant -= slope[i] * sum_.zero[i];
    }
    return fit_affine(wanted, slope, constant, sum_.clamp);
  }

  Lowered run_affine(const AffineForm& form) {
    std::array<tir::BufferPtr, 2> in = {f_.operand(0), f_.operand(1)};
    std::array<size_t, 2> weight = {p_.add("a_weight", form.weight[0]),
                                    p_.add("b_weight", form.weight[1])};
    size_t offset = p_.add("offset", form.offset);
    size_t shift = p_.add("shift", form.shift);
    p_.load(f_);
    tir::BufferPtr result = f_.result();
    Broadcast(op_).emit(
        f_, result,
        [&](size_t i, const Ex& index) {
          return f_.let(i == 0 ? "a" : "b", load(in[i], index) * p_[weight[i]]);
        },
        [&](const std::vector<Ex>& v) {
          Ex y = f_.let("y", (v[0] + p_[offset] + v[1]) >> p_[shift]);
          return emit_bound(y, sum_.clamp, form.least, form.most);
        });
    publish_in_place(f_, op_);
    return f_.finish("weighted sum in 32 bits, proven equal for all pairs");
  }

  // Shapes without broadcasting, and no clamp but the saturation of bytes.
  bool is_plain() const {
    bool flat = op_.operand(0).shape == op_.operand(1).shape;
    return flat && sum_.clamp.min == -128 && sum_.clamp.max == 127;
  }

  bool fits_vectors(const AffineForm& form, const TargetInfo& target) const {
    return target.mve && is_plain() && mve_sum_fits(form);
  }

  bool fits_dsp(const TargetInfo& target) const {
    int64_t elements = op_.result().elements();
    return target.dsp && is_plain() && elements > 0 && elements % DspSum::kUnroll == 0;
  }

  Lowered run_dsp(const AffineForm& form) {
    tir::BufferPtr a = f_.operand(0), b = f_.operand(1);
    tir::BufferPtr table =
        f_.constant("table", DType::kI32, dsp_sum_table(form, op_.result().elements()));
    tir::BufferPtr result = f_.result();
    f_.run(dsp_sum_kernel(form.shift),
           {address(a, 0), address(b, 0), address(result, 0), address(table, 0)});
    publish_in_place(f_, op_);
    return f_.finish("weighted sum, saturated by the shift, proven equal for all pairs");
  }

  Lowered run_vectors(const AffineForm& form) {
    tir::BufferPtr a = f_.operand(0), b = f_.operand(1);
    int64_t elements = op_.result().elements();
    tir::BufferPtr parameters = f_.constant("parameters", DType::kI32, mve_sum_table(form, elements));
    tir::BufferPtr result = f_.result();
    f_.run(mve_sum_kernel(form.shift),
           {address(a, 0), address(b, 0), address(result, 0), address(parameters, 0)});
    publish_in_place(f_, op_);
    return f_.finish("weighted sum in vectors, proven equal for all pairs");
  }

  const OpView& op_;
  bool subtract_;
  Sum sum_;
  LoweringBuilder f_;
  Parameters p_;
};

// int16 with `shift_only`: the reference's arithmetic for fixed point formats.
struct ShiftedSum {
  std::array<int, 2> right{};
  ClampI32 clamp;
  bool subtract;

  // Nothing if the scales are no such formats.
  static std::optional<ShiftedSum> of(const OpView& op, bool subtract) {
    std::array<std::optional<int>, 3> logs = {whole_log2(op.operand(0).scale()),
                                              whole_log2(op.operand(1).scale()),
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
  static Ex shifted(const Ex& x, int right) {
    return right == 0 ? x : (x + (1 << (right - 1)) - (x < 0)) >> right;
  }
};

class AddOrSub : public BinaryArithmetic {
 public:
  explicit AddOrSub(bool subtract) : subtract_(subtract) {}

  ChannelFlow channel_flow(const OpView& op) const override {
    return op.operand(0).dtype == DType::kI8 ? ChannelFlow::kEach : ChannelFlow::kOpaque;
  }

  // Both multipliers are positive and only shift right: monotone in each operand.
  ChannelRanges channel_ranges(const OpView& op,
                               const std::vector<ChannelRanges>& operands) const override {
    auto element = quantized(op);
    ChannelRanges out;
    for (size_t c = 0; c < operands[0].size(); ++c) {
      ValueRange a = operands[0][c], b = operands[1][c];
      if (subtract_) std::swap(b.low, b.high);
      out.push_back({static_cast<int32_t>(element(a.low, b.low)),
                     static_cast<int32_t>(element(a.high, b.high))});
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
    Sum sum(op);
    // From 1 on the reference's arithmetic is undefined.
    if (std::isfinite(sum.out_real) && quantize_multiplier(sum.out_real).shift <= 0) return true;
    diags
        .error(op.where(), "op-quantization",
               fmt::format(
                   "result scale {:g} of {} is too small for operands of scale {:g} and {:g}",
                   op.result().scale(), op.op.name(), op.operand(0).scale(), op.operand(1).scale()))
        .help("re-quantise the model; the result's range does not hold any sum of the operands");
    return false;
  }

  std::function<int64_t(int64_t, int64_t)> quantized(const OpView& op) const override {
    if (op.attrs<BinaryAttrs>().shift_only) return *ShiftedSum::of(op, subtract_);
    return [sum = Sum(op), subtract = subtract_](int64_t a, int64_t b) {
      int32_t y = sum.operand(1, b);
      return sum.result(sum.operand(0, a) + (subtract ? -y : y));
    };
  }

  Lowered lower_quantized(const OpView& op, const TargetInfo& target) const override {
    if (op.attrs<BinaryAttrs>().shift_only)
      return ShiftedSum::of(op, subtract_)->lower(op, std::string(name()));
    return SumLowering(op, std::string(name()), subtract_).run(target);
  }

  bool asks_for_shifts(const TfliteOp& from, const OpView& op) const override {
    return shifts_option(from) && whole_log2(op.operand(0).scale()) &&
           whole_log2(op.operand(1).scale()) && whole_log2(op.result().scale());
  }
  virtual bool shifts_option(const TfliteOp& from) const = 0;

 private:
  bool subtract_;
};

class Add final : public AddOrSub {
 public:
  Add() : AddOrSub(false) {}
  std::string_view name() const override { return "add"; }
  std::string_view summary() const override { return "sum of two tensors, broadcasting"; }
  std::vector<int> tflite_builtins() const override { return {0}; }

 protected:
  int fused_activation(const TfliteOp& from) const override {
    const auto* options = from.options<tflite_schema::AddOptions>();
    return options ? static_cast<int>(options->fused_activation_function()) : 0;
  }
  bool shifts_option(const TfliteOp& from) const override {
    const auto* options = from.options<tflite_schema::AddOptions>();
    return !options || options->pot_scale_int16();
  }
  float compute(float a, float b) const override { return a + b; }
  uint64_t compute(uint64_t a, uint64_t b) const override { return a + b; }
  Ex emit(const Ex& a, const Ex& b) const override {
    return a.type() == DType::kF32 ? a + b : add_wrapping(a, b);
  }
};

class Sub final : public AddOrSub {
 public:
  Sub() : AddOrSub(true) {}
  std::string_view name() const override { return "sub"; }
  std::string_view summary() const override { return "difference of two tensors, broadcasting"; }
  std::vector<int> tflite_builtins() const override { return {41}; }

 protected:
  int fused_activation(const TfliteOp& from) const override {
    const auto* options = from.options<tflite_schema::SubOptions>();
    return options ? static_cast<int>(options->fused_activation_function()) : 0;
  }
  bool shifts_option(const TfliteOp& from) const override {
    const auto* options = from.options<tflite_schema::SubOptions>();
    return !options || options->pot_scale_int16();
  }
  float compute(float a, float b) const override { return a - b; }
  uint64_t compute(uint64_t a, uint64_t b) const override { return a - b; }
  Ex emit(const Ex& a, const Ex& b) const override {
    return a.type() == DType::kF32 ? a - b : sub_wrapping(a, b);
  }
};

}  // namespace

void add_operators_add(OperatorSet& set) {
  set.add(std::make_unique<Add>());
  set.add(std::make_unique<Sub>());
}

}  // namespace aotc::ops
