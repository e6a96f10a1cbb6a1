// SPDX-License-Identifier: Apache-2.0
// circular_buffer: the last rows of a stream, TensorFlow Lite Micro's CIRCULAR_BUFFER. The one thing to
// know: the reference ends a run behind one that is to go on in each n-th run only. Here all of the run is
// computed, and those behind it take nothing in such a run (`every`), so that states are the reference's.
#include <fmt/format.h>

#include "ops/circular_buffer/attributes.h"
#include "ops/common/checks.h"
#include "ops/common/lowered_evaluation.h"
#include "ops/signature.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

bool check_circular_buffer(const OpView& op, const graph::Shape& rows, Diagnostics& diags) {
  if (!check_rank(op, 0, 4, 4, diags)) return false;
  const graph::Shape& in = op.operand(0).shape;
  return (rows.size() == 4 && rows[1] >= 1 && in == graph::Shape{1, 1, rows[2], rows[3]} && rows[0] == 1 &&
          op.operand(0).elements() > 0) ||
         bad_shape(op, diags,
                   fmt::format("a row is [1, 1, x, y] and the rows [1, n, x, y], not {} and {}", graph::to_string(in),
                               graph::to_string(rows)));
}

namespace {

// Operands: a row, the rows before, runs to the next one (if not every run comes here). Results: the rows
// after, runs.
class CircularBuffer final : public StatefulOperator {
 public:
  CircularBuffer()
      : StatefulOperator({.name = "circular_buffer",
                          .summary = "the last rows of a stream, the newest last",
                          .operands = {{.name = "row", .types = {{DType::kI8, "keeps rows"}}, .ranks = {4, 4}}},
                          .results = {{.name = "rows"}},
                          .shapes = Shapes::kOwn,
                          .quantized = Quantized::kCopied,
                          .attributes = make_attributes<CircularBufferAttrs>,
                          .ranges = {within<&CircularBufferAttrs::cycles>("cycles", 1, kMostCycles),
                                     within<&CircularBufferAttrs::every>("every", 1, INT32_MAX)}}) {}

  void evaluate(const OpView& op, const EvalData& data) const override { evaluate_lowering(op, data); }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, "circular_buffer");
    BufferPtr in = f.operand(0), before = f.operand(1), out = f.result(0);
    const int64_t row = op.operand(0).elements(), all = op.result().elements();
    auto take = [&] {
      f.loop("i", 0, all - row, [&](const Ex& i) { f.store(out, i, load(before, i + row)); });
      f.loop("i", 0, row, [&](const Ex& i) { f.store(out, i + (all - row), load(in, i)); });
    };
    if (!counted(op)) {
      take();
      f.publish_in_place(1);
      return f.finish();
    }
    BufferPtr runs = f.operand(2), left = f.result(1);
    Ex wait = f.let("wait", load(runs, 0));
    f.store(left, 0, select(wait > Ex(1), wait, Ex(op.attrs<CircularBufferAttrs>().every) + Ex(1)) - Ex(1));
    f.if_(wait > Ex(1), [&] { f.loop("i", 0, all, [&](const Ex& i) { f.store(out, i, load(before, i)); }); }, take);
    return f.finish();
  }

 protected:
  Result<std::vector<OperatorState>> kept(const OpView& op, Diagnostics&) const override {
    const bool added = op.has_operand(1);
    const graph::TensorType& rows = added ? op.operand(1) : op.result();
    OperatorState state{{DType::kI8, rows.shape, {}}, 0, {}};
    const int64_t zero = rows.quantization.zero_point.empty() ? 0 : rows.quantization.zero_point[0];
    if (!added) state.initial.assign(static_cast<size_t>(rows.elements()), static_cast<uint8_t>(zero));
    std::vector<OperatorState> out = {std::move(state)};
    if (counted(op)) out.push_back(OperatorState::counter(op.attrs<CircularBufferAttrs>().every));
    return out;
  }

  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics&) const override {
    return std::vector<graph::Shape>{op.operand(1).shape};
  }

  bool check(const OpView& op, Diagnostics& diags) const override {
    return check_circular_buffer(op, op.operand(1).shape, diags);
  }

 private:
  static bool counted(const OpView& op) { return op.attrs<CircularBufferAttrs>().every > 1; }
};

}  // namespace

void add_operators_circular_buffer(OperatorSet& set) { set.add(std::make_unique<CircularBuffer>()); }

}  // namespace aotc::ops
