// SPDX-License-Identifier: Apache-2.0
// Nothing is sorted: the best box that is left is looked for again and again, as often as boxes are wanted.
// That is the reference's order (of equal scores the first), and needs memory for boxes and scores only.
#include <limits>

#include "ops/common/quantization.h"
#include "ops/detection_postprocess/detection_postprocess.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

// The score of a box that is not, or no longer, to be chosen.
Ex out_of_play() { return tir::f32(-std::numeric_limits<float>::infinity()); }

struct Corners {
  Ex low_y, low_x, high_y, high_x;
};

class DetectionLowering {
 public:
  explicit DetectionLowering(const OpView& op)
      : op_(op),
        a_(op.attrs<DetectionAttrs>()),
        f_(op, "detection_postprocess"),
        encoded_(f_.operand(0)),
        scores_(f_.operand(1)),
        anchors_(f_.operand(2)),
        boxes_out_(f_.result(0)),
        classes_out_(f_.result(1)),
        scores_out_(f_.result(2)),
        number_out_(f_.result(3)),
        boxes_(op.operand(0).shape[1]),
        width_(op.operand(1).shape[2]),
        work_(f_.scratch("work", DType::kF32, boxes_ * 5)) {}

  Lowered lower() {
    clear(boxes_out_);
    clear(classes_out_);
    clear(scores_out_);
    decode();
    count_ = f_.var("count", 0);
    if (a_.use_regular_nms) {
      f_.loop("class", 0, a_.num_classes, [&](const Ex& c) {
        score_boxes([&](const Ex& box) { return score(box, c); });
        choose(std::min<int64_t>(a_.detections_per_class, boxes_),
               [&](const Ex& box, const Ex& value) { insert(box, c, value); });
      });
    } else {
      score_boxes([&](const Ex& box) { return best_score(box); });
      choose(std::min<int64_t>(a_.max_detections, boxes_), [&](const Ex& box, const Ex&) { append(box); });
    }
    f_.store(number_out_, 0, cast(DType::kF32, count_));
    return f_.finish();
  }

 private:
  void clear(const BufferPtr& buffer) {
    f_.loop("i", 0, buffer->elements, [&](const Ex& i) { f_.store(buffer, i, tir::f32(0.0f)); });
  }

  // Element of an operand, as the real number that it means.
  Ex real(size_t operand, const BufferPtr& buffer, const Ex& at) {
    if (op_.operand(operand).dtype == DType::kF32) return load(buffer, at);
    const graph::Quantization& q = op_.operand(operand).quantization;
    return cast(DType::kF32, load(buffer, at) - Ex(q.zero_point[0])) * tir::f32(static_cast<float>(q.scale[0]));
  }

  Ex score(const Ex& box, const Ex& c) { return real(1, scores_, box * width_ + c + (width_ - a_.num_classes)); }

  Ex best_score(const Ex& box) {
    Ex best = f_.var("best_class", score(box, 0));
    f_.loop("c", 1, a_.num_classes, [&](const Ex& c) {
      Ex s = f_.let("s", score(box, c));
      f_.if_(s > best, [&] { f_.assign(best, s); });
    });
    return best;
  }

  // Corners from centre and size; in double, as the reference does it.
  void decode() {
    const int64_t row = op_.operand(0).shape[2];
    f_.loop("box", 0, boxes_, [&](const Ex& box) {
      auto part = [&](size_t operand, const BufferPtr& buffer, const Ex& at) {
        return cast(DType::kF64, real(operand, buffer, at));
      };
      auto centre = [&](const char* name, int at, float scale) {
        Ex x = part(0, encoded_, box * row + at) / tir::f64(scale);
        Ex size = part(2, anchors_, box * 4 + (at + 2)), middle = part(2, anchors_, box * 4 + at);
        return f_.let(name, cast(DType::kF32, x * size + middle));
      };
      auto half = [&](const char* name, int at, float scale) {
        Ex grown = call(tir::Intrinsic::kExp, DType::kF64, {part(0, encoded_, box * row + at) / tir::f64(scale)});
        return f_.let(name, cast(DType::kF32, tir::f64(0.5) * grown * part(2, anchors_, box * 4 + at)));
      };
      Ex y = centre("y", 0, a_.y_scale), x = centre("x", 1, a_.x_scale);
      Ex h = half("half_h", 2, a_.h_scale), w = half("half_w", 3, a_.w_scale);
      Corners c{f_.let("low_y", y - h), f_.let("low_x", x - w), f_.let("high_y", y + h), f_.let("high_x", x + w)};
      f_.if_(c.low_y > c.high_y || c.low_x > c.high_x, [&] { f_.fail(); });
      int at = 0;
      for (const Ex& corner : {c.low_y, c.low_x, c.high_y, c.high_x}) f_.store(work_, box * 4 + at++, corner);
    });
  }

  Corners corners(const Ex& box) {
    Ex at = f_.let("corner", box * 4);
    return {f_.let("y0", load(work_, at)), f_.let("x0", load(work_, at + 1)), f_.let("y1", load(work_, at + 2)),
            f_.let("x1", load(work_, at + 3))};
  }
  Ex area(const Corners& c) { return f_.let("area", (c.high_y - c.low_y) * (c.high_x - c.low_x)); }
  Ex place(const Ex& box) { return box + boxes_ * 4; }

