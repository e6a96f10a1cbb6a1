// SPDX-License-Identifier: Apache-2.0
#include "ops/common/gemm.h"
#include "ops/common/hybrid.h"
#include "ops/svdf/lowering.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

SvdfLowering::SvdfLowering(const OpView& op, const TargetInfo& target)
    : op_(op),
      f_(op, "svdf"),
      target_(target),
      s_(op),
      integer_(op.operand(svdf::kInput).dtype == DType::kI8),
      hybrid_(svdf_is_hybrid(op)),
      bytes_(op.operand(svdf::kState).dtype == DType::kI8) {}

Lowered SvdfLowering::run() {
  in_ = f_.operand(svdf::kInput);
  if (integer_) scaling_.emplace(op_);
  make_features();
  make_time();
  make_bias();
  state_ = f_.operand(svdf::kState);
  out_ = f_.result(svdf::kOutput);
  next_ = f_.result(svdf::kNextState);
  // Floats and integers beside each other are words.
  values_ = f_.scratch("values", integer_ || hybrid_ ? DType::kI32 : DType::kF32,
                       s_.filters + (hybrid_ ? s_.inputs : more_values()), 4);
  if (integer_) {
    feature_scaler_->begin(f_);
    output_scaler_->begin(f_);
  }
  f_.loop("b", 0, s_.batches, [&](const Ex& b) {
    if (hybrid_) {
      hybrid_features(b);
    } else {
      features(b);
    }
    units(b);
  });
  f_.publish_in_place(svdf::kState);  // the next state over the present one
  f_.algorithm(summed_ ? "words" : "values");
  return f_.finish(std::string(note()));
}

void SvdfLowering::pack_features(const std::vector<int8_t>& weights) {
  features_ = f_.constant("features", DType::kI8, pack_weights(weights, s_.filters, s_.inputs, block_));
}

void SvdfLowering::make_features() {
  block_ = std::min<int64_t>(target_.gemm_channels, s_.filters);
  if (hybrid_) return make_hybrid_features();
  if (!integer_) {
    features_ =
        f_.constant("features", DType::kF32,
                    pack_weights(op_.constant(svdf::kFeatures)->to_vector<float>(), s_.filters, s_.inputs, block_));
    return;
  }
  pack_features(op_.constant(svdf::kFeatures)->to_vector<int8_t>());
  feature_bias_ = f_.constant("feature_bias", DType::kI32, scaling_->feature_bias);
  feature_scaler_.emplace(f_, scaling_->features);
  output_scaler_.emplace(f_, scaling_->output);
}

void SvdfLowering::make_hybrid_features() {
  const std::vector<int8_t> weights = op_.constant(svdf::kFeatures)->to_vector<int8_t>();
  features_ = f_.constant("features", DType::kI8, pack_weights(weights, s_.filters, s_.inputs, block_));
  feature_scale_ = f_.constant("feature_scale", DType::kF32, std::vector<float>{op_.operand(svdf::kFeatures).scale()});
  if (!op_.attrs<SvdfAttrs>().asymmetric_rows) return;
  std::vector<int32_t> sums(static_cast<size_t>(s_.filters), 0);
  for (size_t i = 0; i < weights.size(); ++i) sums[i / static_cast<size_t>(s_.inputs)] += weights[i];
  feature_sums_ = f_.constant("feature_sums", DType::kI32, sums);
}

BufferPtr SvdfLowering::pack_time(const std::vector<int16_t>& weights) {
  if (bytes_) return f_.constant("time", DType::kI8, std::vector<int8_t>(weights.begin(), weights.end()));
  return f_.constant("time", DType::kI16, weights);
}

void SvdfLowering::make_time() {
  if (hybrid_) {
    std::vector<float> weights;
    for (int8_t w : op_.constant(svdf::kTime)->to_vector<int8_t>())
      weights.push_back(static_cast<float>(w) * op_.operand(svdf::kTime).scale());
    time_ = f_.constant("time", DType::kF32, weights);
    return;
  }
  time_ = integer_ ? pack_time(s_.as_state(svdf_time_weights(op_)))
                   : f_.constant("time", DType::kF32, op_.constant(svdf::kTime)->to_vector<float>());
}

void SvdfLowering::make_bias() {
  if (summed_ || (!integer_ && !op_.has_operand(svdf::kBias))) return;
  bias_ = integer_ ? f_.constant("bias", DType::kI32, scaling_->bias)
                   : f_.constant("bias", DType::kF32, op_.constant(svdf::kBias)->to_vector<float>());
}

// A zero point added to a byte wraps around, as in the reference.
Ex SvdfLowering::feature_value(const Ex& acc) {
  if (!integer_) return acc;
  Ex value = feature_scaler_->emit(f_, acc, Ex(0));
  if (scaling_->state_zero == 0) return value;
  return shl_wrapping(f_.let("stored", value + scaling_->state_zero), Ex(24)) >> Ex(24);
}

// What a filter gives in this run.
Ex SvdfLowering::fresh_value(const Ex& filter) {
  Ex stored = load(values_, filter);
  return hybrid_ ? call(tir::Intrinsic::kFloatFromBits, DType::kF32, {stored}) : stored;
}

