// SPDX-License-Identifier: Apache-2.0
#include "ops/fully_connected/hybrid.h"

#include <algorithm>

#include <fmt/format.h>

#include "ops/common/conv.h"
#include "ops/common/gemm.h"
#include "ops/common/nibbles.h"

namespace aotc::ops {

using tir::Ex;

namespace {

// Not as other operators clamp: -0 and NaN become the bound, and nothing else is one.
float activated(Activation activation, float v) {
  float top = activation == Activation::kRelu6 ? 6.0f : 1.0f;
  if (activation == Activation::kRelu6 || activation == Activation::kReluN1To1) v = top < v ? top : v;
  float low = activation == Activation::kReluN1To1 ? -1.0f : 0.0f;
  return activation == Activation::kNone ? v : low < v ? v : low;
}

Ex emit_activation(Activation activation, Ex v) {
  float top = activation == Activation::kRelu6 ? 6.0f : 1.0f;
  if (activation == Activation::kRelu6 || activation == Activation::kReluN1To1) v = min(tir::f32(top), v);
  float low = activation == Activation::kReluN1To1 ? -1.0f : 0.0f;
  return activation == Activation::kNone ? v : max(v, tir::f32(low));
}

}  // namespace

HybridSizes::HybridSizes(const OpView& op)
    : units(op.operand(1).shape[0]),
      depth(op.operand(1).shape[1]),
      rows(op.operand(0).elements() / depth),
      asymmetric(op.attrs<FullyConnectedAttrs>().asymmetric_rows ||
                 op.attrs<FullyConnectedAttrs>().rounding == RoundingRule::kOnnxruntime),
      per_channel(op.operand(1).quantization.per_channel()),
      rule(op.attrs<FullyConnectedAttrs>().rounding) {}

HybridRowsLowering::HybridRowsLowering(const OpView& op, const TargetInfo& target)
    : op_(op), target_(target), s_(op), f_(op, "fully_connected"), nibbles_(packs_nibbles(op, target)) {}

Lowered HybridRowsLowering::run() {
  in_ = f_.operand(0);
  begin();
  std::vector<float> bias, scales;
  for (int64_t u = 0; u < s_.units; ++u) bias.push_back(float_bias_at(op_, u));
  for (int64_t u = 0; u < (s_.per_channel ? s_.units : 1); ++u) scales.push_back(weight_scale(op_, u));
  bias_ = f_.constant("bias", DType::kF32, bias);
  scales_ = f_.constant("scales", DType::kF32, scales);
  if (s_.asymmetric && !centred_) sums_ = f_.constant("sums", DType::kI32, weight_sums(op_, s_.units, s_.depth, 1));
  out_ = f_.result(0);
  publish_batches(f_, op_, s_.rows);
  Ex blank = emit_blank();
  f_.loop("r", 0, s_.rows, [&](Ex r) {
    row_ = f_.let("row", r * s_.depth);
    quantize();
    if (blank.ptr()) q_.scale = f_.let("factor", select(blank == 0, tir::f32(-1.0f), q_.scale));
    if (!s_.per_channel) step_ = f_.let("step", q_.scale * load(scales_, 0));
    multiply(f_.let("to", r * s_.units));
  });
  f_.algorithm(std::string(algorithm()));
  return f_.finish(fmt::format("rows quantised, {}{}", s_.asymmetric ? "asymmetric" : "symmetric",
                               nibbles_ ? ", weights of 4 bits" : ""));
}

// 0 if the whole input is zeros; nothing where that makes no difference.
Ex HybridRowsLowering::emit_blank() {
  if (!has_negative_zero(op_, s_.units)) return {};
  Ex any = f_.var("any", 0);
  f_.loop("i", 0, s_.rows * s_.depth, [&](Ex i) {
    Ex bits = call(tir::Intrinsic::kFloatBits, DType::kI32, {load(in_, i)});
    f_.assign(any, any | (bits & 0x7FFFFFFF));
  });
  return f_.let("content", any);
}

void HybridRowsLowering::emit_result(const Ex& to, const Ex& unit, const Ex& sum) {
  Ex exact = sums_ ? sum - q_.zero * load(sums_, unit) : sum;
  Ex step = s_.per_channel ? load(scales_, unit) * q_.scale : step_;
  Ex v = load(bias_, unit) + cast(DType::kF32, exact) * step;
  f_.store(out_, to + unit, emit_activation(op_.attrs<FullyConnectedAttrs>().activation, f_.let("v", v)));
}

void HybridRowsLowering::begin() {
  constexpr int64_t kMostBlock = 8, kMostUnroll = 64;
  block_ = target_.wish("units", std::min<int64_t>(4, s_.units), 1, std::min(kMostBlock, s_.units));
  unroll_ = unroll_for(s_.depth, target_.wish("unroll", 4, 1, kMostUnroll));
  auto pack = nibbles_ ? pack_nibbles : pack_weights<int8_t>;
  weights_ = f_.constant("weights", DType::kI8, pack(op_.constant(1)->to_vector<int8_t>(), s_.units, s_.depth, block_));
  bytes_ = f_.scratch("quantised", DType::kI8, s_.depth, 4);
  f_.choice("units", block_);
  f_.choice("unroll", unroll_);
}

void HybridRowsLowering::quantize() { q_ = emit_quantize_row(f_, request(), bytes_, 0); }

void HybridRowsLowering::multiply(const Ex& to) {
  f_.loop(
      "u", 0, s_.units,
      [&](Ex u) {
        Ex unit = s_.units % block_ == 0 ? u : f_.let("unit", min(u, Ex(s_.units - block_)));
        GemmTile tile;
        tile.k = s_.depth;
        tile.channels = block_;
        tile.unroll = unroll_;
        tile.x = bytes_;
        tile.x_base = {Ex(0)};
        tile.weights = weights_;
        tile.nibbles = nibbles_;
        tile.weights_base = f_.let("wi", u * (nibbles_ ? nibble_bytes(s_.depth) : s_.depth));
        std::vector<Ex> acc = emit_gemm_tile(f_, tile, [](int64_t, int64_t) { return Ex(0); });
        for (int64_t c = 0; c < block_; ++c) emit_result(to, unit + c, acc[static_cast<size_t>(c)]);
      },
      block_);
}

void evaluate_fully_connected_hybrid(const OpView& op, const EvalData& data) {
  HybridSizes s(op);
  auto x = data.in<float>(0);
  auto w = data.in<int8_t>(1);
  auto out = data.out<float>();
  std::vector<int8_t> q(static_cast<size_t>(s.depth));
  const bool zeros = std::all_of(x.begin(), x.end(), [](float v) { return v == 0; });
  for (int64_t r = 0; r < s.rows; ++r) {
    RowScale row = quantize_row(x.subspan(static_cast<size_t>(r * s.depth), q.size()), q, s.asymmetric, s.rule);
    for (int64_t u = 0; u < s.units; ++u) {
      int32_t sum = 0;
      for (size_t k = 0; k < q.size(); ++k) sum += (q[k] - row.zero) * w[static_cast<size_t>(u) * q.size() + k];
      float v = float_bias_at(op, u);
      if (!zeros) v += static_cast<float>(sum) * (weight_scale(op, u) * row.scale);
      out[static_cast<size_t>(r * s.units + u)] = activated(op.attrs<FullyConnectedAttrs>().activation, v);
    }
  }
}

Lowered lower_fully_connected_hybrid(const OpView& op, const TargetInfo& target) {
  return HybridRowsLowering(op, target).run();
}

}  // namespace aotc::ops