  template <typename F>
  void score_boxes(const F& of) {
    f_.loop("box", 0, boxes_, [&](const Ex& box) {
      Ex value = f_.let("value", of(box));
      f_.store(work_, place(box), select(value >= tir::f32(a_.nms_score_threshold), value, out_of_play()));
    });
  }

  template <typename F>
  void choose(int64_t most, const F& take) {
    Ex more = f_.var("more", 1);
    f_.loop("pick", 0, most, [&](const Ex&) {
      f_.if_(more > Ex(0), [&] {
        Ex best = f_.var("best", -1), value = f_.var("highest", out_of_play());
        f_.loop("i", 0, boxes_, [&](const Ex& i) {
          Ex s = f_.let("s", load(work_, place(i)));
          f_.if_(s > value, [&] {
            f_.assign(value, s);
            f_.assign(best, i);
          });
        });
        f_.assign(more, select(best >= Ex(0), Ex(1), Ex(0)));
        f_.if_(best >= Ex(0), [&] {
          Ex box = f_.let("chosen", max(best, Ex(0)));
          take(box, f_.let("score", value));
          f_.store(work_, place(box), out_of_play());
          drop_overlapping(box);
        });
      });
    });
  }

  void drop_overlapping(const Ex& chosen) {
    const Ex zero = tir::f32(0.0f);
    Corners a = corners(chosen);
    Ex own = area(a);
    f_.if_(own > zero, [&] {
      f_.loop("i", 0, boxes_, [&](const Ex& i) {
        f_.if_(load(work_, place(i)) > out_of_play(), [&] {
          Corners b = corners(i);
          Ex other = area(b);
          Ex high = f_.let("high", max(min(a.high_y, b.high_y) - max(a.low_y, b.low_y), zero));
          Ex wide = f_.let("wide", max(min(a.high_x, b.high_x) - max(a.low_x, b.low_x), zero));
          Ex both = f_.let("both", high * wide);
          Ex overlap = f_.let("overlap", both / (own + other - both));
          f_.if_(other > zero && overlap > tir::f32(a_.nms_iou_threshold),
                 [&] { f_.store(work_, place(i), out_of_play()); });
        });
      });
    });
  }

  void store_box(const Ex& to, const Ex& box) {
    f_.loop("part", 0, 4, [&](const Ex& part) { f_.store(boxes_out_, to * 4 + part, load(work_, box * 4 + part)); });
  }

  // A box with its best classes, the best first.
  void append(const Ex& box) {
    Ex last = f_.var("last", tir::f32(std::numeric_limits<float>::infinity())), last_class = f_.var("last_class", -1);
    f_.loop("rank", 0, std::min(a_.max_classes_per_detection, a_.num_classes), [&](const Ex& rank) {
      Ex found = f_.var("found", -1), value = f_.var("found_score", tir::f32(0.0f));
      f_.loop("c", 0, a_.num_classes, [&](const Ex& c) {
        Ex s = f_.let("s", score(box, c));
        Ex behind = s < last || (s == last && c > last_class);
        f_.if_(behind && (found < Ex(0) || s > value), [&] {
          f_.assign(found, c);
          f_.assign(value, s);
        });
      });
      Ex to = f_.let("to", count_ * a_.max_classes_per_detection + rank);
      f_.store(classes_out_, to, cast(DType::kF32, max(found, Ex(0))));
      f_.store(scores_out_, to, value);
      store_box(to, box);
      f_.assign(last, value);
      f_.assign(last_class, found);
    });
    f_.assign(count_, count_ + 1);
  }

  // Moves the detections from `to` on one place back.
  void make_room(const Ex& to, const Ex& end) {
    f_.loop("k", 0, f_.let("moved", end - to), [&](const Ex& k) {
      Ex at = f_.let("at", end - k);
      f_.store(scores_out_, at, load(scores_out_, at - 1));
      f_.store(classes_out_, at, load(classes_out_, at - 1));
      f_.loop("part", 0, 4,
              [&](const Ex& part) { f_.store(boxes_out_, at * 4 + part, load(boxes_out_, at * 4 - 4 + part)); });
    });
  }

  // Among the detections so far, behind those of the same score; the last one may fall out.
  void insert(const Ex& box, const Ex& c, const Ex& value) {
    const int64_t most = a_.max_detections;
    Ex before = f_.var("before", 0), now = f_.let("now", count_);
    f_.loop("i", 0, now,
            [&](const Ex& i) { f_.if_(load(scores_out_, i) >= value, [&] { f_.assign(before, before + 1); }); });
    f_.if_(before < Ex(most), [&] {
      Ex to = f_.let("to", before), end = f_.let("end", min(now, Ex(most - 1)));
      if (most > 1) make_room(to, end);
      f_.store(scores_out_, to, value);
      f_.store(classes_out_, to, cast(DType::kF32, c));
      store_box(to, box);
      f_.assign(count_, min(now + 1, Ex(most)));
    });
  }

  const OpView& op_;
  const DetectionAttrs& a_;
  LoweringBuilder f_;
  BufferPtr encoded_, scores_, anchors_, boxes_out_, classes_out_, scores_out_, number_out_;
  int64_t boxes_, width_;
  BufferPtr work_;
  Ex count_;
};

}  // namespace

Lowered lower_detection_postprocess(const OpView& op) { return DetectionLowering(op).lower(); }

}  // namespace aotc::ops
