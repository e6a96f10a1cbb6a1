// SPDX-License-Identifier: Apache-2.0
// class_suppression: of every batch and class boxes by falling scores, without those that overlap one that was chosen,
// as rows (batch, class, box), and how many rows. The one thing to know: of equal scores the first counts, and a box
// without area overlaps nothing.
#include <cmath>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/lowered_evaluation.h"
#include "ops/non_max_suppression/attributes.h"
#include "ops/signature.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

constexpr int64_t kMostRows = 1 << 20;

struct Sides {
  Ex low_y, low_x, high_y, high_x;
};

class ClassSuppressionLowering {
 public:
  explicit ClassSuppressionLowering(const OpView& op)
      : a_(op.attrs<ClassSuppressionAttrs>()),
        f_(op, "class_suppression"),
        boxes_(f_.operand(0)),
        scores_(f_.operand(1)),
        rows_(f_.result(0)),
        count_out_(f_.result(1)),
        batches_(op.operand(1).shape[0]),
        classes_(op.operand(1).shape[1]),
        n_(op.operand(1).shape[2]) {
    open_ = f_.scratch("open", DType::kU8, n_);
  }

  Lowered lower() {
    count_ = f_.var("count", 0);
    f_.loop("batch", 0, batches_,
            [&](const Ex& batch) { f_.loop("kind", 0, classes_, [&](const Ex& kind) { choose_of(batch, kind); }); });
    f_.loop("i", f_.let("used", count_ * 3), rows_->elements, [&](const Ex& i) { f_.store(rows_, i, tir::i64(0)); });
    f_.store(count_out_, 0, count_);
    return f_.finish("the best candidate is looked for again and again");
  }

 private:
  void choose_of(const Ex& batch, const Ex& kind) {
    Ex base = f_.let("base", (batch * classes_ + kind) * n_), box_base = f_.let("box_base", batch * n_);
    Ex begin = f_.let("begin", count_);
    f_.loop("i", 0, n_, [&](const Ex& i) {
      Ex takes_part = a_.has_score ? load(scores_, base + i) > tir::f32(a_.score) : Ex(1);
      f_.store(open_, i, takes_part);
    });
    Ex going = f_.var("going", 1);
    f_.loop("tries", 0, n_, [&](const Ex&) {
      f_.if_(going != 0, [&] {
        Ex best = best_of(base);
        f_.if_(
            best < 0, [&] { f_.assign(going, 0); },
            [&] {
              Ex box = f_.let("box", max(best, Ex(0))), now = f_.let("now", count_);
              f_.store(open_, box, 0);
              f_.if_(stays(box_base, box, begin, now), [&] { choose(batch, kind, box, now); });
              f_.if_(count_ - begin == a_.most, [&] { f_.assign(going, 0); });
            });
      });
    });
  }

  // The candidate with the highest score, or -1.
  Ex best_of(const Ex& base) {
    Ex best = f_.var("best", -1), highest = f_.var("highest", tir::f32(0.0f));
    f_.loop("i", 0, n_, [&](const Ex& i) {
      f_.if_(load(open_, i) != 0, [&] {
        Ex s = f_.let("s", load(scores_, base + i));
        f_.if_(best < 0 || s > highest, [&] {
          f_.assign(highest, s);
          f_.assign(best, i);
        });
      });
    });
    return best;
  }

  Ex stays(const Ex& box_base, const Ex& box, const Ex& begin, const Ex& now) {
    Ex stays = f_.var("stays", 1);
    Sides own = sides(f_.let("own", box_base + box));
    f_.loop("chosen", begin, now, [&](const Ex& chosen) {
      f_.if_(stays != 0, [&] {
        Ex row = clamp(chosen, Ex(0), Ex(rows_->elements / 3 - 1));
        Ex other = cast(DType::kI32, load(rows_, row * 3 + 2));
        Sides there = sides(f_.let("there", box_base + clamp(other, Ex(0), Ex(n_ - 1))));
        f_.if_(overlaps(own, there), [&] { f_.assign(stays, 0); });
      });
    });
    return stays != 0;
  }

  Sides sides(const Ex& box) {
    Ex at = f_.let("corner", box * 4);
    Ex a = f_.let("a", load(boxes_, at)), b = f_.let("b", load(boxes_, at + 1));
    Ex c = f_.let("c", load(boxes_, at + 2)), d = f_.let("d", load(boxes_, at + 3));
    if (!a_.centre) {
      return {f_.let("low_y", min(a, c)), f_.let("low_x", min(b, d)), f_.let("high_y", max(a, c)),
              f_.let("high_x", max(b, d))};
    }
    Ex wide = f_.let("wide", c / tir::f32(2.0f)), high = f_.let("high", d / tir::f32(2.0f));
    return {f_.let("low_y", b - high), f_.let("low_x", a - wide), f_.let("high_y", b + high),
            f_.let("high_x", a + wide)};
  }

