// SPDX-License-Identifier: Apache-2.0
// gather_nd: slices of a tensor by the indices of its first dimensions; the last dimension of the
// indices is a tuple. scatter_nd: the other way round, into a tensor of zeros, where slices that
// meet add up.
#include <algorithm>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/constants_only.h"
#include "ops/common/elementwise.h"
#include "ops/common/movement.h"
#include "ops/gather/attributes.h"
#include "ops/gather/indices.h"
#include "ops/signature.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

// Operand `indices` addresses slices of a tensor of shape `whole`.
struct NdSlices {
  NdSlices(const OpView& op, size_t indices, const graph::Shape& whole) {
    const graph::Shape& tuples_shape = op.operand(indices).shape;
    auto each = static_cast<std::ptrdiff_t>(tuples_shape.back());
    std::vector<int64_t> strides = strides_of(whole);
    tuples.operand = indices;
    tuples.sizes.assign(whole.begin(), whole.begin() + each);
    tuples.strides.assign(strides.begin(), strides.begin() + each);
    slice = graph::element_count(graph::Shape(whole.begin() + each, whole.end()));
    count = graph::element_count(graph::Shape(tuples_shape.begin(), tuples_shape.end() - 1));
  }
  Tuples tuples;
  int64_t slice, count;
};

// Does the last dimension of the indices fit a tensor of this shape?
bool check_tuples(const OpView& op, size_t indices, const graph::Shape& whole, Diagnostics& diags) {
  if (!check_rank(op, indices, 1, 64, diags)) return false;
  int64_t each = op.operand(indices).shape.back();
  if (!whole.empty() && each >= 0 && each <= static_cast<int64_t>(whole.size())) return true;
  return bad_shape(op, diags,
                   fmt::format("tuples of {} indices into a tensor of shape {}", each, graph::to_string(whole)));
}

// Their shape, without the tuples, and what the tuples leave of `whole`.
graph::Shape slices_shape(const graph::Shape& indices, const graph::Shape& whole) {
  graph::Shape out(indices.begin(), indices.end() - 1);
  out.insert(out.end(), whole.begin() + static_cast<std::ptrdiff_t>(indices.back()), whole.end());
  return out;
}

class GatherNd final : public SpecifiedOperator {
 public:
  GatherNd()
      : SpecifiedOperator({.name = "gather_nd",
                           .summary = "slices by tuples of indices",
                           .operands = {{.name = "x", .types = movable_types(), .moved = true}, {.name = "indices"}},
                           .results = {{.name = "y"}},
                           .shapes = Shapes::kOwn,
                           .traits = {.may_fail = true}}) {}

  void evaluate(const OpView& op, const EvalData& data) const override {
    NdSlices s(op, 1, op.operand(0).shape);
    auto offsets = offsets_of(op, data, s.tuples);
    if (!offsets) return clear_results(data);
    int64_t size = size_of(op.result().dtype);
    auto to = data.results[0].begin();
    for (int64_t offset : *offsets) {
      auto from = data.operands[0].begin() + offset * size;
      to = std::copy(from, from + s.slice * size, to);
    }
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    NdSlices s(op, 1, op.operand(0).shape);
    LoweringBuilder f(op, "gather_nd");
    BufferPtr in = f.operand(0), indices = f.operand(1), out = f.result();
    f.loop("i", 0, s.count, [&](Ex i) {
      Ex from = f.let("from", emit_offset(f, op, indices, s.tuples, i));
      emit_run(f, out, i * s.slice, in, from, s.slice);
    });
    return f.finish("copy");
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    if (!check_tuples(op, 1, op.operand(0).shape, diags)) return kFailure;
    return std::vector<graph::Shape>{slices_shape(op.operand(1).shape, op.operand(0).shape)};
  }

  bool check(const OpView& op, Diagnostics& diags) const override {
    return check_indices(op, NdSlices(op, 1, op.operand(0).shape).tuples, diags);
  }
};

// ---------------------------------------------------------------- scatter_nd

// Operands: indices, what is added there.
class ScatterNd final : public SpecifiedOperator {
 public:
  ScatterNd()
      : SpecifiedOperator({.name = "scatter_nd",
                           .summary = "slices added to zeros, by tuples of indices",
                           .operands = {{.name = "indices", .types = {DType::kI32}},
                                        {.name = "updates",
                                         .types = {{DType::kI8, "wraps around"},
                                                   DType::kF32,
                                                   {DType::kI32, "wraps around"},
                                                   {DType::kI64, "wraps around"},
                                                   {DType::kU8, "wraps around"},
                                                   {DType::kBool, "or"}}}},
                           .results = {{.name = "y", .type_of = 1}},
                           .principal = 1,
                           .shapes = Shapes::kOwn,
                           .traits = {.may_fail = true},
                           .attributes = make_attributes<ScatterAttrs>}) {}

