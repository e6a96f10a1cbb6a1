// SPDX-License-Identifier: Apache-2.0
// fully_connected of float rows with int8 weights: a row is quantised, multiplied four units at a
// time (or eight, by the pair kernels where the core has them), and every sum is scaled and added
// to its bias in float.
#include <algorithm>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include "ops/common/conv.h"
#include "ops/common/dsp_gemm.h"
#include "ops/common/gemm.h"
#include "ops/common/hybrid.h"
#include "ops/common/nibbles.h"
#include "ops/fully_connected/fully_connected.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

struct Sizes {
  explicit Sizes(const OpView& op)
      : units(op.operand(1).shape[0]),
        depth(op.operand(1).shape[1]),
        rows(op.operand(0).elements() / depth),
        asymmetric(op.attrs<FullyConnectedAttrs>().asymmetric_rows),
        per_channel(op.operand(1).quantization.per_channel()) {}

  int64_t units, depth, rows;
  bool asymmetric, per_channel;
};

// Not as other operators clamp: -0 and NaN become the bound, and nothing else is one.
float activated(Activation activation, float v) {
  float top = activation == Activation::kRelu6 ? 6.0f : 1.0f;
  if (activation == Activation::kRelu6 || activation == Activation::kReluN1To1)
    v = top < v ? top : v;
  float low = activation == Activation::kReluN1To1 ? -1.0f : 0.0f;
  return activation == Activation::kNone ? v : low < v ? v : low;
}

Ex emit_activation(Activation activation, Ex v) {
  float top = activation == Activation::kRelu6 ? 6.0f : 1.0f;
  if (activation == Activation::kRelu6 || activation == Activation::kReluN1To1)
    v = min(tir::f32(top), v);
  float low = activation == Activation::kReluN1To1 ? -1.0f : 0.0f;
  return activation == Activation::kNone ? v : max(v, tir::f32(low));
}

class HybridLowering {
 public:
  explicit HybridLowering(const OpView& op) : op_(op), s_(op), f_(op, "fully_connected") {}

  Lowered run(const TargetInfo& target) {
    in_ = f_.operand(0);
    nibbles_ = packs_nibbles(op_, target);
    bool pairs = !nibbles_ && target.dsp && target.allows("pairs") && fits_pairs();
    pairs ? begin_pairs() : begin_tiles(target);
    std::vector<float> bias, scales;
    for (int64_t u = 0; u < s_.units; ++u) bias.push_back(float_bias_at(op_, u));
    for (int64_t u = 0; u < (s_.per_channel ? s_.units : 1); ++u)
      scales.push_back(weight_scale(op_, u));
    bias_ = f_.constant("bias", DType::kF32, bias);
    scales_ = f_.constant("scales", DType::kF32, scales);
    if (s_.asymmetric && !pairs)
      sums_ = f_.constant("sums", DType::kI32, weight_sums(op_, s_.units, s_.depth, 1));
    out_ = f_.result(0);
    publish_batches(f_, op_, s_.rows);
    Ex blank = emit_blank();
    f_.loop("r", 0, s_.rows, [&](Ex r) {
      row_ = f_.let("row", r * s_.depth);
      pairs ? quantize_to_panel() : quantize_to_bytes();
      if (blank.ptr()) q_.scale = f_.let("factor", select(blank == 0, tir::f32(-1.0f), q_.scale));
      if (!s_.per_channel) step_ = f_.let("step", q_.scale * load(scales_, 0));
      Ex to = f_.let("to", r * s_.units);
      pairs ? emit_pairs(to) : emit_tiles(to);
    });
    f_.algorithm(pairs ? "pairs" : "tiles");
    return f_.finish(fmt::format("rows quantised, {}{}", s_.asymmetric ? "asymmetric" : "symmetric",
                                 nibbles_ ? ", weights of 4 bits" : ""));
  }

