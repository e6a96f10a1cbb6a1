// SPDX-License-Identifier: Apache-2.0
// coupled_probabilities: of how probable one of two classes is against the other, for all pairs, how probable each
// class is, as libsvm finds it ("Probability estimates for multi-class classification by pairwise coupling", Wu, Lin
// and Weng, 2004, algorithm 2). The one thing to know: it ends when the error is below 0.005 / classes, so the number
// of rounds is part of the result, and onnxruntime computes in float32.
#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/lowered_evaluation.h"
#include "ops/signature.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

constexpr int64_t kMostClasses = 256;
constexpr int64_t kMostRounds = 100;

int64_t classes_of(int64_t pairs) {
  int64_t n = 2;
  while (n < kMostClasses && n * (n - 1) / 2 < pairs) ++n;
  return n;
}

class CoupledLowering {
 public:
  explicit CoupledLowering(const OpView& op)
      : f_(op, "coupled_probabilities"),
        in_(f_.operand(0)),
        out_(f_.result(0)),
        rows_(op.operand(0).shape[0]),
        pairs_(op.operand(0).shape[1]),
        n_(classes_of(pairs_)) {
    work_ = f_.scratch("work", DType::kF32, n_ * (2 * n_ + 1));
  }

  Lowered lower() {
    f_.loop("row", 0, rows_, [&](const Ex& row) {
      Ex p = f_.let("p", row * n_);
      read_pairs(row);
      f_.loop("t", 0, n_, [&](const Ex& t) { start(p, t); });
      Ex going = f_.var("going", 1);
      f_.loop("round", 0, std::max(kMostRounds, n_), [&](const Ex&) { f_.if_(going != 0, [&] { round(p, going); }); });
    });
    return f_.finish("rounds over all classes");
  }

 private:
  static Ex real(float v) { return tir::f32(v); }

  // In scratch: how probable a class is against another, the matrix of the equations, and its product with the result.
  Ex against(const Ex& i, const Ex& j) const { return i * n_ + j; }
  Ex q(const Ex& i, const Ex& j) const { return i * n_ + j + n_ * n_; }
  Ex qp(const Ex& i) const { return i + 2 * n_ * n_; }

  void read_pairs(const Ex& row) {
    Ex at = f_.var("pair", f_.let("first", row * pairs_));
    f_.loop("i", 0, n_ - 1, [&](const Ex& i) {
      f_.loop("j", i + 1, n_, [&](const Ex& j) {
        Ex r = f_.let("r", load(in_, clamp(at, Ex(0), Ex(in_->elements - 1))));
        f_.store(work_, against(i, j), r);
        f_.store(work_, against(j, i), real(1.0f) - r);
        f_.assign(at, at + 1);
      });
    });
  }

  void start(const Ex& p, const Ex& t) {
    f_.store(out_, p + t, real(1.0f / static_cast<float>(n_)));
    Ex own = f_.var("own", real(0.0f));
    f_.loop("j", 0, n_, [&](const Ex& j) {
      f_.if_(j != t, [&] {
        Ex other = f_.let("other", load(work_, against(j, t)));
        f_.assign(own, own + other * other);
        f_.store(work_, q(t, j), real(0.0f) - other * load(work_, against(t, j)));
      });
    });
    f_.store(work_, q(t, t), own);
  }

  void round(const Ex& p, const Ex& going) {
    Ex all = f_.var("all", real(0.0f));
    f_.loop("t", 0, n_, [&](const Ex& t) {
      Ex sum = f_.var("sum", real(0.0f));
      f_.loop("j", 0, n_, [&](const Ex& j) { f_.assign(sum, sum + load(work_, q(t, j)) * load(out_, p + j)); });
      f_.store(work_, qp(t), sum);
      f_.assign(all, all + load(out_, p + t) * sum);
    });
    Ex error = f_.var("error", real(0.0f));
    f_.loop("t", 0, n_, [&](const Ex& t) {
      Ex away = f_.let("away", load(work_, qp(t)) - all);
      f_.assign(error, max(error, max(away, real(0.0f) - away)));
    });
    f_.if_(
        error < real(0.005f / static_cast<float>(n_)), [&] { f_.assign(going, 0); },
        [&] { f_.loop("t", 0, n_, [&](const Ex& t) { change(p, t, all); }); });
  }

  void change(const Ex& p, const Ex& t, const Ex& all) {
    Ex own = f_.let("own", load(work_, q(t, t)));
    Ex by = f_.let("by", (all - load(work_, qp(t))) / own), whole = f_.let("whole", by + real(1.0f));
    f_.store(out_, p + t, load(out_, p + t) + by);
    f_.assign(all, (all + by * (by * own + real(2.0f) * load(work_, qp(t)))) / whole / whole);
    f_.loop("j", 0, n_, [&](const Ex& j) {
      f_.store(work_, qp(j), (load(work_, qp(j)) + by * load(work_, q(t, j))) / whole);
      f_.store(out_, p + j, load(out_, p + j) / whole);
    });
  }

  LoweringBuilder f_;
  BufferPtr in_, out_;
  int64_t rows_, pairs_, n_;
  BufferPtr work_;
};

// [rows, pairs] to [rows, classes]; pairs in the order (0, 1), (0, 2), ..., (1, 2), ...
class CoupledProbabilities final : public SpecifiedOperator {
 public:
  CoupledProbabilities()
      : SpecifiedOperator({.name = "coupled_probabilities",
                           .summary = "probabilities of classes from those of pairs of them",
                           .operands = {{.name = "x", .types = {DType::kF32}, .ranks = {2, 2}}},
                           .results = {{.name = "y"}},
                           .shapes = Shapes::kOwn}) {}

  void evaluate(const OpView& op, const EvalData& data) const override { evaluate_lowering(op, data); }
  Lowered lower(const OpView& op, const TargetInfo&) const override { return CoupledLowering(op).lower(); }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    const graph::Shape& in = op.operand(0).shape;
    const int64_t n = classes_of(in[1]);
    if (n * (n - 1) / 2 == in[1]) return std::vector<graph::Shape>{{in[0], n}};
    bad_shape(op, diags, fmt::format("{} columns are not the pairs of 2 to {} classes", in[1], kMostClasses));
    return kFailure;
  }
};

}  // namespace

void add_coupled_probabilities(OperatorSet& set) { set.add(std::make_unique<CoupledProbabilities>()); }

}  // namespace aotc::ops
