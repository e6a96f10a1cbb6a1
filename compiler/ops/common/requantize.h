// SPDX-License-Identifier: Apache-2.0
// From an int32 accumulator to a quantised output: the arithmetic on the host and as TIR. The one
// thing to know: the emitted form is chosen from what is known at compile time (the scales and
// the largest accumulators), and every form gives the reference's bits for all accumulators.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ops/common/activation.h"
#include "ops/common/rounding.h"
#include "ops/common/step_fit.h"
#include "ops/lowering.h"
#include "support/numerics.h"

namespace aotc::ops {

enum class Rounding {
  kDouble,  // doubling high multiply rounds, then the shift rounds: convolutions
  kSingle,  // round(double(acc) * real), half away from zero: fully connected layers
  kDivide,  // acc / n, half away from zero, real being 1 / n for an integer n: averages
  kEven,    // float32: acc * real rounded, ties to even: onnxruntime
  kSum,     // the accumulator itself, which is an int32 result
};

// How sums of products are rounded by a rule; by LiteRT's in the operator's own way.
inline Rounding rounding_of(RoundingRule rule, Rounding litert) {
  return rule == RoundingRule::kOnnxruntime ? Rounding::kEven : litert;
}

// input_scale * weight_scale[c] / output_scale in double for each of `channels` (weights per
// tensor: all the same). With weights of uint8 the reference multiplies the scales in float32, but for fully
// connected layers (not `float_products`). By onnxruntime's rule both operations are of float32.
std::vector<double> conv_scales(const graph::TensorType& input, const graph::TensorType& weights,
                                const graph::TensorType& output, int64_t channels,
                                RoundingRule rule = RoundingRule::kLitert, bool float_products = true);

// Can onnxruntime's rule scale by these, quotients of float32? Others are subnormal, or no numbers. Reports
// [op-quantization].
bool check_even_scales(const OpView& op, std::span<const double> scales, Diagnostics& diags);

// The reference of one channel: the value (clamped) of an accumulator. What does not depend on the
// accumulator is computed once.
class ChannelReference {
 public:
  ChannelReference(Rounding rounding, double scale, int32_t zero_point, ClampI32 clamp);
  int32_t operator()(int32_t acc) const;

 private:
  int32_t even(int32_t acc) const;
  Rounding rounding_;
  double scale_;
  QuantizedMultiplier multiplier_;  // kDouble
  int64_t divisor_ = 1;             // kDivide
  int32_t zero_point_;
  ClampI32 clamp_;
};

struct Requantization {
  std::vector<double> scales;    // per channel, > 0
  std::vector<AccRange> ranges;  // per channel, not looked at by apply()
  Rounding rounding = Rounding::kDouble;
  int32_t zero_point = 0;
  ClampI32 clamp;
  bool open = false;  // other scales may come, as many: the form is the reference's own, whatever these are

  ChannelReference reference(size_t channel) const { return {rounding, scales[channel], zero_point, clamp}; }
  std::vector<ChannelReference> references() const;  // of all channels
  // For one accumulator; reference() is cheaper for many.
  int32_t apply(int32_t acc, size_t channel) const { return reference(channel)(acc); }

  // Of results that are the sums.
  static Requantization of_sums(int64_t channels, std::vector<AccRange> ranges) {
    return {std::vector<double>(static_cast<size_t>(channels), 1.0),
            std::move(ranges),
            Rounding::kSum,
            0,
            {INT32_MIN, INT32_MAX}};
  }

  // Gives channels that have a single accumulator (weights all 0) the scale of a channel that lives
  // and a small accumulator of the same value, to be computed from the new `bias`. Training leaves
  // such channels with scales and biases at the ends of what numbers can hold, where no cheap form
  // reaches. Ranges and biases count every operand of the sum, so this holds at borders too.
  void tame_constant_channels(std::vector<int32_t>& bias);
};

// Every channel (or all by one, where they have one scale) as a line with accumulators shifted left
// by `left`, or nothing where that is not exact. Biases may be changed: accumulators too far from zero
// to be shifted are moved there, others to where their steps can be met.
std::optional<LineFit> fit_common_line(const Requantization& what, int left, std::vector<int32_t>& bias);

// The same without signs, but for channels of which no line does: others[c] says which, half of them at most. Their
// biases stay.
std::optional<LineFit> fit_most_lines(const Requantization& what, int left, std::vector<int32_t>& bias,
                                      std::vector<bool>& others);

// What such a line makes of an accumulator shifted left, before the shift that all share: (acc * multiplier >> 32) +
// offset, less the sign's word where acc < 0. These words are at table[at].
tir::Ex line_sum(const tir::Ex& acc, const tir::BufferPtr& table, const tir::Ex& at, bool sign);

// Emits a Requantization. Use: construct (adds the constant tables), begin() once at the top of the
// function, prepare() where a channel's parameters should be loaded, emit() per accumulator.
class Requantizer {
 public:
  Requantizer(LoweringBuilder& f, const Requantization& what);