 private:
  // 0 if the whole input is zeros; nothing where that makes no difference.
  Ex emit_blank() {
    if (!has_negative_zero(op_, s_.units)) return {};
    Ex any = f_.var("any", 0);
    f_.loop("i", 0, s_.rows * s_.depth, [&](Ex i) {
      Ex bits = call(tir::Intrinsic::kFloatBits, DType::kI32, {load(in_, i)});
      f_.assign(any, any | (bits & 0x7FFFFFFF));
    });
    return f_.let("content", any);
  }

  RowRequest request() const { return {in_, row_, s_.depth, s_.asymmetric, false, nullptr}; }

  void emit_result(const Ex& to, const Ex& unit, const Ex& sum) {
    Ex exact = sums_ ? sum - q_.zero * load(sums_, unit) : sum;
    Ex step = s_.per_channel ? load(scales_, unit) * q_.scale : step_;
    Ex v = load(bias_, unit) + cast(DType::kF32, exact) * step;
    f_.store(out_, to + unit,
             emit_activation(op_.attrs<FullyConnectedAttrs>().activation, f_.let("v", v)));
  }

  // ---- tiles of one row

  void begin_tiles(const TargetInfo& target) {
    constexpr int64_t kMostBlock = 8, kMostUnroll = 64;
    block_ =
        target.wish("units", std::min<int64_t>(4, s_.units), 1, std::min(kMostBlock, s_.units));
    unroll_ = unroll_for(s_.depth, target.wish("unroll", 4, 1, kMostUnroll));
    auto pack = nibbles_ ? pack_nibbles : pack_weights<int8_t>;
    weights_ = f_.constant("weights", DType::kI8,
                           pack(op_.constant(1)->to_vector<int8_t>(), s_.units, s_.depth, block_));
    bytes_ = f_.scratch("quantised", DType::kI8, s_.depth, 4);
    f_.choice("units", block_);
    f_.choice("unroll", unroll_);
  }

  void quantize_to_bytes() { q_ = emit_quantize_row(f_, request(), bytes_, 0); }