// The row is quantised behind the values.
void SvdfLowering::hybrid_features(const Ex& b) {
  RowRequest row;
  row.x = in_;
  row.at = f_.let("row", b * s_.inputs);
  row.count = s_.inputs;
  row.asymmetric = op_.attrs<SvdfAttrs>().asymmetric_rows;
  const RowQuantization q = emit_quantize_row(f_, row, values_, Ex(s_.filters));
  Ex step = f_.let("step", load(feature_scale_, 0) * q.scale);
  tiles(values_, Ex(s_.filters), [&](const Ex& filter, const Ex& acc) {
    Ex sum = feature_sums_ ? acc - q.zero * load(feature_sums_, filter) : acc;
    f_.store(values_, filter, call(tir::Intrinsic::kFloatBits, DType::kI32, {cast(DType::kF32, sum) * step}));
  });
}

void SvdfLowering::features(const Ex& b) {
  tiles(in_, b * s_.inputs, [&](const Ex& filter, const Ex& acc) { f_.store(values_, filter, feature_value(acc)); });
}

void SvdfLowering::tiles(const BufferPtr& x, const Ex& at, const std::function<void(const Ex&, const Ex&)>& take) {
  f_.loop(
      "f", 0, s_.filters,
      [&](const Ex& f) {
        Ex first = s_.filters % block_ == 0 ? f : f_.let("first", min(f, Ex(s_.filters - block_)));
        GemmTile tile;
        tile.k = s_.inputs;
        tile.channels = block_;
        tile.unroll = target_.gemm_unroll;
        tile.x = x;
        tile.x_base = {f_.let("x", at)};
        tile.weights = features_;
        tile.weights_base = f_.let("w", f * s_.inputs);
        std::vector<Ex> acc = emit_gemm_tile(f_, tile, [&](int64_t, int64_t c) {
          return integer_ ? load(feature_bias_, first + c) : hybrid_ ? Ex(0) : tir::f32(0.0f);
        });
        for (int64_t c = 0; c < block_; ++c) take(first + c, acc[static_cast<size_t>(c)]);
      },
      block_);
}

void SvdfLowering::units(const Ex& b) {
  Ex state = f_.let("of_batch", b * (s_.filters * s_.memory));
  remember(state);
  const int64_t unroll = summed_ && s_.rank == 1 ? unroll_for(s_.units, 8) : 1;
  f_.loop(
      "u", 0, s_.units,
      [&](const Ex& u) {
        for (int64_t i = 0; i < unroll; ++i) unit(b, unroll == 1 ? u : u + i, state);
      },
      unroll);
}

void SvdfLowering::unit(const Ex& b, const Ex& u, const Ex& state) {
  Ex sum;
  if (summed_ && s_.rank == 1) {
    sum = f_.let("sum", load(values_, u));
  } else {
    sum = f_.var("sum", integer_ ? Ex(0) : tir::f32(0.0f));
    f_.loop("r", 0, s_.rank, [&](const Ex& r) {
      Ex filter = f_.let("filter", u * s_.rank + r);
      Ex more = summed_ ? load(values_, filter) : of_filter(state, filter);
      f_.assign(sum, integer_ ? add_wrapping(sum, more) : sum + more);
    });
    if (bias_) f_.assign(sum, integer_ ? add_wrapping(sum, load(bias_, u)) : sum + load(bias_, u));
  }
  Ex value =
      integer_ ? output_scaler_->emit(f_, sum, Ex(0)) : emit_clamp(sum, float_clamp(op_.attrs<SvdfAttrs>().activation));
  f_.store(out_, b * s_.units + u, value);
}

// Moves on what a filter remembers; the filter's sum.
Ex SvdfLowering::of_filter(const Ex& state, const Ex& filter) {
  Ex row = f_.let("row", state + filter * s_.memory);
  Ex w = f_.let("of_filter", filter * s_.memory);
  std::vector<Ex> last;
  for (int64_t l = 1; l < s_.lanes; ++l) last.push_back(f_.let("moved", load(state_, row + l)));
  last.push_back(f_.let("fresh", fresh_value(filter)));
  Ex acc = f_.var("acc", integer_ ? Ex(0) : tir::f32(0.0f));
  auto add = [&](const Ex& at, const Ex& value) {
    Ex product = value * load(time_, w + at);
    f_.store(next_, row + at, value);
    f_.assign(acc, integer_ ? add_wrapping(acc, product) : acc + product);
  };
  f_.loop("m", 0, s_.memory - s_.lanes,
          [&](const Ex& m) { add(m, f_.let("value", load(state_, row + m + s_.lanes))); });
  for (int64_t l = 0; l < s_.lanes; ++l) add(Ex(s_.memory - s_.lanes + l), last[static_cast<size_t>(l)]);
  return acc;
}

Lowered lower_svdf(const OpView& op, const TargetInfo& target) { return SvdfLowering(op, target).run(); }

}  // namespace aotc::ops
