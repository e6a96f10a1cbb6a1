// SPDX-License-Identifier: Apache-2.0
// unique_rows: the rows of a matrix that differ, where each comes first, for each row of the operand which of them it
// is, and how often each is there. 0 and -0 are equal; what is not a number is equal to its like and behind all
// numbers.
#include "ops/common/checks.h"
#include "ops/common/lowered_evaluation.h"
#include "ops/counted/attributes.h"
#include "ops/counted/counted.h"
#include "ops/signature.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

class UniqueRowsLowering {
 public:
  explicit UniqueRowsLowering(const OpView& op)
      : sorted_(op.attrs<UniqueRowsAttrs>().sorted),
        rows_(op.operand(0).shape[0]),
        width_(op.operand(0).shape[1]),
        f_(op, "unique_rows"),
        in_(f_.operand(0)),
        values_(f_.result(0)),
        first_(f_.result(1)),
        which_(f_.result(2)),
        times_(f_.result(3)) {}

  Lowered lower() {
    f_.loop("i", 0, rows_, [&](const Ex& i) { f_.store(which_, i, -1); });
    Ex count = f_.var("count", 0);
    f_.loop("r", 0, rows_, [&](const Ex& r) {
      Ex best = f_.var("best", -1);
      f_.loop("i", 0, rows_, [&](const Ex& i) { f_.if_(load(which_, i) < 0, [&] { choose(best, i); }); });
      f_.if_(
          best >= 0,
          [&] {
            take(r, f_.let("row", max(best, Ex(0))));
            f_.assign(count, r + 1);
          },
          [&] { leave(r); });
    });
    f_.store(f_.result(4), 0, count);
    return f_.finish("the next row is looked for again and again");
  }

 private:
  void choose(const Ex& best, const Ex& i) {
    if (!sorted_) {
      f_.if_(best < 0, [&] { f_.assign(best, i); });
      return;
    }
    Ex before = f_.let("before", order(i, f_.let("row", max(best, Ex(0)))));
    f_.if_(best < 0 || before < 0, [&] { f_.assign(best, i); });
  }

  // -1, 0 or 1: does row a come before b, is it equal, or behind?
  Ex order(const Ex& a, const Ex& b) {
    Ex out = f_.var("order", 0);
    Ex at = f_.let("at", a * width_), other = f_.let("other", b * width_);
    f_.loop("k", 0, width_, [&](const Ex& k) {
      f_.if_(out == 0, [&] {
        Ex x = f_.let("x", load(in_, at + k)), y = f_.let("y", load(in_, other + k));
        Ex less = x < y, more = y < x;
        if (is_float(in_->dtype)) {
          less = less || (y != y && x == x);
          more = more || (x != x && y == y);
        }
        f_.if_(less, [&] { f_.assign(out, -1); }, [&] { f_.if_(more, [&] { f_.assign(out, 1); }); });
      });
    });
    return out;
  }

  void take(const Ex& r, const Ex& row) {
    f_.loop("k", 0, width_, [&](const Ex& k) { f_.store(values_, r * width_ + k, load(in_, row * width_ + k)); });
    f_.store(first_, r, row);
    Ex times = f_.var("times", 0);
    f_.loop("i", row, rows_, [&](const Ex& i) {
      f_.if_(load(which_, i) < 0, [&] {
        Ex same = order(i, row);
        f_.if_(same == 0, [&] {
          f_.store(which_, i, r);
          f_.assign(times, times + 1);
        });
      });
    });
    f_.store(times_, r, times);
  }

  // Behind what counts.
  void leave(const Ex& r) {
    const DType type = tir::promoted(in_->dtype);
    const Ex zero = is_float(type) ? cast(type, tir::f32(0.0f)) : tir::imm(type, 0);
    f_.loop("k", 0, width_, [&](const Ex& k) { f_.store(values_, r * width_ + k, zero); });
    f_.store(first_, r, 0);
    f_.store(times_, r, 0);
  }

  bool sorted_;
  int64_t rows_, width_;
  LoweringBuilder f_;
  BufferPtr in_, values_, first_, which_, times_;
};

// Operand: a matrix. Results: its rows that differ, and int32: where each is first, which each row of the operand is,
// how often each is there, how many there are.
class UniqueRows final : public SpecifiedOperator {
 public:
  UniqueRows()
      : SpecifiedOperator({.name = "unique_rows",
                           .summary = "rows that differ, where, how often, and how many",
                           .operands = {{.name = "x",
                                         .types = counted_types({DType::kF32, DType::kF64, DType::kI8, DType::kU8,
                                                                 DType::kI16, DType::kI32, DType::kI64}),
                                         .ranks = {2, 2}}},
                           .results = {{.name = "rows"},
                                       {.name = "first", .types = {DType::kI32}},
                                       {.name = "which", .types = {DType::kI32}},
                                       {.name = "times", .types = {DType::kI32}},
                                       {.name = "count", .types = {DType::kI32}}},
                           .shapes = Shapes::kOwn,
                           .quantized = Quantized::kCopied,
                           .attributes = make_attributes<UniqueRowsAttrs>}) {}

  void evaluate(const OpView& op, const EvalData& data) const override { evaluate_lowering(op, data); }

  Lowered lower(const OpView& op, const TargetInfo&) const override { return UniqueRowsLowering(op).lower(); }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics&) const override {
    const graph::Shape& in = op.operand(0).shape;
    return std::vector<graph::Shape>{in, {in[0]}, {in[0]}, {in[0]}, {1}};
  }
};

}  // namespace

void add_unique_rows(OperatorSet& set) { set.add(std::make_unique<UniqueRows>()); }

}  // namespace aotc::ops
