// SPDX-License-Identifier: Apache-2.0
// A fully connected layer of one row that comes in pieces: a sum of every unit is kept, and the weights stand in the
// order of the pieces.
#include <algorithm>

#include "ops/common/conv.h"
#include "ops/common/gemm.h"
#include "ops/common/nibbles.h"
#include "ops/fully_connected/fully_connected.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

class ConnectedPieces {
 public:
  ConnectedPieces(const OpView& op, int64_t pieces, const TargetInfo& target)
      : op_(op),
        target_(target),
        units_(op.operand(1).shape[0]),
        depth_(op.operand(1).shape[1]),
        pieces_(pieces),
        length_(depth_ / pieces),
        block_(std::min<int64_t>(4, units_)),
        is_float_(op.operand(0).dtype == DType::kF32) {
    if (is_float_) {
      type_ = DType::kF32;
    } else if (op.operand(0).dtype == DType::kI16) {
      wide_ = fully_connected_wide_scaling(op);
      type_ = wide_->wide() ? DType::kI64 : DType::kI32;
    } else {
      std::tie(folded_, scaling_) = folded_scaling(op, centred_weights(op));
    }
  }

  RowSums run() { return {begin(), add(), end(), type_, units_}; }

 private:
  LoweringBuilder part(const char* name) const { return {op_, std::string("fully_connected") + name}; }
  BufferPtr kept_in(LoweringBuilder& f) const { return f.scratch("kept", type_, units_, size_of(type_)); }

  // Sums of integers begin with the bias, floats are added to it.
  Lowered begin() const {
    LoweringBuilder f = part("_begin");
    const BufferPtr kept = kept_in(f);
    if (is_float_) {
      f.loop("u", 0, units_, [&](const Ex& u) { f.store(kept, u, tir::f32(0.0f)); });
      return f.finish();
    }
    const BufferPtr bias = wide_ ? wide_bias(f, *wide_) : f.constant("bias", DType::kI32, folded_.bias);
    f.copy(kept, 0, bias, 0, units_);
    return f.finish();
  }

  // Piece by piece, and in one by blocks of units, the last of which may be smaller.
  template <typename T>
  std::vector<T> in_pieces(const std::vector<T>& weights) const {
    std::vector<T> out;
    for (int64_t piece = 0; piece < pieces_; ++piece)
      for (int64_t unit = 0; unit < units_; unit += block_)
        for (int64_t k = piece * length_; k < (piece + 1) * length_; ++k)
          for (int64_t u = unit; u < std::min(units_, unit + block_); ++u)
            out.push_back(weights[static_cast<size_t>(u * depth_ + k)]);
    return out;
  }

  Lowered add() const {
    LoweringBuilder f = part("_add");
    const BufferPtr in = f.piece(0, pieces_);
    const BufferPtr weights = is_float_
                                  ? f.constant("weights", DType::kF32, in_pieces(op_.constant(1)->to_vector<float>()))
                                  : weights_constant(f, "weights", in_pieces(centred_weights(op_)));
    const BufferPtr kept = kept_in(f);
    const Ex begin = f.let("begin", f.scalar("piece") * (units_ * length_));
    const int64_t whole = units_ / block_ * block_;
    f.loop(
        "u", 0, whole, [&](const Ex& u) { add_block(f, in, weights, begin + u * length_, kept, u, block_); }, block_);
    if (whole < units_) add_block(f, in, weights, begin + whole * length_, kept, whole, units_ - whole);
    return f.finish();
  }

  void add_block(LoweringBuilder& f, const BufferPtr& in, const BufferPtr& weights, const Ex& from,
                 const BufferPtr& kept, const Ex& unit, int64_t units) const {
    GemmTile tile;
    tile.k = length_;
    tile.channels = units;
    tile.unroll = unroll_for(length_, std::max(4, target_.gemm_unroll));
    tile.x = in;
    tile.x_base = {Ex(0)};
    tile.weights = weights;
    tile.weights_base = f.let("wi", from);
    const std::vector<Ex> sums = emit_gemm_tile(f, tile, [&](int64_t, int64_t c) { return load(kept, unit + c); });
    for (int64_t c = 0; c < units; ++c) f.store(kept, unit + c, sums[static_cast<size_t>(c)]);
  }

  Lowered end() const {
    LoweringBuilder f = part("_end");
    const BufferPtr kept = kept_in(f);
    if (is_float_) {
      std::vector<float> values;
      for (int64_t u = 0; u < units_; ++u) values.push_back(float_bias_at(op_, u));
      const BufferPtr bias = f.constant("bias", DType::kF32, values), out = f.result(0);
      const ClampF32 range = float_clamp(op_.attrs<FullyConnectedAttrs>().activation);
      f.loop("u", 0, units_, [&](const Ex& u) { f.store(out, u, emit_clamp(load(kept, u) + load(bias, u), range)); });
      return f.finish();
    }
    if (wide_) return scale(f, kept, WideRequantizer(f, *wide_));
    return scale(f, kept, Requantizer(f, scaling_));
  }

  template <typename Scaler>
  Lowered scale(LoweringBuilder& f, const BufferPtr& kept, Scaler scaler) const {
    const BufferPtr out = f.result(0);
    scaler.begin(f);
    f.loop("u", 0, units_, [&](const Ex& u) {
      const auto channel = scaler.prepare(f, u);
      f.store(out, u, scaler.emit(f, f.let("sum", load(kept, u)), channel));
    });
    return f.finish();
  }

  const OpView& op_;
  const TargetInfo& target_;
  int64_t units_, depth_, pieces_, length_, block_;
  bool is_float_;
  DType type_ = DType::kI32;
  std::optional<WideScaling> wide_;  // int16
  FoldedBias folded_;                // int8
  Requantization scaling_;
};

}  // namespace

RowSums lower_fully_connected_pieces(const OpView& op, int64_t pieces, const TargetInfo& target) {
  return ConnectedPieces(op, pieces, target).run();
}

}  // namespace aotc::ops
