// SPDX-License-Identifier: Apache-2.0
// Operators that take elements from other places: gathers, borders, blocks, other sizes.
#include <algorithm>

#include <fmt/format.h>

#include "frontends/tflite/rules.h"
#include "frontends/tflite/rules/options.h"
#include "ops/broadcast_to/attributes.h"
#include "ops/common/checks.h"
#include "ops/common/constants_only.h"
#include "ops/common/import.h"
#include "ops/common/resize.h"
#include "ops/gather/attributes.h"
#include "ops/pad/attributes.h"
#include "ops/rearrange/attributes.h"

namespace aotc::frontends::tflite {

namespace {

Status import_gather(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<GatherAttrs>();
  op.attributes = attrs;
  OpView view{from.graph(), op};
  const auto* options = from.options<schema::GatherOptions>();
  if (options == nullptr || !check_counts(view, 2, 2, 1, diags))
    return options == nullptr ? success() : Status(kFailure);
  size_t rank = view.operand(0).shape.size(), axis = 0;
  int64_t batch = options->batch_dims();
  if (batch < 0) batch += static_cast<int64_t>(view.operand(1).shape.size());
  if (!normalize_axis(view, options->axis(), rank, axis, diags)) return kFailure;
  if (batch < 0 || batch > static_cast<int64_t>(axis)) {
    bad_attribute(view, diags,
                  fmt::format("batch_dims is {}, but must be from 0 to axis {}", options->batch_dims(), axis));
    return kFailure;
  }
  attrs->axis = static_cast<int32_t>(axis);
  attrs->batch_dims = static_cast<int32_t>(batch);
  return success();
}

Status import_scatter_nd(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<ScatterAttrs>();
  op.attributes = attrs;
  OpView view{from.graph(), op};
  if (!check_counts(view, 3, 3, 1, diags) || !constant_shape(view, 2, "shape", attrs->shape, diags)) return kFailure;
  op.operands.resize(2);
  return success();
}

Status import_unsorted_segment(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<SegmentAttrs>();
  op.attributes = attrs;
  OpView view{from.graph(), op};
  int64_t segments = 0;
  if (!check_counts(view, 3, 3, 1, diags) || !constant_int(view, 2, "number of segments", segments, diags))
    return kFailure;
  attrs->segments = static_cast<int32_t>(std::clamp<int64_t>(segments, 0, INT32_MAX));
  op.operands.resize(2);
  return success();
}

// Numbers that rise from 0 by 1 at most: the last says how many segments there are.
Status import_segment_sum(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<SegmentAttrs>();
  op.attributes = attrs;
  OpView view{from.graph(), op};
  std::vector<int64_t> numbers;
  if (!check_counts(view, 2, 2, 1, diags) || !check_rank(view, 1, 1, 1, diags) ||
      !check_type(view, 1, {DType::kI32}, diags) ||
      !constant_ints(view, 1, "numbers of segments", SIZE_MAX, numbers, diags))
    return kFailure;
  int64_t last = -1;
  for (int64_t number : numbers) {
    if (number != last && number != last + 1) {
      bad_attribute(
          view, diags,
          fmt::format("segment {} follows segment {}, but segments must be in order without gaps", number, last));
      return kFailure;
    }
    last = number;
  }
  if (last < 0) {
    bad_attribute(view, diags, "there are no segments");
    return kFailure;
  }
  attrs->segments = static_cast<int32_t>(last + 1);
  return success();
}

// From (indices, depth, one value, the other).
Status import_one_hot(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<OneHotAttrs>();
  op.attributes = attrs;
  OpView view{from.graph(), op};
  int64_t depth = 0;
  if (!check_counts(view, 4, 4, 1, diags) || !constant_int(view, 1, "depth", depth, diags)) return kFailure;
  const auto* options = from.options<schema::OneHotOptions>();
  int32_t axis = options == nullptr ? 0 : options->axis();
  if (axis == -1) axis = static_cast<int32_t>(view.operand(0).shape.size());
  attrs->axis = axis;
  attrs->depth = static_cast<int32_t>(std::clamp<int64_t>(depth, INT32_MIN, INT32_MAX));
  op.operands.erase(op.operands.begin() + 1);
  return success();
}

Status import_reverse_sequence(const TfliteOp& from, graph::Op& op, Diagnostics&) {
  auto attrs = std::make_shared<ReverseSequenceAttrs>();
  op.attributes = attrs;
  attrs->batch_dim = 0;
  if (const auto* options = from.options<schema::ReverseSequenceOptions>()) {
    attrs->seq_dim = options->seq_dim();
    attrs->batch_dim = options->batch_dim();
  }
  return success();
}

Status import_broadcast_to(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<BroadcastAttrs>();
  op.attributes = attrs;
  OpView view{from.graph(), op};
  if (!check_counts(view, 2, 2, 1, diags) || !check_rank(view, 1, 1, 1, diags) ||
      !constant_shape(view, 1, "dimensions", attrs->shape, diags))
    return kFailure;
  op.operands.resize(1);
  return success();
}

Status import_pad(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<PadAttrs>();
  op.attributes = attrs;
  OpView view{from.graph(), op};
  std::vector<int64_t> amounts;
  if (!check_counts(view, 2, 3, 1, diags) || !constant_ints(view, 1, "amounts", 2 * kMostAxes, amounts, diags, 2))
    return kFailure;
  if (amounts.size() != 2 * view.operand(0).shape.size()) {
    bad_attribute(view, diags,
                  fmt::format("there are {} padding amounts for a tensor of rank {}, expected two for each dimension",
                              amounts.size(), view.operand(0).shape.size()));
    return kFailure;
  }
  for (size_t i = 0; i < amounts.size(); i += 2) {
    attrs->before.push_back(amounts[i]);
    attrs->after.push_back(amounts[i + 1]);
  }
  op.operands.erase(op.operands.begin() + 1);
  // The reference compares the scale of what it fills up with to the result's, and no other.
  constexpr DType kQuantised[] = {DType::kI8, DType::kU8, DType::kI16};
  const bool fills =
      op.operands.size() == 2 && view.has_operand(1) &&
      std::find(std::begin(kQuantised), std::end(kQuantised), view.operand(1).dtype) != std::end(kQuantised);
  return !fills || check_same_quantization(view, 1, 0, diags) ? success() : Status(kFailure);
}

Status import_reverse(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<ReverseAttrs>();
  op.attributes = attrs;
  OpView view{from.graph(), op};
  if (!check_counts(view, 2, 2, 1, diags) || !constant_ints(view, 1, "axes", kMostAxes, attrs->axes, diags))
    return kFailure;
  for (int64_t& value : attrs->axes) {
    size_t axis = 0;
    if (!normalize_axis(view, value, view.operand(0).shape.size(), axis, diags)) return kFailure;
    value = static_cast<int64_t>(axis);
  }
  op.operands.resize(1);
  return success();
}

Status import_tile(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<TileAttrs>();
  op.attributes = attrs;
  OpView view{from.graph(), op};
  if (!check_counts(view, 2, 2, 1, diags) || !constant_ints(view, 1, "multiples", kMostAxes, attrs->multiples, diags))
    return kFailure;
  op.operands.resize(1);
  return success();
}

Status import_mirror_pad(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<MirrorPadAttrs>();
  op.attributes = attrs;
  OpView view{from.graph(), op};
  std::vector<int64_t> amounts;
  if (!check_counts(view, 2, 2, 1, diags) || !constant_ints(view, 1, "amounts", 2 * kMostAxes, amounts, diags, 2))
    return kFailure;
  if (amounts.size() % 2 != 0) {
    bad_attribute(view, diags,
                  fmt::format("there are {} padding amounts, expected two for each dimension", amounts.size()));
    return kFailure;
  }
  for (size_t i = 0; i < amounts.size(); i += 2) {
    attrs->before.push_back(amounts[i]);
    attrs->after.push_back(amounts[i + 1]);
  }
  if (const auto* options = from.options<schema::MirrorPadOptions>())
    attrs->symmetric = options->mode() == schema::MirrorPadMode_SYMMETRIC;
  op.operands.resize(1);
  return success();
}

template <typename Options>
Status import_depth(const TfliteOp& from, graph::Op& op, Diagnostics&) {
  auto attrs = std::make_shared<DepthAttrs>();
  op.attributes = attrs;
  attrs->block_size = 0;
  if (const auto* options = from.options<Options>()) attrs->block_size = options->block_size();
  return success();
}

template <bool to_space>
Status import_batch(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<BatchAttrs>();
  op.attributes = attrs;
  OpView view{from.graph(), op};
  std::vector<int64_t> edges;
  if (!check_counts(view, 3, 3, 1, diags) || !constant_ints(view, 1, "block", kMostAxes, attrs->block, diags) ||
      !constant_ints(view, 2, to_space ? "crops" : "paddings", 2 * kMostAxes, edges, diags, 2))
    return kFailure;
  for (size_t i = 0; i < edges.size(); ++i) {
    if (edges[i] < 0 || edges[i] > INT32_MAX) {
      bad_attribute(view, diags, fmt::format("a crop or padding is {}, but must be at least 0", edges[i]));
      return kFailure;
    }
    (i % 2 == 0 ? attrs->before : attrs->after).push_back(edges[i]);
  }
  op.operands.resize(1);
  return success();
}

// Operand 1 is the size, which becomes an attribute.
template <typename Options>
Status import_resize(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<ResizeAttrs>();
  op.attributes = attrs;
  OpView view{from.graph(), op};
  std::vector<int64_t> size;
  if (!check_counts(view, 2, 2, 1, diags) || !constant_ints(view, 1, "size", 2, size, diags)) return kFailure;
  if (size.size() != 2 || !is_image_length(size[0]) || !is_image_length(size[1])) {
    bad_attribute(view, diags, fmt::format("{} is not a valid image size", graph::attribute_text::print(size)));
    return kFailure;
  }
  attrs->height = static_cast<int32_t>(size[0]);
  attrs->width = static_cast<int32_t>(size[1]);
  const auto* options = from.options<Options>();
  attrs->align_corners = options != nullptr && options->align_corners();
  attrs->half_pixel_centers = options != nullptr && options->half_pixel_centers();
  op.operands.resize(1);
  return success();
}

bool gathers_rows(const OpView& op, size_t operand) {
  const auto& attrs = op.attrs<GatherAttrs>();
  return operand == 1 && attrs.axis == 0 && attrs.batch_dims == 0;
}

bool gathers_tuples(const OpView& op, size_t operand) { return operand == 1 && op.operand(1).shape.size() > 1; }

}  // namespace

std::span<const Rule> place_rules() {
  static const Rule all[] = {
      {.name = "GATHER", .op = "gather", .import = import_gather, .by_rows = gathers_rows, .is_stored = are_stored<0>},
      {.name = "GATHER_ND", .op = "gather_nd", .by_rows = gathers_tuples, .is_stored = are_stored<0>},
      {.name = "SCATTER_ND", .op = "scatter_nd", .import = import_scatter_nd, .is_stored = are_stored<1>},
      {"SEGMENT_SUM", "unsorted_segment_sum", import_segment_sum},
      {"UNSORTED_SEGMENT_SUM", "unsorted_segment_sum", import_unsorted_segment},
      {"UNSORTED_SEGMENT_PROD", "unsorted_segment_prod", import_unsorted_segment},
      {"UNSORTED_SEGMENT_MAX", "unsorted_segment_max", import_unsorted_segment},
      {"UNSORTED_SEGMENT_MIN", "unsorted_segment_min", import_unsorted_segment},
      {.name = "EMBEDDING_LOOKUP", .op = "embedding_lookup", .is_stored = are_stored<1>},
      {.name = "ONE_HOT", .op = "one_hot", .import = import_one_hot, .is_stored = are_stored<2, 3>},
      {.name = "REVERSE_SEQUENCE",
       .op = "reverse_sequence",
       .import = import_reverse_sequence,
       .is_stored = are_stored<0>},
      {.name = "REVERSE_V2", .op = "reverse_v2", .import = import_reverse, .is_stored = are_stored<0>},
      {.name = "DYNAMIC_UPDATE_SLICE", .op = "dynamic_update_slice", .is_stored = are_stored<0, 1>},
      {.name = "BROADCAST_TO", .op = "broadcast_to", .import = import_broadcast_to, .is_stored = are_stored<0>},
      {"BROADCAST_ARGS", "broadcast_args"},
      {.name = "TILE", .op = "tile", .import = import_tile, .is_stored = are_stored<0>},
      {.name = "PAD", .op = "pad", .import = import_pad, .is_stored = are_stored<0>},
      {.name = "PADV2", .op = "pad", .import = import_pad, .is_stored = are_stored<0>},
      {"MIRROR_PAD", "mirror_pad", import_mirror_pad},
      {.name = "DEPTH_TO_SPACE",
       .op = "depth_to_space",
       .import = import_depth<schema::DepthToSpaceOptions>,
       .is_stored = are_stored<0>},
      {.name = "SPACE_TO_DEPTH",
       .op = "space_to_depth",
       .import = import_depth<schema::SpaceToDepthOptions>,
       .is_stored = are_stored<0>},
      {"BATCH_TO_SPACE_ND", "batch_to_space_nd", import_batch<true>},
      {"SPACE_TO_BATCH_ND", "space_to_batch_nd", import_batch<false>},
      {.name = "MATRIX_DIAG", .op = "matrix_diag", .is_stored = are_stored<0>},
      {.name = "MATRIX_SET_DIAG", .op = "matrix_set_diag", .is_stored = are_stored<0, 1>},
      {.name = "RESIZE_BILINEAR",
       .op = "resize_bilinear",
       .import = import_resize<schema::ResizeBilinearOptions>,
       .is_stored = are_stored<0>},
      {.name = "RESIZE_NEAREST_NEIGHBOR",
       .op = "resize_nearest_neighbor",
       .import = import_resize<schema::ResizeNearestNeighborOptions>,
       .is_stored = are_stored<0>},
      {"FILL", "fill"},
      {"ZEROS_LIKE", "zeros_like"},
      {"RANGE", "range"},
  };
  return all;
}

}  // namespace aotc::frontends::tflite