  Ex area(const char* name, const Sides& s) { return f_.let(name, (s.high_x - s.low_x) * (s.high_y - s.low_y)); }

  Ex overlaps(const Sides& a, const Sides& b) {
    const Ex zero = tir::f32(0.0f);
    Ex low_x = f_.let("in_low_x", max(a.low_x, b.low_x)), high_x = f_.let("in_high_x", min(a.high_x, b.high_x));
    Ex low_y = f_.let("in_low_y", max(a.low_y, b.low_y)), high_y = f_.let("in_high_y", min(a.high_y, b.high_y));
    Ex both = f_.let("both", (high_x - low_x) * (high_y - low_y));
    Ex first = area("first", a), second = area("second", b), all = f_.let("all", first + second - both);
    Ex meet =
        f_.let("meet", high_x > low_x && high_y > low_y && both > zero && first > zero && second > zero && all > zero);
    return meet && both / select(meet, all, tir::f32(1.0f)) > tir::f32(a_.overlap);
  }

  void choose(const Ex& batch, const Ex& kind, const Ex& box, const Ex& now) {
    Ex at = f_.let("at", min(now, Ex(rows_->elements / 3 - 1)) * 3);
    f_.store(rows_, at, cast(DType::kI64, batch));
    f_.store(rows_, at + 1, cast(DType::kI64, kind));
    f_.store(rows_, at + 2, cast(DType::kI64, box));
    f_.assign(count_, now + 1);
  }

  const ClassSuppressionAttrs& a_;
  LoweringBuilder f_;
  BufferPtr boxes_, scores_, rows_, count_out_;
  int64_t batches_, classes_, n_;
  BufferPtr open_;
  Ex count_;
};

// Operands: boxes (batch, n, 4), scores (batch, class, n). Results: rows (batch, class, box), how many.
class ClassSuppression final : public SpecifiedOperator {
 public:
  ClassSuppression()
      : SpecifiedOperator(
            {.name = "class_suppression",
             .summary = "of each class the best of boxes that overlap, and how many",
             .operands = {{.name = "boxes", .types = {{DType::kF32, "largest shape and a count"}}, .ranks = {3, 3}},
                          {.name = "scores", .types = {DType::kF32}, .ranks = {3, 3}}},
             .results = {{.name = "rows", .types = {DType::kI64}}, {.name = "count", .types = {DType::kI32}}},
             .shapes = Shapes::kOwn,
             .attributes = make_attributes<ClassSuppressionAttrs>,
             .ranges = {finite<&ClassSuppressionAttrs::overlap>("overlap"),
                        finite<&ClassSuppressionAttrs::score>("score")}}) {}

  void evaluate(const OpView& op, const EvalData& data) const override { evaluate_lowering(op, data); }

  int64_t macs(const OpView& op) const override {
    return op.operand(1).elements() * std::min<int64_t>(op.attrs<ClassSuppressionAttrs>().most, op.operand(1).shape[2]);
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override { return ClassSuppressionLowering(op).lower(); }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    const graph::Shape &boxes = op.operand(0).shape, &scores = op.operand(1).shape;
    const int64_t most = op.attrs<ClassSuppressionAttrs>().most;
    const bool fits = boxes[2] == 4 && boxes[0] == scores[0] && boxes[1] == scores[2] && boxes[0] >= 1 &&
                      scores[1] >= 1 && boxes[1] >= 1 && boxes[1] <= kMostRows && scores[1] <= kMostRows &&
                      scores[0] <= kMostRows;
    if (!fits) {
      bad_shape(op, diags,
                fmt::format("boxes of {} and scores of {}; needed are batch x n x 4 and batch x class x n",
                            graph::to_string(boxes), graph::to_string(scores)));
      return kFailure;
    }
    if (most < 1 || most > kMostRows / scores[1] / scores[0]) {
      bad_attribute(op, diags,
                    fmt::format("{} boxes of each class are to be chosen, not 1 to {} in all", most, kMostRows));
      return kFailure;
    }
    return std::vector<graph::Shape>{{scores[0] * scores[1] * std::min(most, scores[2]), 3}, {1}};
  }
};

}  // namespace

void add_class_suppression(OperatorSet& set) { set.add(std::make_unique<ClassSuppression>()); }

}  // namespace aotc::ops