  void evaluate(const OpView& op, const EvalData& data) const override {
    NdSlices s(op, 0, op.result().shape);
    clear_results(data);
    auto offsets = offsets_of(op, data, s.tuples);
    if (!offsets) return;
    if (op.result().dtype == DType::kF32) {
      add_slices(*offsets, s.slice, data.in<float>(1), data.out<float>(), [](float a, float b) { return a + b; });
      return;
    }
    std::vector<int64_t> updates = widen(op.operand(1).dtype, data.operands[1]);
    std::vector<int64_t> sums(static_cast<size_t>(op.result().elements()), 0);
    add_slices(*offsets, s.slice, std::span<const int64_t>(updates), std::span<int64_t>(sums),
               [&](int64_t a, int64_t b) { return wrapped(op.result().dtype, a, b); });
    narrow(op.result().dtype, sums, data.results[0]);
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    NdSlices s(op, 0, op.result().shape);
    LoweringBuilder f(op, "scatter_nd");
    BufferPtr indices = f.operand(0), updates = f.operand(1), out = f.result();
    f.fill_bytes(out, 0, 0, out->elements);
    f.loop("i", 0, s.count, [&](Ex i) {
      Ex to = f.let("to", emit_offset(f, op, indices, s.tuples, i));
      f.loop("k", 0, s.slice, [&](Ex k) {
        Ex a = load(out, to + k), b = load(updates, i * s.slice + k);
        f.store(out, to + k, sum(out->dtype, a, b));
      });
    });
    return f.finish("added to zeros");
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    const graph::Shape& shape = op.attrs<ScatterAttrs>().shape;
    if (!check_tuples(op, 0, shape, diags)) return kFailure;
    bool possible = std::all_of(shape.begin(), shape.end(), [](int64_t d) { return d >= 0 && d <= INT32_MAX; });
    if (possible && slices_shape(op.operand(0).shape, shape) == op.operand(1).shape)
      return std::vector<graph::Shape>{shape};
    bad_shape(
        op, diags,
        fmt::format("indices {} and updates {} do not fit a result of shape {}", graph::to_string(op.operand(0).shape),
                    graph::to_string(op.operand(1).shape), graph::to_string(shape)));
    return kFailure;
  }

  bool check(const OpView& op, Diagnostics& diags) const override {
    return (is_whole(op) || check_same_quantization(op, 1, 0, diags)) &&
           check_indices(op, NdSlices(op, 0, op.result().shape).tuples, diags);
  }

 private:
  static bool is_whole(const OpView& op) {
    return op.operand(1).dtype == DType::kI32 || op.operand(1).dtype == DType::kI64;
  }

  template <typename T, typename Add>
  static void add_slices(const std::vector<int64_t>& offsets, int64_t slice, std::span<const T> updates,
                         std::span<T> out, Add add) {
    size_t at = 0;
    for (int64_t offset : offsets)
      for (int64_t k = 0; k < slice; ++k, ++at) {
        T& sum = out[static_cast<size_t>(offset + k)];
        sum = add(sum, updates[at]);
      }
  }

  static int64_t wrapped(DType type, int64_t a, int64_t b) {
    uint64_t sum = static_cast<uint64_t>(a) + static_cast<uint64_t>(b);
    switch (type) {
      case DType::kBool: return a != 0 || b != 0;
      case DType::kI8: return static_cast<int8_t>(sum);
      case DType::kU8: return static_cast<uint8_t>(sum);
      case DType::kI32: return static_cast<int32_t>(sum);
      default: return static_cast<int64_t>(sum);
    }
  }

  static Ex sum(DType type, const Ex& a, const Ex& b) {
    if (type == DType::kF32) return a + b;
    if (type == DType::kBool) return a | b;
    if (type == DType::kI32 || type == DType::kI64) return add_wrapping(a, b);
    return cast_wrapping(type, a + b);
  }
};

}  // namespace

void add_gather_nd(OperatorSet& set) { set.add(std::make_unique<GatherNd>()); }
void add_scatter_nd(OperatorSet& set) { set.add(std::make_unique<ScatterNd>()); }

}  // namespace aotc::ops
