// SPDX-License-Identifier: Apache-2.0
// Operators that give elements another shape, cut tensors into parts or put parts together.
#include <algorithm>

#include <fmt/format.h>

#include "frontends/tflite/rules.h"
#include "ops/common/checks.h"
#include "ops/common/import.h"
#include "ops/concatenation/attributes.h"
#include "ops/pack/attributes.h"
#include "ops/reshape/attributes.h"
#include "ops/slice/slice.h"
#include "ops/split/attributes.h"
#include "ops/transpose/attributes.h"

namespace aotc::frontends::tflite {

namespace {

// Replaces a -1 in `shape` so that it has `elements`.
bool resolve_shape(const OpView& op, int64_t elements, graph::Shape& shape, Diagnostics& diags) {
  std::string as_given = graph::to_string(shape);
  int64_t* open = nullptr;
  int64_t known = 1;
  for (int64_t& d : shape) {
    if (d == -1) {
      if (open != nullptr)
        return bad_attribute(op, diags, fmt::format("the new shape {} has two open dimensions (-1)", as_given));
      open = &d;
    } else if (d < 0 || (d > 0 && known > elements / d)) {
      known = -1;
      break;
    } else {
      known *= d;
    }
  }
  if (open != nullptr && known > 0 && elements % known == 0) {
    *open = elements / known;
    known = elements;
  }
  if (known == elements) return true;
  return bad_shape(op, diags,
                   fmt::format("{} elements (shape {}) cannot be reshaped to {}", elements,
                               graph::to_string(op.operand(0).shape), as_given));
}

// The list in operand 1; if it is no list, the option, as in LiteRT, or the operand's values where there is no option.
// The shape that the file gives the result is the last resort, as in TensorFlow Lite Micro: converters compute the
// operand from the input's shape when the batch is open, though nothing else is.
bool new_shape_of_reshape(const TfliteOp& from, const OpView& op, graph::Shape& shape, Diagnostics& diags) {
  int64_t elements = op.operand(0).elements();
  if (op.has_operand(1) && op.operand(1).dtype != DType::kI32)
    return bad_attribute(op, diags,
                         fmt::format("the new shape (operand 1) is {} of shape {}, expected i32",
                                     name_of(op.operand(1).dtype), graph::to_string(op.operand(1).shape)));
  const auto* options = from.options<schema::ReshapeOptions>();
  const auto* given = options == nullptr ? nullptr : options->new_shape();
  if (given != nullptr && given->size() == 0 && op.has_operand(1)) given = nullptr;
  const bool is_list = op.has_operand(1) && op.operand(1).shape.size() == 1;
  const bool is_stated = op.has_operand(1) || (given != nullptr && given->size() > 0) || elements == 1;
  if (op.constant(1) != nullptr && (is_list || given == nullptr)) {
    return constant_ints(op, 1, "new shape", kMostAxes, shape, diags, kAnyRank) &&
           resolve_shape(op, elements, shape, diags);
  }
  if (!is_list && is_stated && (given != nullptr || !op.has_operand(1))) {
    if (given != nullptr && given->size() > kMostAxes)
      return bad_attribute(op, diags, "the new shape has too many dimensions");
    if (given != nullptr) shape.assign(given->begin(), given->end());
    // Old converters write a scalar as [0].
    if (shape.size() == 1 && shape[0] == 0) shape.clear();
    return resolve_shape(op, elements, shape, diags);
  }
  shape = op.result().shape;
  if (from.shapes_as_in_file() && op.result().elements() == elements) return true;
  const char* how = op.has_operand(1) ? "computed when the model runs" : "not in the model";
  diags
      .error(op.where(), "op-attribute",
             from.shapes_as_in_file()
                 ? fmt::format(
                       "the new shape is {}, and the result's shape {} does not have the {} elements of the operand",
                       how, graph::to_string(shape), elements)
                 : fmt::format("the new shape is {}", how))
      .help("export the model with fixed shapes");
  return false;
}

bool new_shape_of_squeeze(const TfliteOp& from, const OpView& op, graph::Shape& shape, Diagnostics& diags) {
  const graph::Shape& in = op.operand(0).shape;
  const auto* options = from.options<schema::SqueezeOptions>();
  const auto* dims = options == nullptr ? nullptr : options->squeeze_dims();
  std::vector<bool> dropped(in.size(), false);
  if (dims == nullptr || dims->size() == 0) {
    for (size_t i = 0; i < in.size(); ++i) dropped[i] = in[i] == 1;
  } else {
    for (int32_t d : *dims) {
      size_t axis = 0;
      if (!normalize_axis(op, d, in.size(), axis, diags)) return false;
      if (in[axis] != 1)
        return bad_attribute(
            op, diags,
            fmt::format("dimension {} of {} cannot be removed, because it is not 1", d, graph::to_string(in)));
      dropped[axis] = true;
    }
  }
  for (size_t i = 0; i < in.size(); ++i)
    if (!dropped[i]) shape.push_back(in[i]);
  return true;
}

bool new_shape_of_expand_dims(const TfliteOp&, const OpView& op, graph::Shape& shape, Diagnostics& diags) {
  int64_t value = 0;
  size_t axis = 0;
  shape = op.operand(0).shape;
  if (!constant_int(op, 1, "axis", value, diags) || !normalize_axis(op, value, shape.size() + 1, axis, diags))
    return false;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  return true;
}

// The shape becomes an attribute; a shape that is listed is there, or LiteRT crashes.
template <bool (*new_shape)(const TfliteOp&, const OpView&, graph::Shape&, Diagnostics&), size_t operands>
Status import_view(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<ReshapeAttrs>();
  op.attributes = attrs;
  const OpView view{from.graph(), op};
  if (!check_counts(view, std::max<size_t>(op.operands.size(), 1), operands, 1, diags) ||
      !new_shape(from, view, attrs->shape, diags))
    return kFailure;
  op.operands.resize(1);
  return success();
}

Status import_transpose(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<TransposeAttrs>();
  op.attributes = attrs;
  OpView view{from.graph(), op};
  if (!check_counts(view, 2, 2, 1, diags) ||
      !constant_ints(view, 1, "order of dimensions", kMostAxes, attrs->order, diags))
    return kFailure;
  for (int64_t& value : attrs->order) {
    size_t axis = 0;
    if (!normalize_axis(view, value, view.operand(0).shape.size(), axis, diags)) return kFailure;
    value = static_cast<int64_t>(axis);
  }
  op.operands.resize(1);
  return success();
}

// The reader has decompressed the operand: all elements stay where they are. Unlike a view, a transposition takes
// scales for each channel.
Status import_densify(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<TransposeAttrs>();
  op.attributes = attrs;
  OpView view{from.graph(), op};
  if (!check_counts(view, 1, 1, 1, diags)) return kFailure;
  for (size_t d = 0; d < view.operand(0).shape.size(); ++d) attrs->order.push_back(static_cast<int64_t>(d));
  return success();
}

Status import_concatenation(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<ConcatenationAttrs>();
  op.attributes = attrs;
  OpView view{from.graph(), op};
  if (!check_counts(view, 1, kMostJoined, 1, diags)) return kFailure;
  const auto* options = from.options<schema::ConcatenationOptions>();
  if (options == nullptr) return success();
  size_t axis = 0;
  if (options->fused_activation_function() != schema::ActivationFunctionType_NONE) {
    bad_attribute(view, diags, "a concatenation with a fused activation is not supported");
    return kFailure;
  }
  if (!normalize_axis(view, options->axis(), view.operand(0).shape.size(), axis, diags)) return kFailure;
  attrs->axis = static_cast<int32_t>(axis);
  attrs->requantize = from.shifted() && needs_requantization(view);
  return success();
}

// Both operators announce how many results they have.
bool announced(int32_t parts, const OpView& op, Diagnostics& diags) {
  if (parts == static_cast<int64_t>(op.op.results.size())) return true;
  return bad_attribute(
      op, diags, fmt::format("the options state {} parts, but there are {} results", parts, op.op.results.size()));
}

bool equal_sizes(const OpView& op, int64_t length, std::vector<int64_t>& sizes, Diagnostics& diags) {
  auto parts = static_cast<int64_t>(op.op.results.size());
  if (parts == 0 || length % parts != 0)
    return bad_attribute(op, diags,
                         fmt::format("a dimension of {} does not divide into {} equal parts", length, parts));
  sizes.assign(op.op.results.size(), length / parts);
  return true;
}

bool given_sizes(const OpView& op, int64_t length, std::vector<int64_t>& sizes, Diagnostics& diags) {
  if (!constant_ints(op, 1, "sizes", kMostResults, sizes, diags)) return false;
  int64_t* open = nullptr;
  int64_t rest = length;
  for (int64_t& size : sizes) {
    if (size == -1 && open == nullptr) {
      open = &size;
    } else if (size < 0 || size > rest) {
      return bad_attribute(
          op, diags,
          fmt::format("parts {} do not add up to a dimension of {}", graph::attribute_text::print(sizes), length));
    } else {
      rest -= size;
    }
  }
  if (open != nullptr) *open = rest;
  return true;
}

// Operand `data` cut along the axis of operand `axis_at`, into parts that `sizes` states.
template <typename Options, size_t data, size_t axis_at, size_t operands,
          bool (*sizes)(const OpView&, int64_t, std::vector<int64_t>&, Diagnostics&)>
Status import_split(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<SplitAttrs>();
  op.attributes = attrs;
  const OpView view{from.graph(), op};
  int64_t value = 0;
  size_t axis = 0;
  if (!check_counts(view, operands, operands, op.results.size(), diags) ||
      !constant_int(view, axis_at, "axis", value, diags) ||
      !normalize_axis(view, value, view.operand(data).shape.size(), axis, diags))
    return kFailure;
  attrs->axis = static_cast<int32_t>(axis);
  const auto* options = from.options<Options>();
  if (!announced(options == nullptr ? 0 : options->num_splits(), view, diags) ||
      !sizes(view, view.operand(data).shape[axis], attrs->sizes, diags))
    return kFailure;
  op.operands = {op.operands[data]};
  return success();
}

Status import_pack(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<PackAttrs>();
  op.attributes = attrs;
  OpView view{from.graph(), op};
  if (!check_counts(view, 1, kMostParts, 1, diags)) return kFailure;
  const auto* options = from.options<schema::PackOptions>();
  int32_t announced = options == nullptr ? 0 : options->values_count();
  if (announced != static_cast<int64_t>(op.operands.size())) {
    bad_attribute(view, diags,
                  fmt::format("the options state {} values, but there are {} operands", announced, op.operands.size()));
    return kFailure;
  }
  size_t axis = 0;
  if (!normalize_axis(view, options->axis(), view.operand(0).shape.size() + 1, axis, diags)) return kFailure;
  attrs->axis = static_cast<int32_t>(axis);
  return success();
}

Status import_unpack(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<PackAttrs>();
  op.attributes = attrs;
  OpView view{from.graph(), op};
  if (!check_counts(view, 1, 1, op.results.size(), diags)) return kFailure;
  const auto* options = from.options<schema::UnpackOptions>();
  int32_t announced = options == nullptr ? 0 : options->num();
  if (announced != static_cast<int64_t>(op.results.size())) {
    bad_attribute(view, diags,
                  fmt::format("the options state {} parts, but there are {} results", announced, op.results.size()));
    return kFailure;
  }
  size_t axis = 0;
  if (!normalize_axis(view, options->axis(), view.operand(0).shape.size(), axis, diags)) return kFailure;
  attrs->axis = static_cast<int32_t>(axis);
  return success();
}

bool box_of_slice(const OpView& op, const std::vector<int64_t>& begin, const std::vector<int64_t>& size,
                  SliceAttrs& attrs, Diagnostics& diags) {
  const graph::Shape& in = op.operand(0).shape;
  if (begin.size() != in.size() || size.size() != in.size())
    return bad_attribute(op, diags,
                         fmt::format("begin and size have {} and {} elements, expected {} (one for each dimension)",
                                     begin.size(), size.size(), in.size()));
  attrs.begin = begin;
  attrs.strides.assign(in.size(), 1);
  for (size_t i = 0; i < in.size(); ++i) {
    bool rest = size[i] == -1 && begin[i] >= 0 && begin[i] <= in[i];
    attrs.counts.push_back(rest ? in[i] - begin[i] : size[i]);
  }
  attrs.shape = attrs.counts;
  return true;
}

Status import_slice(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<SliceAttrs>();
  op.attributes = attrs;
  const OpView view{from.graph(), op};
  std::vector<int64_t> begin, size;
  if (!check_counts(view, 3, 3, 1, diags) || !constant_ints(view, 1, "begin", kMostAxes, begin, diags) ||
      !constant_ints(view, 2, "size", kMostAxes, size, diags) || !box_of_slice(view, begin, size, *attrs, diags))
    return kFailure;
  op.operands.resize(1);
  return success();
}

Status import_strided_slice(const TfliteOp& from, graph::Op& op, Diagnostics& diags) {
  auto attrs = std::make_shared<SliceAttrs>();
  op.attributes = attrs;
  const OpView view{from.graph(), op};
  StridedSliceSpec spec;
  if (!check_counts(view, 4, 4, 1, diags) || !constant_ints(view, 1, "begin", kMostAxes, spec.begin, diags) ||
      !constant_ints(view, 2, "end", kMostAxes, spec.end, diags) ||
      !constant_ints(view, 3, "strides", kMostAxes, spec.strides, diags))
    return kFailure;
  if (const auto* o = from.options<schema::StridedSliceOptions>()) {
    spec.begin_mask = o->begin_mask();
    spec.end_mask = o->end_mask();
    spec.ellipsis_mask = o->ellipsis_mask();
    spec.new_axis_mask = o->new_axis_mask();
    spec.shrink_axis_mask = o->shrink_axis_mask();
    spec.end_is_offset = o->offset();
  }
  if (!resolve_strided_slice(view, spec, *attrs, diags)) return kFailure;
  op.operands.resize(1);
  return success();
}

// The reference rescales uint8, and refuses int8 of different scales.
bool is_int16(const OpView& op, size_t operand) { return op.operand(operand).dtype == DType::kI16; }

}  // namespace

std::span<const Rule> shape_rules() {
  static const Rule all[] = {
      {.name = "RESHAPE", .op = "reshape", .import = import_view<new_shape_of_reshape, 2>, .is_stored = are_stored<0>},
      {.name = "SQUEEZE", .op = "reshape", .import = import_view<new_shape_of_squeeze, 1>, .is_stored = are_stored<0>},
      {"EXPAND_DIMS", "reshape", import_view<new_shape_of_expand_dims, 2>},
      {.name = "TRANSPOSE", .op = "transpose", .import = import_transpose, .is_stored = are_stored<0>},
      {"DENSIFY", "transpose", import_densify},
      {.name = "CONCATENATION", .op = "concatenation", .import = import_concatenation, .is_stored = is_int16},
      {.name = "SPLIT",
       .op = "split",
       .import = import_split<schema::SplitOptions, 1, 0, 2, equal_sizes>,
       .is_stored = are_stored<1>},
      {.name = "SPLIT_V",
       .op = "split",
       .import = import_split<schema::SplitVOptions, 0, 2, 3, given_sizes>,
       .is_stored = are_stored<0>},
      {"PACK", "pack", import_pack},
      {"UNPACK", "unpack", import_unpack},
      {.name = "SLICE", .op = "slice", .import = import_slice, .is_stored = are_stored<0>},
      {.name = "STRIDED_SLICE", .op = "slice", .import = import_strided_slice, .is_stored = are_stored<0>},
      {"SHAPE", "shape"},
      {"RANK", "rank"},
  };
  return all;
}

}  // namespace aotc::frontends::tflite
