// SPDX-License-Identifier: Apache-2.0
// A pool whose one window is the whole image, of rows that come one after the other.
#include <algorithm>
#include <cstdlib>
#include <limits>

#include "ops/common/elementwise.h"
#include "ops/pool_2d/pool_2d.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

class PooledPieces {
 public:
  PooledPieces(const OpView& op, PoolKind kind, int64_t pieces)
      : op_(op),
        kind_(kind),
        pieces_(pieces),
        pixels_(pool_window(op).y.kernel * pool_window(op).x.kernel),
        channels_(op.result().elements()),
        is_float_(op.operand(0).dtype == DType::kF32),
        type_(kept_type()) {}

  RowSums run() { return {begin(), add(), end(), type_, channels_}; }

 private:
  LoweringBuilder part(const char* name) const { return {op_, std::string(op_.op.name()) + name}; }
  BufferPtr kept_in(LoweringBuilder& f) const { return f.scratch("kept", type_, channels_, size_of(type_)); }
  DType kept_type() const {
    if (is_float_ || kind_ == PoolKind::kMax) return op_.operand(0).dtype;
    const IntRange values = int_range(op_.operand(0).dtype);
    const int64_t shift = average_shift(op_);
    return type_of_sums(pixels_ * std::max(std::abs(values.min + shift), std::abs(values.max + shift)));
  }
  bool averages_integers() const { return kind_ == PoolKind::kAverage && !is_float_; }

  Ex start() const {
    const bool most = kind_ == PoolKind::kMax;
    if (is_float_) return tir::f32(most ? std::numeric_limits<float>::lowest() : 0.0f);
    return most ? Ex(int_range(op_.operand(0).dtype).min) : Ex(pixels_ * average_shift(op_));
  }

  Lowered begin() const {
    LoweringBuilder f = part("_begin");
    const BufferPtr kept = kept_in(f);
    f.loop("c", 0, channels_, [&](const Ex& c) { f.store(kept, c, start()); });
    return f.finish();
  }

  Lowered add() const {
    LoweringBuilder f = part("_add");
    const BufferPtr in = f.piece(0, pieces_), kept = kept_in(f);
    f.loop("c", 0, channels_, [&](const Ex& c) {
      const Ex so_far = f.var(kind_ == PoolKind::kMax ? "best" : "sum", load(kept, c));
      f.loop("i", 0, pixels_ / pieces_,
             [&](const Ex& i) { f.assign(so_far, join_pooled(kind_, so_far, load(in, i * channels_ + c))); });
      f.store(kept, c, so_far);
    });
    return f.finish();
  }

  Lowered end() const {
    LoweringBuilder f = part("_end");
    const BufferPtr kept = kept_in(f);
    std::optional<Requantizer> divider;
    const Counts rows{pool_window(op_).y.kernel, pool_window(op_).y.kernel};
    const Counts columns{pool_window(op_).x.kernel, pool_window(op_).x.kernel};
    if (averages_integers()) divider.emplace(f, average_scaling(op_, rows, columns));
    const BufferPtr out = f.result(0);
    Requantizer::Channel scale;
    if (divider) {
      divider->begin(f);
      scale = divider->prepare(f, Ex(0));
    }
    f.loop("c", 0, channels_, [&](const Ex& c) {
      const Ex sum = f.let("sum", load(kept, c));
      f.store(out, c, divider ? divider->emit(f, sum, scale) : finished(sum));
    });
    return f.finish();
  }

  Ex finished(const Ex& kept) const {
    const Activation activation = op_.attrs<Pool2DAttrs>().activation;
    if (is_float_) {
      Ex value = kind_ == PoolKind::kMax ? kept : kept / tir::f32(static_cast<float>(pixels_));
      if (kind_ == PoolKind::kRoot) value = call(tir::Intrinsic::kSqrt, DType::kF32, {value});
      return emit_clamp(value, float_clamp(activation));
    }
    const IntRange all = int_range(op_.operand(0).dtype);
    return emit_bound(kept, quantized_clamp(activation, op_.result()), all.min, all.max);
  }

  const OpView& op_;
  PoolKind kind_;
  int64_t pieces_, pixels_, channels_;
  bool is_float_;
  DType type_;
};

}  // namespace

bool pool_sums_pieces(const OpView& op, int64_t pieces) {
  const Window w = pool_window(op);
  auto whole = [](const WindowAxis& axis) { return axis.out == 1 && axis.kernel == axis.in && axis.pad_before == 0; };
  return op.attrs<Pool2DAttrs>().begin == MaxBegin::kLeast && !word_average(op) && w.batch == 1 && whole(w.y) &&
         whole(w.x) && w.y.in % pieces == 0;
}

RowSums lower_pool_pieces(const OpView& op, PoolKind kind, int64_t pieces) {
  return PooledPieces(op, kind, pieces).run();
}

}  // namespace aotc::ops
