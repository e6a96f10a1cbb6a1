// SPDX-License-Identifier: Apache-2.0
// A reduction as TIR: loops over what is kept around loops over what is reduced.
#include <fmt/format.h>

#include "ops/common/requantize.h"
#include "ops/reduce/reduce.h"

namespace aotc::ops::reduce {

using tir::BufferPtr;
using tir::Ex;

namespace {

class ReductionLowering {
 public:
  explicit ReductionLowering(const Reduction& r, const std::string& part = "")
      : r_(r), f_(r.op, std::string(r.rule.name) + part), accumulator_(accumulator_of(r)), dims_(r.dims) {}

  // What is kept between pieces.
  DType kept_type() const {
    if (r_.arithmetic == Arithmetic::kScaledSum) return type_of_sums(r_.largest_sum());
    return r_.rule.finish == Finish::kValue ? r_.type : accumulator_;
  }

  Lowered run() {
    in_ = f_.operand(0);
    out_ = f_.result();
    std::string name(r_.rule.variable);
    kept(0, 0, 0, [&](const Ex& from, const Ex& to) {
      Ex so_far = f_.var(name, r_.from_first() ? element(from) : start());
      if (r_.from_first()) {
        rest(0, from, so_far);
      } else {
        all(0, from, so_far);
      }
      store(to, so_far);
    });
    return f_.finish(fmt::format("one {} per result", name));
  }

  // The same in pieces: what is combined so far is kept between them.
  Lowered begin() {
    const BufferPtr kept = make_kept();
    f_.loop("i", 0, kept->elements, [&](const Ex& i) { f_.store(kept, i, start()); });
    return f_.finish();
  }
  Lowered add(int64_t pieces) {
    dims_[0].extent /= pieces;
    in_ = f_.piece(0, pieces);
    const BufferPtr so_far = make_kept();
    kept(0, 0, 0, [&](const Ex& from, const Ex& to) {
      Ex value = f_.var(std::string(r_.rule.variable), load_kept(so_far, to));
      all(0, from, value);
      f_.store(so_far, to, value);
    });
    return f_.finish();
  }
  Lowered end() {
    const BufferPtr kept = make_kept();
    out_ = f_.result();
    f_.loop("i", 0, kept->elements, [&](const Ex& i) { store(i, load_kept(kept, i)); });
    return f_.finish();
  }

 private:
  BufferPtr make_kept() { return f_.scratch("kept", kept_type(), r_.op.result().elements(), size_of(kept_type())); }
  Ex load_kept(const BufferPtr& kept, const Ex& at) const {
    const Ex value = load(kept, at);
    return value.type() == accumulator_ ? value : cast(accumulator_, value);
  }

  static DType accumulator_of(const Reduction& r) {
    if (r.arithmetic == Arithmetic::kFloat) return DType::kF32;
    bool wide = r.type == DType::kI64 || (r.type == DType::kI32 && r.rule.finish == Finish::kMean);
    return wide ? DType::kI64 : DType::kI32;
  }

  Ex start() const {
    if (accumulator_ == DType::kF32) return tir::f32(r_.float_start());
    return tir::imm(accumulator_, r_.start());
  }

  Ex element(const Ex& from) const {
    Ex value = load(in_, from);
    if (r_.arithmetic == Arithmetic::kScaledProduct) return value - r_.op.operand(0).zero_point();
    return value.type() == accumulator_ ? value : cast(accumulator_, value);
  }

  void combine(const Ex& so_far, const Ex& from) {
    if (r_.arithmetic == Arithmetic::kScaledProduct)
      return f_.assign(so_far, scaled_product(cast(DType::kI64, so_far) * cast(DType::kI64, element(from))));
    // Sums of quantised values, and of int32 in 64 bits, have room.
    bool wraps = accumulator_ != DType::kF32 && r_.arithmetic != Arithmetic::kScaledSum &&
                 (r_.type == DType::kI64 || accumulator_ == DType::kI32);
    f_.assign(so_far, r_.rule.combine.emit(so_far, element(from), wraps));
  }

  Ex scaled_product(const Ex& product) const {
    ProductScale scale(r_.multiplier());
    return cast_wrapping(DType::kI32,
                         (product * tir::i64(scale.factor) + tir::i64(scale.half)) >> tir::i64(scale.shift));
  }

  void store(const Ex& to, const Ex& value) { f_.store(out_, to, finished(value)); }

  Ex finished(const Ex& value) {
    bool divided = r_.rule.finish == Finish::kMean;
    IntRange range = r_.arithmetic == Arithmetic::kFloat ? IntRange{} : int_range(r_.type);
    switch (r_.arithmetic) {
      case Arithmetic::kFloat: return divided ? value / tir::f32(static_cast<float>(r_.count)) : value;
      case Arithmetic::kInteger:
        if (divided) {
          Ex quotient = value / tir::i64(r_.count);
          return r_.type == DType::kI32 ? cast(DType::kI32, quotient) : quotient;
        }
        // Below 32 bits a product keeps its low bits.
        return r_.rule.finish == Finish::kProduct && size_of(r_.type) < 4 ? cast_wrapping(r_.type, value) : value;
      case Arithmetic::kScaledSum: {
        Ex scaled = emit_multiply(f_, value, r_.multiplier(), r_.largest_sum());
        return clamp(scaled + r_.op.result().zero_point(), range.min, range.max);
      }
      case Arithmetic::kScaledProduct: break;
    }
    Ex scaled = add_wrapping(scaled_product(cast(DType::kI64, value)), r_.op.result().zero_point());
    return clamp(scaled, range.min, range.max);
  }

  void kept(size_t d, const Ex& from, const Ex& to, const std::function<void(const Ex&, const Ex&)>& body) {
    while (d < dims_.size() && dims_[d].reduced) ++d;
    if (d == dims_.size()) return body(from, to);
    f_.loop(fmt::format("i{}", d), 0, dims_[d].extent, [&](Ex i) {
      Ex inner = f_.let("from", from + i * dims_[d].in_stride);
      kept(d + 1, inner, f_.let("to", to + i * dims_[d].out_stride), body);
    });
  }

  size_t next_reduced(size_t d) const {
    while (d < dims_.size() && !dims_[d].reduced) ++d;
    return d;
  }

  // The elements of the dimensions from `d` on, in memory order.
  void all(size_t d, const Ex& from, const Ex& so_far, int64_t first = 0) {
    d = next_reduced(d);
    if (d == dims_.size()) return combine(so_far, from);
    f_.loop(fmt::format("r{}", d), first, dims_[d].extent,
            [&](Ex i) { all(d + 1, from + i * dims_[d].in_stride, so_far); });
  }

  // The same without the first.
  void rest(size_t d, const Ex& from, const Ex& so_far) {
    d = next_reduced(d);
    if (d == dims_.size()) return;
    rest(d + 1, from, so_far);
    all(d, from, so_far, 1);
  }

  const Reduction& r_;
  LoweringBuilder f_;
  DType accumulator_;
  std::vector<Dim> dims_;
  BufferPtr in_, out_;
};

}  // namespace

Lowered lower(const Reduction& r) { return ReductionLowering(r).run(); }

RowSums lower_pieces(const Reduction& r, int64_t pieces) {
  ReductionLowering begin(r, "_begin"), add(r, "_add"), end(r, "_end");
  return {begin.begin(), add.add(pieces), end.end(), begin.kept_type(), r.op.result().elements()};
}

}  // namespace aotc::ops::reduce
