// SPDX-License-Identifier: Apache-2.0
// Blocks of pixels made channels or batches, and back: depth_to_space, space_to_depth,
// space_to_batch_nd, batch_to_space_nd. All NHWC; the latter two with one or two dimensions between
// batch and channels.
#include <algorithm>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/rearrange/attributes.h"
#include "ops/rearrange/rearrange.h"

namespace aotc::ops {

namespace {

constexpr int64_t kLargestBlock = 1 << 12;

// ---------------------------------------------------------------- depth and space

class DepthAndSpace final : public RearrangeOperator {
 public:
  explicit DepthAndSpace(bool to_space)
      : RearrangeOperator(
            {.name = to_space ? "depth_to_space" : "space_to_depth",
             .summary = to_space ? "channels become blocks of pixels, NHWC" : "blocks of pixels become channels, NHWC",
             .operands = {{.name = "x",
                           .types = {DType::kI8, DType::kF32, DType::kI32, DType::kI64, DType::kU8},
                           .ranks = {4, 4},
                           .moved = true}},
             .results = {{.name = "y"}},
             .shapes = Shapes::kOwn,
             .uint8 = Uint8::kEither,
             .attributes = make_attributes<DepthAttrs>}),
        to_space_(to_space) {}

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    graph::Shape shape = op.operand(0).shape;
    int64_t block = op.attrs<DepthAttrs>().block_size;
    bool good = block >= 1 && block <= kLargestBlock;
    if (good && to_space_) {
      good = shape[3] % (block * block) == 0;
      shape = {shape[0], shape[1] * block, shape[2] * block, shape[3] / (block * block)};
    } else if (good) {
      good = shape[1] % block == 0 && shape[2] % block == 0;
      shape = {shape[0], shape[1] / block, shape[2] / block, shape[3] * block * block};
    }
    if (good) return std::vector<graph::Shape>{shape};
    bad_attribute(op, diags,
                  fmt::format("{} does not divide into blocks of {}", graph::to_string(op.operand(0).shape), block));
    return kFailure;
  }

  AffineMap map_of(const OpView& op) const override {
    // `deep` has the channels.
    const graph::Shape& deep = (to_space_ ? op.operand(0) : op.result()).shape;
    const graph::Shape& wide = (to_space_ ? op.result() : op.operand(0)).shape;
    std::vector<int64_t> d = strides_of(deep), w = strides_of(wide);
    int64_t block = op.attrs<DepthAttrs>().block_size, channels = wide[3];
    AffineMap map;
    auto axis = [&](int64_t extent, int64_t of_deep, int64_t of_wide) {
      map.add_axis(extent, to_space_ ? of_wide : of_deep, to_space_ ? of_deep : of_wide);
    };
    axis(deep[0], d[0], w[0]);
    axis(deep[1], d[1], block * w[1]);
    axis(block, block * channels, w[1]);
    axis(deep[2], d[2], block * w[2]);
    axis(block, channels, w[2]);
    axis(channels, 1, 1);
    return map;
  }

 private:
  bool to_space_;
};

// ---------------------------------------------------------------- batch and space

class BatchAndSpace final : public RearrangeOperator {
 public:
  explicit BatchAndSpace(bool to_space)
      : RearrangeOperator({.name = to_space ? "batch_to_space_nd" : "space_to_batch_nd",
                           .summary = to_space ? "batches become every nth pixel, cropped"
                                               : "every nth pixel of a padded tensor becomes a batch",
                           .operands = {{.name = "x", .types = movable_types(), .ranks = {3, 4}, .moved = true}},
                           .results = {{.name = "y"}},
                           .shapes = Shapes::kOwn,
                           .uint8 = Uint8::kEither,
                           .attributes = make_attributes<BatchAttrs>}),
        to_space_(to_space) {}

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    const auto& attrs = op.attrs<BatchAttrs>();
    graph::Shape shape = op.operand(0).shape;
    size_t dims = shape.size() - 2;
    bool good = attrs.block.size() == dims && attrs.before.size() == dims && attrs.after.size() == dims;
    for (size_t i = 0; good && i < dims; ++i) {
      auto possible = [](int64_t v, int64_t least) { return v >= least && v <= INT32_MAX; };
      int64_t block = attrs.block[i], edges = attrs.before[i] + attrs.after[i];
      good = possible(block, 1) && block <= kLargestBlock && possible(attrs.before[i], 0) &&
             possible(attrs.after[i], 0) && resize(shape, i + 1, block, edges);
    }
    if (good) return std::vector<graph::Shape>{shape};
    bad_attribute(op, diags,
                  fmt::format("{} does not divide into blocks of {} with {} and {} at the edges",
                              graph::to_string(op.operand(0).shape), graph::attribute_text::print(attrs.block),
                              graph::attribute_text::print(attrs.before), graph::attribute_text::print(attrs.after)));
    return kFailure;
  }

