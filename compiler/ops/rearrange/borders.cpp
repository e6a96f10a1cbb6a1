// SPDX-License-Identifier: Apache-2.0
// reverse_v2, tile and mirror_pad: every dimension is read by itself, backwards, several times, or
// forwards between two mirrored borders.
#include <algorithm>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/rearrange/attributes.h"
#include "ops/rearrange/rearrange.h"

namespace aotc::ops {

namespace {

// Strides of one dimension of the result and of the operand.
struct Strides {
  std::vector<int64_t> to, from;
  explicit Strides(const OpView& op) : to(strides_of(op.result().shape)), from(strides_of(op.operand(0).shape)) {}
};

// ---------------------------------------------------------------- reverse_v2

class Reverse final : public RearrangeOperator {
 public:
  Reverse()
      : RearrangeOperator({.name = "reverse_v2",
                           .summary = "backwards along axes",
                           .operands = {{.name = "x", .types = movable_types(), .moved = true}},
                           .results = {{.name = "y"}},
                           .shapes = Shapes::kOwn,
                           .uint8 = Uint8::kEither,
                           .attributes = make_attributes<ReverseAttrs>}) {}

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    const graph::Shape& in = op.operand(0).shape;
    std::vector<bool> seen(in.size(), false);
    for (int64_t axis : op.attrs<ReverseAttrs>().axes) {
      bool good = axis >= 0 && axis < static_cast<int64_t>(in.size()) && !seen[static_cast<size_t>(axis)];
      if (!good) {
        bad_attribute(op, diags,
                      fmt::format("{} are not axes of {} dimensions, each once",
                                  graph::attribute_text::print(op.attrs<ReverseAttrs>().axes), in.size()));
        return kFailure;
      }
      seen[static_cast<size_t>(axis)] = true;
    }
    return std::vector<graph::Shape>{in};
  }

  AffineMap map_of(const OpView& op) const override {
    const graph::Shape& in = op.operand(0).shape;
    const std::vector<int64_t>& axes = op.attrs<ReverseAttrs>().axes;
    Strides strides(op);
    AffineMap map;
    for (size_t d = 0; d < in.size(); ++d) {
      bool backwards = std::find(axes.begin(), axes.end(), static_cast<int64_t>(d)) != axes.end();
      int64_t step = strides.from[d];
      map.add_axis(in[d], strides.to[d], backwards ? -step : step, backwards ? (in[d] - 1) * step : 0);
    }
    return map;
  }
};

// ---------------------------------------------------------------- tile

class Tile final : public RearrangeOperator {
 public:
  Tile()
      : RearrangeOperator({.name = "tile",
                           .summary = "a tensor repeated along its dimensions",
                           .operands = {{.name = "x", .types = movable_types(), .moved = true}},
                           .results = {{.name = "y"}},
                           .shapes = Shapes::kOwn,
                           .uint8 = Uint8::kEither,
                           .attributes = make_attributes<TileAttrs>}) {}

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    graph::Shape shape = op.operand(0).shape;
    const std::vector<int64_t>& multiples = op.attrs<TileAttrs>().multiples;
    bool good = multiples.size() == shape.size();
    for (size_t d = 0; good && d < shape.size(); ++d) {
      good = multiples[d] >= 1 && shape[d] >= 0 && multiples[d] <= INT32_MAX / std::max<int64_t>(shape[d], 1);
      if (good) shape[d] *= multiples[d];
    }
    if (good) return std::vector<graph::Shape>{shape};
    bad_attribute(op, diags,
                  fmt::format("a tensor of shape {} cannot be repeated {} times", graph::to_string(op.operand(0).shape),
                              graph::attribute_text::print(multiples)));
    return kFailure;
  }

  AffineMap map_of(const OpView& op) const override {
    const graph::Shape& in = op.operand(0).shape;
    Strides strides(op);
    AffineMap map;
    for (size_t d = 0; d < in.size(); ++d) {
      map.add_axis(op.attrs<TileAttrs>().multiples[d], in[d] * strides.to[d], 0);
      map.add_axis(in[d], strides.to[d], strides.from[d]);
    }
    return map;
  }
};

// ---------------------------------------------------------------- mirror_pad

class MirrorPad final : public RearrangeOperator {
 public:
  MirrorPad()
      : RearrangeOperator({.name = "mirror_pad",
                           .summary = "padding with what lies inside of the border",
                           .operands = {{.name = "x", .types = movable_types(), .moved = true}},
                           .results = {{.name = "y"}},
                           .shapes = Shapes::kOwn,
                           .uint8 = Uint8::kEither,
                           .attributes = make_attributes<MirrorPadAttrs>}) {}

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    const auto& attrs = op.attrs<MirrorPadAttrs>();
    graph::Shape shape = op.operand(0).shape;
    if (!check_amounts(op, attrs.before, attrs.after, diags)) return kFailure;
    for (size_t d = 0; d < shape.size(); ++d) {
      int64_t most = shape[d] - (attrs.symmetric ? 0 : 1);
      for (int64_t amount : {attrs.before[d], attrs.after[d]}) {
        if (amount == 0 || (amount > 0 && amount <= most)) continue;
        bad_attribute(
            op, diags,
            fmt::format("dimension {}, which has {} elements, is padded by {}", d, op.operand(0).shape[d], amount));
        return kFailure;
      }
      shape[d] += attrs.before[d] + attrs.after[d];
    }
    return std::vector<graph::Shape>{shape};
  }

  AffineMap map_of(const OpView& op) const override {
    const auto& attrs = op.attrs<MirrorPadAttrs>();
    const graph::Shape& in = op.operand(0).shape;
    Strides strides(op);
    int64_t skipped = attrs.symmetric ? 0 : 1;
    AffineMap map;
    for (size_t d = 0; d < in.size(); ++d) {
      int64_t before = attrs.before[d], after = attrs.after[d], t = strides.to[d], s = strides.from[d];
      std::vector<Movement> pieces;
      if (before > 0) pieces.push_back({{before}, {t}, {-s}, 0, (before - 1 + skipped) * s});
      pieces.push_back({{in[d]}, {t}, {s}, before * t, 0});
      if (after > 0) pieces.push_back({{after}, {t}, {-s}, (before + in[d]) * t, (in[d] - 1 - skipped) * s});
      map.add_axis(std::move(pieces));
    }
    return map;
  }
};

}  // namespace

void add_border_operators(OperatorSet& set) {
  set.add(std::make_unique<Reverse>());
  set.add(std::make_unique<Tile>());
  set.add(std::make_unique<MirrorPad>());
}

}  // namespace aotc::ops