  // "one word", "one multiply", "two roundings", ... for schedule descriptions.
  std::string_view form() const;

  // Loads what all channels share into variables.
  void begin(tir::FunctionBuilder& f);

  struct Channel {
    tir::Ex multiplier, offset, shift, sign;  // which are set depends on the form
  };
  Channel prepare(tir::FunctionBuilder& f, const tir::Ex& channel) const;

  // By how much emit() shifts accumulators left, if by the same in all channels: whoever scales what
  // it adds up by that much (weights, bias) uses emit_scaled() and saves the shift.
  int common_left() const;
  tir::Ex emit_scaled(tir::FunctionBuilder& f, const tir::Ex& acc, const Channel& channel) const;

  // The quantised value (clamped) of accumulator `acc`, as i32. Statements it needs go to `f`.
  tir::Ex emit(tir::FunctionBuilder& f, const tir::Ex& acc, const Channel& channel) const;
  tir::Ex emit(tir::FunctionBuilder& f, const tir::Ex& acc, const tir::Ex& channel) const {
    return emit(f, acc, prepare(f, channel));
  }

 private:
  enum class Form { kWord, kLine, kTwice, kFloat, kEven, kDivide, kSum };
  void make_word_tables(LoweringBuilder& f, const WordFit& fit);
  void make_line_tables(LoweringBuilder& f, const LineFit& fit);
  void make_exact_tables(LoweringBuilder& f, const Requantization& what);
  void make_twice_tables(LoweringBuilder& f, const Requantization& what);
  Channel load_channel(tir::FunctionBuilder& f, const tir::Ex& index) const;
  Channel load_word(tir::FunctionBuilder& f, const tir::Ex& index) const;
  // `x`: the accumulator shifted left; `acc` has its sign.
  tir::Ex emit_word(tir::FunctionBuilder& f, const tir::Ex& x, const tir::Ex& acc, const Channel& channel) const;
  tir::Ex emit_line(tir::FunctionBuilder& f, const tir::Ex& x, const tir::Ex& acc, const Channel& channel) const;
  tir::Ex emit_twice(tir::FunctionBuilder& f, const tir::Ex& acc, const Channel& channel) const;
  tir::Ex emit_float(tir::FunctionBuilder& f, const tir::Ex& acc, const Channel& channel) const;
  tir::Ex emit_even(tir::FunctionBuilder& f, const tir::Ex& acc, const Channel& channel) const;
  tir::Ex emit_divide(tir::FunctionBuilder& f, const tir::Ex& acc, const Channel& channel) const;
  tir::Ex emit_zero_point(tir::FunctionBuilder& f, const tir::Ex& t) const;

  Form form_ = Form::kLine;
  int32_t zero_point_;
  ClampI32 clamp_;
  bool per_channel_ = false;
  int64_t stride_ = 1;  // table entries per channel
  tir::BufferPtr table_, shift_table_;
  // kWord and kLine
  int left_ = 0;
  bool sign_ = false;
  tir::Ex shift_;  // of every channel; kWord: of the channels that shift least
  // kWord
  int low_bits_ = 0;
  int32_t first_ = 0, sign_term_ = 0;
  tir::Ex half_zero_;
  // kLine
  bool same_left_ = true;
  Channel shared_;  // loaded by begin() if all channels have the same
  // kTwice
  bool any_left_ = false;
  bool any_right_ = false;
  bool right_at_least_one_ = true;
  bool sum_fits_ = true;  // t + 2^(s-1) cannot leave int32
};

// A float32 of magnitude below 2^22 rounded to a whole number, ties to even, without the C library: where sums
// have no fractions left.
tir::Ex emit_nearest_even(const tir::Ex& x);

// Emits multiply_by_quantized_multiplier of `x` (magnitude at most `largest`) by a constant.
tir::Ex emit_multiply(tir::FunctionBuilder& f, const tir::Ex& x, QuantizedMultiplier m, int64_t largest);

}  // namespace aotc::ops
