// SPDX-License-Identifier: Apache-2.0
// From the sums of int16 activations with int8 weights to int16: the reference's three ways on the host,
// and as TIR. The one thing to know: the reference sums in 64 bits, but what a sum can reach is known
// when the code is made, and where that is a number of 32 bits the code sums in 32.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "ops/common/requantize.h"

namespace aotc::ops {

enum class WideRounding {
  kOnce,    // 16 bits of the multiplier, one rounding: convolutions, where the bias has 64 bits
  kDouble,  // as of int8: convolutions, where the bias has 32 bits
  kReal,    // round(double(acc) * real): fully connected layers
  kHigh,    // 31 bits of the multiplier, one rounding: RoundingRule::kOnnxruntime, whose sums have 32 bits
};

// kHigh: the shift of a layer with these scales, at least one. Layers share kernels, because there are few shifts.
int high_shift(const std::vector<double>& scales);
// kHigh: what the result's zero point and the rounding add to the start of a sum.
double high_start(double scale, int shift, int32_t zero_point);

struct WideScaling {
  std::vector<double> scales;    // per channel, > 0
  std::vector<AccRange> ranges;  // per channel, of the sum at any time
  WideRounding rounding = WideRounding::kOnce;
  ClampI32 clamp;
  // Start values of the sums, per channel: `bias` for stored inputs, `centred_bias` for inputs minus their zero point.
  // With kHigh they include the result's zero point.
  std::vector<int64_t> bias = {}, centred_bias = {};
  // kHigh: an output is (acc * multiplier) >> (32 + shift), whose half is part of the bias; if the shift is 0,
  // (acc * multiplier + 2^31) >> 32.
  int shift = 0;

  // Does some sum need 64 bits?
  bool wide() const;
  int32_t apply(int64_t acc, size_t channel) const;
};

// The sums of convolutions and fully connected layers: `weights_of(c)` gives the weights (less their zero
// point) of output channel c.
WideScaling wide_scaling(const OpView& op, int64_t channels, WideRounding rounding, Activation activation,
                         const std::function<std::vector<int32_t>(int64_t c)>& weights_of);
// kHigh if `rule` is kOnnxruntime; otherwise kDouble for a bias of 32 bits, and kOnce.
WideRounding convolution_rounding(const OpView& op, RoundingRule rule = RoundingRule::kLitert);
// Of int16: are all sums ones that the reference's arithmetic is defined for? Reports [op-quantization].
bool check_wide_sums(const OpView& op, const WideScaling& scaling, Diagnostics& diags);

// int64 or int32 bias of channel c, 0 without one.
int64_t wide_bias_at(const OpView& op, int64_t c);
// The biases as a constant of a function, in the type that sums are made in.
tir::BufferPtr wide_bias(LoweringBuilder& f, const WideScaling& scaling);

// Multipliers per channel for kOnce and kHigh with sums of 32 bits; nullopt if a channel has none. An output is
// (acc * multiplier + 2^31) >> 32, or with a shift (acc * multiplier) >> (32 + shift).
std::optional<std::vector<int32_t>> high_multipliers(const WideScaling& scaling);

// Emits a WideScaling; used as Requantizer is. Accumulators are i64 if the scaling is wide(), else i32.
class WideRequantizer {
 public:
  WideRequantizer(LoweringBuilder& f, const WideScaling& what);
  std::string_view form() const;
  void begin(tir::FunctionBuilder& f);

  struct Channel {
    tir::Ex multiplier, second;  // which are set depends on the form
  };
  Channel prepare(tir::FunctionBuilder& f, const tir::Ex& channel) const;
  tir::Ex emit(tir::FunctionBuilder& f, const tir::Ex& acc, const Channel& channel) const;

 private:
  enum class Form { kHigh, kShift, kTwice, kPieces, kFloat };
  bool make_high(LoweringBuilder& f, const WideScaling& what);
  void make_shift(LoweringBuilder& f, const WideScaling& what);
  bool make_pieces(LoweringBuilder& f, const WideScaling& what);
  void make_float(LoweringBuilder& f, const WideScaling& what);
  Channel load_channel(tir::FunctionBuilder& f, const tir::Ex& index) const;
  tir::Ex emit_pieces(tir::FunctionBuilder& f, const tir::Ex& acc, const Channel& channel) const;
  tir::Ex emit_twice(tir::FunctionBuilder& f, const tir::Ex& acc, const Channel& channel) const;

  Form form_ = Form::kFloat;
  ClampI32 clamp_;
  bool wide_, per_channel_ = false;
  bool wraps_ = false;  // kShift: the quotient may leave 32 bits
  int shift_ = 0;       // kHigh of WideRounding::kHigh
  int pieces_shift_ = 32;
  int64_t stride_ = 1;
  tir::BufferPtr table_;
  Channel shared_;
};

}  // namespace aotc::ops