  void emit_tiles(const Ex& to) {
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
          for (int64_t c = 0; c < block_; ++c)
            emit_result(to, unit + c, acc[static_cast<size_t>(c)]);
        },
        block_);
  }

  // ---- pairs (ops/common/dsp_gemm.h): scratch is a panel, then the sums of every part of the
  // depth

  // Sums come out of the upper 24 bits of an accumulator, so they have to fit these; long rows are
  // summed in parts that do.
  bool fits_pairs() {
    if (s_.units < PairGemm::kGemvChannels || s_.depth % 4 != 0) return false;
    w_ = op_.constant(1)->to_vector<int8_t>();
    groups_ = tile_starts(s_.units, PairGemm::kGemvChannels);
    if (!pairs_fit(w_, groups_, PairGemm::kGemvChannels, s_.depth)) return false;
    constexpr int64_t kMostParts = 8;
    for (parts_ = 1; parts_ <= kMostParts; ++parts_)
      if (s_.depth % (4 * parts_) == 0 && largest_sum(s_.depth / parts_) < 1 << 23) return true;
    return false;
  }

  // The largest magnitude of a sum of `length` elements, over all units and parts of their rows.
  // The elements of a row span 255 at most, from below 0 to above it.
  int64_t largest_sum(int64_t length) const {
    int64_t largest = 0;
    for (size_t at = 0; at < w_.size(); at += static_cast<size_t>(length)) {
      int64_t above = 0, below = 0;
      for (size_t k = at; k < at + static_cast<size_t>(length); ++k)
        (w_[k] > 0 ? above : below) += std::abs(static_cast<int64_t>(w_[k]));
      largest =
          std::max(largest, s_.asymmetric ? 255 * std::max(above, below) : 127 * (above + below));
    }
    return largest;
  }

  void begin_pairs() {
    const int64_t length = s_.depth / parts_;
    std::vector<int32_t> stream;
    for (int64_t part = 0; part < parts_; ++part) {
      std::vector<int32_t> words =
          gemv_sums_stream(w_, s_.depth, row_order(part * length, (part + 1) * length), groups_);
      stream.insert(stream.end(), words.begin(), words.end());
    }
    auto groups = static_cast<int64_t>(groups_.size());
    sums_of_part_ = groups * PairGemm::kGemvChannels;
    stream_of_part_ = static_cast<int64_t>(stream.size()) / parts_;
    stream_ = f_.constant("stream", DType::kI32, stream);
    shape_ = f_.constant("shape", DType::kI32, gemv_sums_shape(length / 2, groups));
    panel_ = f_.scratch("panel", DType::kI32, s_.depth / 2 + parts_ * sums_of_part_, 4);
  }

  void quantize_to_panel() {
    RowRequest row = request();
    row.centred = true;
    row.store = [this](const Ex& i, const std::vector<Ex>& q) {
      Ex at = f_.let("at", i >> 1);
      f_.store(panel_, at, pair_word(q[0], q[2]));
      f_.store(panel_, at + 1, pair_word(q[1], q[3]));
    };
    q_ = emit_quantize_row(f_, row);
  }

  void emit_pairs(const Ex& to) {
    const int64_t sums = s_.depth / 2;
    for (int64_t part = 0; part < parts_; ++part)
      f_.run(gemv_sums_kernel(),
             {address(stream_, part * stream_of_part_), address(panel_, part * (sums / parts_)),
              address(panel_, sums + part * sums_of_part_), address(shape_, 0)});
    // Units of the last group that the one before has as well were summed twice.
    int64_t whole = s_.units / PairGemm::kGemvChannels * PairGemm::kGemvChannels;
    emit_results(to, 0, whole, sums);
    if (whole < s_.units)
      emit_results(to, whole, s_.units,
                   sums + sums_of_part_ - PairGemm::kGemvChannels + (whole - groups_.back()));
  }

  // Of units begin .. end, whose sums begin at panel[from].
  void emit_results(const Ex& to, int64_t begin, int64_t end, int64_t from) {
    constexpr int64_t kUnroll = 4;
    int64_t unroll = unroll_for(end - begin, kUnroll);
    f_.loop(
        "u", begin, end,
        [&](Ex u) {
          for (int64_t i = 0; i < unroll; ++i) {
            Ex sum = load(panel_, u + (from - begin + i));
            for (int64_t part = 1; part < parts_; ++part)
              sum = sum + load(panel_, u + (from - begin + i + part * sums_of_part_));
            emit_result(to, u + i, f_.let("sum", sum));
          }
        },
        unroll);
  }

  const OpView& op_;
  Sizes s_;
  LoweringBuilder f_;
  bool nibbles_ = false;
  int64_t block_ = 4, unroll_ = 4, parts_ = 1, sums_of_part_ = 0, stream_of_part_ = 0;
  std::vector<int8_t> w_;
  std::vector<int64_t> groups_;
  BufferPtr in_, out_, weights_, bytes_, bias_, scales_, sums_, stream_, shape_, panel_;
  Ex row_, step_;
  RowQuantization q_;
};

}  // namespace

void evaluate_fully_connected_hybrid(const OpView& op, const EvalData& data) {
  Sizes s(op);
  auto x = data.in<float>(0);
  auto w = data.in<int8_t>(1);
  auto out = data.out<float>();
  std::vector<int8_t> q(static_cast<size_t>(s.depth));
  const bool zeros = std::all_of(x.begin(), x.end(), [](float v) { return v == 0; });
  for (int64_t r = 0; r < s.rows; ++r) {
    RowScale row =
        quantize_row(x.subspan(static_cast<size_t>(r * s.depth), q.size()), q, s.asymmetric);
    for (int64_t u = 0; u < s.units; ++u) {
      int32_t sum = 0;
      for (size_t k = 0; k < q.size(); ++k)
        sum += (q[k] - row.zero) * w[static_cast<size_t>(u) * q.size() + k];
      float v = float_bias_at(op, u);
      if (!zeros) v += static_cast<float>(sum) * (weight_scale(op, u) * row.scale);
      out[static_cast<size_t>(r * s.units + u)] =
          activated(op.attrs<FullyConnectedAttrs>().activation, v);
    }
  }
}

Lowered lower_fully_connected_hybrid(const OpView& op, const TargetInfo& target) {
  return HybridLowering(op).run(target);
}

}  // namespace aotc::ops