  AffineMap map_of(const OpView& op) const override {
    const auto& attrs = op.attrs<BatchAttrs>();
    const graph::Shape& space = (to_space_ ? op.result() : op.operand(0)).shape;
    const graph::Shape& batch = (to_space_ ? op.operand(0) : op.result()).shape;
    std::vector<int64_t> s = strides_of(space), b = strides_of(batch);
    AffineMap map;
    if (!to_space_ && op.result().elements() > op.operand(0).elements()) map.fill = fill_of(op);
    auto add = [&](std::vector<Movement> pieces) {
      // Made as from space to batch.
      for (Movement& m : pieces)
        if (to_space_) {
          std::swap(m.to_strides, m.from_strides);
          std::swap(m.to_offset, m.from_offset);
        }
      map.add_axis(std::move(pieces));
    };
    int64_t phase_stride = batch[0] / space[0] * (space[0] * b[0]);
    add({{{space[0]}, {b[0]}, {s[0]}, 0, 0}});
    for (size_t i = 0; i < attrs.block.size(); ++i) {
      phase_stride /= attrs.block[i];
      add(phases(attrs.block[i], attrs.before[i], space[i + 1], batch[i + 1], {phase_stride, b[i + 1], s[i + 1]}));
    }
    add({{{space.back()}, {1}, {1}, 0, 0}});
    return map;
  }

 private:
  // The result's batch and dimension i, if they come out whole.
  bool resize(graph::Shape& shape, size_t i, int64_t block, int64_t edges) const {
    if (to_space_) {
      if (shape[0] % block != 0) return false;
      shape[0] /= block;
      shape[i] = shape[i] * block - edges;
      return shape[i] > 0 && shape[0] > 0;
    }
    shape[i] += edges;
    if (shape[0] < 1 || shape[0] > INT32_MAX / block || shape[i] % block != 0) return false;
    shape[0] *= block;
    shape[i] /= block;
    return true;
  }

  static std::vector<uint8_t> fill_of(const OpView& op) {
    // As the reference writes it: the zero point, byte for byte.
    return std::vector<uint8_t>(static_cast<size_t>(size_of(op.result().dtype)),
                                static_cast<uint8_t>(op.result().zero_point()));
  }

  struct PhaseStrides {
    int64_t phase, batch, space;
  };

  // Pixel o of phase p is pixel o * block + p - before of the space, where that is inside.
  static std::vector<Movement> phases(int64_t block, int64_t before, int64_t in_space, int64_t in_batch,
                                      PhaseStrides stride) {
    std::vector<Movement> out;
    for (int64_t p = 0; p < block; ++p) {
      int64_t first = std::max<int64_t>(0, (before - p + block - 1) / block);
      int64_t end = in_space + before - p;  // o * block < end
      int64_t count = std::min(in_batch, end <= 0 ? 0 : (end + block - 1) / block) - first;
      if (count <= 0) continue;
      out.push_back({{count},
                     {stride.batch},
                     {block * stride.space},
                     p * stride.phase + first * stride.batch,
                     (first * block + p - before) * stride.space});
    }
    return merged(std::move(out));
  }

  // One piece of two dimensions, where all are alike and evenly spaced.
  static std::vector<Movement> merged(std::vector<Movement> pieces) {
    if (pieces.size() < 2) return pieces;
    int64_t to = pieces[1].to_offset - pieces[0].to_offset;
    int64_t from = pieces[1].from_offset - pieces[0].from_offset;
    for (size_t i = 1; i < pieces.size(); ++i)
      if (pieces[i].extents != pieces[0].extents || pieces[i].to_offset - pieces[i - 1].to_offset != to ||
          pieces[i].from_offset - pieces[i - 1].from_offset != from)
        return pieces;
    auto count = static_cast<int64_t>(pieces.size());
    return {{{count, pieces[0].extents[0]},
             {to, pieces[0].to_strides[0]},
             {from, pieces[0].from_strides[0]},
             pieces[0].to_offset,
             pieces[0].from_offset}};
  }

  bool to_space_;
};

}  // namespace

void add_block_operators(OperatorSet& set) {
  for (bool to_space : {true, false}) {
    set.add(std::make_unique<DepthAndSpace>(to_space));
    set.add(std::make_unique<BatchAndSpace>(to_space));
  }
}

}  // namespace aotc::ops
