// SPDX-License-Identifier: Apache-2.0
// non_max_suppression: boxes by falling scores, without those that overlap one that was chosen. With a sigma above 0
// overlaps lower scores as well (soft suppression). The one thing to know: the reference keeps a chosen box among the
// candidates until it meets itself, so a box without area is chosen again and again. Of equal scores the first counts.
#include <limits>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/lowered_evaluation.h"
#include "ops/non_max_suppression/attributes.h"
#include "ops/signature.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

constexpr int64_t kMostChosen = 1 << 16;

Ex no_candidate() { return tir::f32(-std::numeric_limits<float>::infinity()); }

// A box with its corners in order.
struct Extent {
  Ex low_y, low_x, high_y, high_x, area;
};

class SuppressionLowering {
 public:
  explicit SuppressionLowering(const OpView& op)
      : a_(op.attrs<SuppressionAttrs>()),
        f_(op, "non_max_suppression"),
        boxes_(f_.operand(0)),
        scores_in_(f_.operand(1)),
        indices_(f_.result(0)),
        n_(op.operand(0).shape[0]) {
    if (op.op.results.size() == 3) scores_out_ = f_.result(1);
    count_out_ = f_.result(op.op.results.size() - 1);
    work_ = f_.scratch("work", DType::kF32, 2 * n_);
  }

  Lowered lower() {
    Ex candidates = f_.var("candidates", 0);
    f_.loop("i", 0, n_, [&](const Ex& i) {
      Ex score = f_.let("score", load(scores_in_, i));
      Ex takes_part = f_.let("takes_part", score > tir::f32(a_.score));
      f_.store(work_, i, select(takes_part, score, no_candidate()));
      f_.store(work_, begin_of(i), tir::f32(0.0f));
      f_.assign(candidates, candidates + takes_part);
    });
    count_ = f_.var("count", 0);
    Ex wanted = f_.let("wanted", min(candidates, Ex(int64_t{a_.most})));
    f_.loop("pick", 0, wanted, [&](const Ex& pick) {
      Ex open = f_.var("open", select(count_ == pick, Ex(1), Ex(0)));
      // Each candidate falls out, or falls behind, once at most before the next is chosen.
      f_.loop("tries", 0, n_ + 1, [&](const Ex&) { f_.if_(open != 0, [&] { f_.assign(open, look_at_best()); }); });
    });
    clear();
    f_.store(count_out_, 0, count_);
    return f_.finish("the best candidate is looked for again and again");
  }

 private:
  // In scratch behind the scores: with how many of the chosen a candidate was compared. Whole numbers as floats.
  Ex begin_of(const Ex& i) { return i + n_; }

  Extent extent(const Ex& box) {
    Ex at = f_.let("corner", box * 4);
    Ex y1 = f_.let("y1", load(boxes_, at)), x1 = f_.let("x1", load(boxes_, at + 1));
    Ex y2 = f_.let("y2", load(boxes_, at + 2)), x2 = f_.let("x2", load(boxes_, at + 3));
    Extent e{f_.let("low_y", min(y1, y2)),
             f_.let("low_x", min(x1, x2)),
             f_.let("high_y", max(y1, y2)),
             f_.let("high_x", max(x1, x2)),
             {}};
    e.area = f_.let("area", (e.high_y - e.low_y) * (e.high_x - e.low_x));
    return e;
  }

  Ex overlap(const Extent& a, const Extent& b) {
    const Ex zero = tir::f32(0.0f);
    Ex high = max(min(a.high_y, b.high_y) - max(a.low_y, b.low_y), zero);
    Ex wide = max(min(a.high_x, b.high_x) - max(a.low_x, b.low_x), zero);
    Ex both = f_.let("both", f_.let("high", high) * f_.let("wide", wide));
    return f_.let("overlap", select(a.area <= zero || b.area <= zero, zero, both / (a.area + b.area - both)));
  }

  // The best candidate is chosen, or falls out, or its score becomes less. Gives 0 if it is chosen or there is none.
  Ex look_at_best() {
    Ex best = f_.var("best", -1), score = f_.var("highest", no_candidate());
    f_.loop("i", 0, n_, [&](const Ex& i) {
      Ex s = f_.let("s", load(work_, i));
      f_.if_(s > score, [&] {
        f_.assign(score, s);
        f_.assign(best, i);
      });
    });
    Ex next = f_.var("next", 0);
    f_.if_(best >= 0, [&] {
      Ex box = f_.let("box", max(best, Ex(0)));
      Ex original = f_.let("original", score), now = f_.let("now", count_);
      Ex stays = f_.var("stays", 1);
      compare(box, score, stays, now);
      f_.store(work_, begin_of(box), cast(DType::kF32, now));
      Ex chosen = f_.let("chosen", stays != 0 && score == original);
      f_.if_(chosen, [&] { choose(box, now, score); });
      f_.store(work_, box, select(stays != 0 && score > tir::f32(a_.score), score, no_candidate()));
      f_.assign(next, select(chosen, Ex(0), Ex(1)));
    });
    return next;
  }

