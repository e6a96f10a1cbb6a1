// SPDX-License-Identifier: Apache-2.0
// slice: a box out of a tensor, with a stride of either sign along each dimension. SLICE and
// STRIDED_SLICE are both this operator: their masks and open ends are settled at import, and what
// remains is, per dimension of the operand, where to begin, how far to step and how often, and the
// result's shape (dimensions of size 1 may be added or dropped).
#include "ops/slice/slice.h"

#include <algorithm>

#include <fmt/format.h>

#include "ops/common/affine_map.h"
#include "ops/common/checks.h"
#include "ops/common/pieces.h"

namespace aotc::ops {

namespace {

class Slice final : public RearrangeOperator, public TakesPieces, public Transposable, public Streamable {
 public:
  Slice()
      : RearrangeOperator({.name = "slice",
                           .summary = "a box out of a tensor (SLICE, STRIDED_SLICE)",
                           .operands = {{.name = "x", .types = movable_types(), .moved = true}},
                           .results = {{.name = "y"}},
                           .shapes = Shapes::kOwn,
                           .uint8 = Uint8::kEither,
                           .attributes = make_attributes<SliceAttrs>}) {}

  std::optional<AxisFlow> axis_flow(const OpView& op) const override {
    const auto& attrs = op.attrs<SliceAttrs>();
    // Its result is `counts` under another shape, in which dimensions of size 1 come and go.
    return shared_axes(attrs.counts, attrs.shape);
  }
  SharedAttributes attributes_for_axes(const OpView& op, const Order& axes) const override {
    const auto& attrs = op.attrs<SliceAttrs>();
    AxisFlow flow = *axis_flow(op);
    Order order = dimension_order(flow.operands[0], axes);
    auto attributes = std::make_shared<SliceAttrs>();
    attributes->begin = ordered_shape(attrs.begin, order);
    attributes->strides = ordered_shape(attrs.strides, order);
    attributes->counts = ordered_shape(attrs.counts, order);
    attributes->shape = ordered_shape(attrs.shape, dimension_order(flow.results[0], axes));
    return attributes;
  }

  // Rows of a result of as many dimensions, from the top.
  std::optional<RowFlow> row_flow(const OpView& op) const override {
    const auto& attrs = op.attrs<SliceAttrs>();
    if (attrs.counts.size() != 4 || attrs.shape != attrs.counts || attrs.strides[1] < 1) return std::nullopt;
    RowFlow flow;
    flow.stride = attrs.strides[1];
    flow.before = -attrs.begin[1];
    return flow;
  }
  SharedAttributes attributes_for_rows(const OpView& op) const override {
    auto attributes = std::make_shared<SliceAttrs>(op.attrs<SliceAttrs>());
    attributes->begin[1] = 0;
    attributes->strides[1] = attributes->counts[1] = attributes->shape[1] = 1;
    return attributes;
  }

  std::optional<std::vector<int64_t>> pieces(const OpView& op) const override { return pieces_of(map_of(op)); }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    const auto& attrs = op.attrs<SliceAttrs>();
    const graph::Shape& in = op.operand(0).shape;
    if (attrs.begin.size() != in.size() || attrs.strides.size() != in.size() || attrs.counts.size() != in.size()) {
      bad_attribute(op, diags,
                    fmt::format("begin, strides and counts have {}, {} and {} elements for a "
                                "tensor of rank {}",
                                attrs.begin.size(), attrs.strides.size(), attrs.counts.size(), in.size()));
      return kFailure;
    }
    for (size_t i = 0; i < in.size(); ++i)
      if (!check_inside(op, i, diags)) return kFailure;
    auto not_one = [](const graph::Shape& shape) {
      graph::Shape out;
      std::copy_if(shape.begin(), shape.end(), std::back_inserter(out), [](int64_t d) { return d != 1; });
      return out;
    };
    if (not_one(attrs.shape) != not_one(attrs.counts)) {
      bad_attribute(op, diags,
                    fmt::format("shape {} is not what counts {} give", graph::to_string(attrs.shape),
                                graph::to_string(attrs.counts)));
      return kFailure;
    }
    return std::vector<graph::Shape>{attrs.shape};
  }

  AffineMap map_of(const OpView& op) const override {
    const auto& attrs = op.attrs<SliceAttrs>();
    std::vector<int64_t> from = strides_of(op.operand(0).shape), to = strides_of(attrs.counts);
    AffineMap map;
    for (size_t i = 0; i < from.size(); ++i)
      map.add_axis(attrs.counts[i], to[i], attrs.strides[i] * from[i], attrs.begin[i] * from[i]);
    return map;
  }

 private:
  static bool check_inside(const OpView& op, size_t i, Diagnostics& diags) {
    const auto& attrs = op.attrs<SliceAttrs>();
    int64_t n = op.operand(0).shape[i], begin = attrs.begin[i], stride = attrs.strides[i];
    int64_t count = attrs.counts[i];
    // The stride is bounded first, so that the last index cannot overflow.
    bool inside =
        count >= 0 && count <= n && begin >= 0 && begin < std::max<int64_t>(n, 1) && stride >= -n && stride <= n;
    int64_t last = inside ? begin + (count - 1) * stride : -1;
    if (inside && (count == 0 || (last >= 0 && last < n))) return true;
    return bad_attribute(op, diags,
                         fmt::format("{} elements from {} in steps of {} leave dimension {}, which "
                                     "has {}",
                                     count, begin, stride, i, n));
  }
};

}  // namespace

void add_operators_slice(OperatorSet& set) { set.add(std::make_unique<Slice>()); }

}  // namespace aotc::ops
