// SPDX-License-Identifier: Apache-2.0
// matrix_diag: rows become the diagonals of matrices of zeros. matrix_set_diag: matrices with another
// diagonal.
#include <algorithm>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/rearrange/rearrange.h"
#include "ops/signature.h"

namespace aotc::ops {

namespace {

std::vector<TypeEntry> all_but_bool() {
  return {DType::kI8, DType::kF32, DType::kI16, DType::kI32, DType::kI64, DType::kU8};
}

class MatrixDiag final : public RearrangeOperator {
 public:
  MatrixDiag()
      : RearrangeOperator({.name = "matrix_diag",
                           .summary = "rows as diagonals of matrices of zeros",
                           .operands = {{.name = "x", .types = all_but_bool(), .ranks = {1}, .moved = true}},
                           .results = {{.name = "y"}},
                           .shapes = Shapes::kOwn}) {}

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics&) const override {
    graph::Shape shape = op.operand(0).shape;
    shape.push_back(shape.back());
    return std::vector<graph::Shape>{shape};
  }

  AffineMap map_of(const OpView& op) const override {
    int64_t n = op.operand(0).shape.back();
    AffineMap map;
    // Stored zeros, whatever the zero point is.
    if (n > 1) map.fill.assign(static_cast<size_t>(size_of(op.operand(0).dtype)), 0);
    map.add_axis(n == 0 ? 0 : op.operand(0).elements() / n, n * n, n);
    map.add_axis(n, n + 1, 1);
    return map;
  }
};

class MatrixSetDiag final : public SpecifiedOperator {
 public:
  MatrixSetDiag()
      : SpecifiedOperator({.name = "matrix_set_diag",
                           .summary = "matrices with another diagonal",
                           .operands = {{.name = "x", .types = all_but_bool(), .ranks = {2}, .moved = true},
                                        {.name = "diagonal", .types = movable_types(), .moved = true}},
                           .results = {{.name = "y"}},
                           .shapes = Shapes::kOwn}) {}

  void evaluate(const OpView& op, const EvalData& data) const override {
    std::copy(data.operands[0].begin(), data.operands[0].end(), data.results[0].begin());
    run_movement(diagonal(op), data.operands[1], data.results[0], size_of(op.result().dtype));
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, "matrix_set_diag");
    tir::BufferPtr whole = f.operand(0), rows = f.operand(1), out = f.result();
    f.copy(out, 0, whole, 0, whole->elements);
    emit_movement(f, out, rows, diagonal(op));
    return f.finish("copy");
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    const graph::Shape& whole = op.operand(0).shape;
    graph::Shape rows(whole.begin(), whole.end() - 2);
    rows.push_back(std::min(whole[whole.size() - 2], whole.back()));
    if (rows == op.operand(1).shape) return std::vector<graph::Shape>{whole};
    bad_shape(op, diags,
              fmt::format("a diagonal of shape {} for matrices of shape {}", graph::to_string(op.operand(1).shape),
                          graph::to_string(whole)));
    return kFailure;
  }

 private:
  static Movement diagonal(const OpView& op) {
    const graph::Shape& whole = op.operand(0).shape;
    int64_t n = op.operand(1).shape.back(), columns = whole.back(), rows = whole[whole.size() - 2];
    return {{n == 0 ? 0 : op.operand(1).elements() / n, n}, {rows * columns, columns + 1}, {n, 1}, 0, 0};
  }
};

}  // namespace

void add_diagonal_operators(OperatorSet& set) {
  set.add(std::make_unique<MatrixDiag>());
  set.add(std::make_unique<MatrixSetDiag>());
}

}  // namespace aotc::ops