  // With those chosen since it was looked at last, from the last one on.
  void compare(const Ex& box, const Ex& score, const Ex& stays, const Ex& now) {
    Extent own = extent(box);
    Ex going = f_.var("going", 1);
    Ex first = f_.let("first", cast(DType::kI32, load(work_, begin_of(box))));
    f_.loop("back", 0, f_.let("news", now - first), [&](const Ex& back) {
      f_.if_(going != 0, [&] {
        Ex index = load(indices_, clamp(now - 1 - back, Ex(0), Ex(int64_t{a_.most} - 1)));
        Ex iou = overlap(own, extent(f_.let("other", clamp(index, Ex(0), Ex(n_ - 1)))));
        f_.if_(
            iou >= tir::f32(a_.overlap),
            [&] {
              f_.assign(stays, 0);
              f_.assign(going, 0);
            },
            [&] {
              if (a_.sigma > 0.0f) lower_score(score, iou);
              f_.if_(score <= tir::f32(a_.score), [&] { f_.assign(going, 0); });
            });
      });
    });
  }

  void lower_score(const Ex& score, const Ex& iou) {
    const auto scale = static_cast<float>(-0.5 / static_cast<double>(a_.sigma));
    f_.assign(score, score * call(tir::Intrinsic::kExp, DType::kF32, {tir::f32(scale) * iou * iou}));
  }

  void choose(const Ex& box, const Ex& place, const Ex& score) {
    Ex to = f_.let("to", min(place, Ex(int64_t{a_.most} - 1)));
    f_.store(indices_, to, box);
    if (scores_out_) f_.store(scores_out_, to, score);
    f_.assign(count_, place + 1);
  }

  void clear() {
    f_.loop("i", f_.let("used", count_), int64_t{a_.most}, [&](const Ex& i) {
      f_.store(indices_, i, 0);
      if (scores_out_) f_.store(scores_out_, i, tir::f32(0.0f));
    });
  }

  const SuppressionAttrs& a_;
  LoweringBuilder f_;
  BufferPtr boxes_, scores_in_, indices_;
  int64_t n_;
  BufferPtr scores_out_, count_out_, work_;
  Ex count_;
};

// Operands: boxes (two corners each), scores. Results: indices, with three results scores, how many.
class NonMaxSuppression final : public SpecifiedOperator {
 public:
  NonMaxSuppression()
      : SpecifiedOperator(
            {.name = "non_max_suppression",
             .summary = "the best of boxes that overlap, and how many",
             .operands = {{.name = "boxes", .types = {DType::kF32}, .ranks = {2, 2}},
                          {.name = "scores", .types = {DType::kF32}, .ranks = {1, 1}}},
             .results = {{.name = "indices", .types = {DType::kI32}},
                         {.name = "scores", .optional = true},
                         {.name = "count", .types = {DType::kI32}}},
             .shapes = Shapes::kOwn,
             .traits = {.uses_libm = true},
             .attributes = make_attributes<SuppressionAttrs>,
             .ranges = {within<&SuppressionAttrs::most>("most", 1, kMostChosen),
                        finite<&SuppressionAttrs::overlap>("overlap"), finite<&SuppressionAttrs::score>("score"),
                        finite<&SuppressionAttrs::sigma>("sigma", 0)}}) {}

  void evaluate(const OpView& op, const EvalData& data) const override { evaluate_lowering(op, data); }

  int64_t macs(const OpView& op) const override { return op.operand(0).shape[0] * op.attrs<SuppressionAttrs>().most; }

  Lowered lower(const OpView& op, const TargetInfo&) const override { return SuppressionLowering(op).lower(); }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    const graph::Shape &boxes = op.operand(0).shape, &scores = op.operand(1).shape;
    if (boxes[1] != 4 || scores[0] != boxes[0] || boxes[0] < 1 || boxes[0] > kMostChosen) {
      bad_shape(op, diags,
                fmt::format("boxes of {} and scores of {}; needed are n x 4 and n, n at most {}",
                            graph::to_string(boxes), graph::to_string(scores), kMostChosen));
      return kFailure;
    }
    const int64_t most = op.attrs<SuppressionAttrs>().most;
    if (op.op.results.size() == 3) return std::vector<graph::Shape>{{most}, {most}, {}};
    return std::vector<graph::Shape>{{most}, {}};
  }
};

}  // namespace

void add_class_suppression(OperatorSet& set);  // per_class.cpp

void add_operators_non_max_suppression(OperatorSet& set) {
  set.add(std::make_unique<NonMaxSuppression>());
  add_class_suppression(set);
}

}  // namespace aotc::ops
