// SPDX-License-Identifier: Apache-2.0
// reshape: the operand's elements in the same order under another shape; a view, so it costs
// nothing. RESHAPE, SQUEEZE and EXPAND_DIMS are all this operator: what they differ in is how a
// file states the new shape, and that is settled at import.
#include <algorithm>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/import.h"
#include "ops/common/movement.h"
#include "ops/tflite_op.h"

namespace aotc::ops {

namespace {

struct ReshapeAttrs : graph::Attributes<ReshapeAttrs> {
  std::vector<int64_t> shape;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("shape", self.shape);
  }
};

constexpr int kReshape = 22, kSqueeze = 43, kExpandDims = 70;

// Product of the dimensions; -1 if one is negative or the product is larger than `most`.
int64_t count_up_to(const graph::Shape& shape, int64_t most) {
  int64_t count = 1;
  for (int64_t d : shape) {
    if (d < 0 || (d > 0 && count > most / d)) return -1;
    count *= d;
  }
  return count;
}

// Replaces a -1 in `shape` so that it has `elements`.
bool resolve_shape(const OpView& op, int64_t elements, graph::Shape& shape, Diagnostics& diags) {
  std::string as_given = graph::to_string(shape);
  int64_t* open = nullptr;
  int64_t known = 1;
  for (int64_t& d : shape) {
    if (d == -1) {
      if (open != nullptr)
        return bad_attribute(op, diags,
                             fmt::format("new shape {} leaves two dimensions open", as_given));
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
                   fmt::format("{} elements (shape {}) cannot take the shape {}", elements,
                               graph::to_string(op.operand(0).shape), as_given));
}

class Reshape final : public Operator {
 public:
  std::string_view name() const override { return "reshape"; }
  std::string_view summary() const override {
    return "another shape for the same elements (RESHAPE, SQUEEZE, EXPAND_DIMS); costs nothing";
  }
  std::vector<TypeSupport> types() const override { return movable_types(); }
  Traits traits() const override { return {.view = true}; }
  std::shared_ptr<graph::AttributesBase> default_attributes() const override {
    return std::make_shared<ReshapeAttrs>();
  }
  std::vector<int> tflite_builtins() const override { return {kReshape, kSqueeze, kExpandDims}; }
  Uint8 tflite_uint8(const OpView&) const override { return Uint8::kEither; }

  Result<std::vector<graph::Shape>> infer(const OpView& op, Diagnostics& diags) const override {
    if (!check_counts(op, 1, 1, 1, diags)) return kFailure;
    const graph::Shape& shape = op.attrs<ReshapeAttrs>().shape;
    int64_t elements = op.operand(0).elements();
    if (count_up_to(shape, elements) != elements) {
      bad_shape(op, diags,
                fmt::format("{} elements (shape {}) cannot take the shape {}", elements,
                            graph::to_string(op.operand(0).shape), graph::to_string(shape)));
      return kFailure;
    }
    return std::vector<graph::Shape>{shape};
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    const size_t moved[] = {0};
    return check_moves(op, moved, diags) ? success() : Status(kFailure);
  }

  void evaluate(const OpView&, const EvalData& data) const override {
    std::copy(data.operands[0].begin(), data.operands[0].end(), data.results[0].begin());
  }

  ChannelFlow channel_flow(const OpView& op) const override {
    const graph::Shape& from = op.operand(0).shape;
    const graph::Shape& to = op.result().shape;
    bool same = !from.empty() && !to.empty() && from.back() == to.back();
    return same && op.operand(0).dtype == DType::kI8 ? ChannelFlow::kEach : ChannelFlow::kOpaque;
  }
  ChannelRanges channel_ranges(const OpView&,
                               const std::vector<ChannelRanges>& operands) const override {
    return operands[0];
  }
  std::shared_ptr<const graph::AttributesBase> attributes_for_channels(
      const OpView& op, int64_t channels) const override {
    auto attributes = std::make_shared<ReshapeAttrs>(op.attrs<ReshapeAttrs>());
    attributes->shape.back() = channels;
    return attributes;
  }

  // A view has no code of its own; this is the copy for who asks nevertheless.
  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, "reshape");
    tir::BufferPtr in = f.operand(0), out = f.result();
    f.copy(out, 0, in, 0, in->elements);
    return f.finish("copy");
  }

  Status import_tflite(const TfliteOp& from, graph::Op& op, Diagnostics& diags) const override {
    auto attrs = std::make_shared<ReshapeAttrs>();
    op.attributes = attrs;
    OpView view{from.graph(), op};
    // A shape that is listed is there; LiteRT crashes without.
    bool good = check_counts(view, std::max<size_t>(op.operands.size(), 1),
                             from.builtin() == kSqueeze ? 1 : 2, 1, diags);
    if (good && from.builtin() == kSqueeze) {
      good = import_squeeze(from, view, attrs->shape, diags);
    } else if (good && from.builtin() == kExpandDims) {
      good = import_expand_dims(view, attrs->shape, diags);
    } else if (good) {
      good = import_reshape(from, view, attrs->shape, diags);
    }
    if (!good) return kFailure;
    op.operands.resize(1);
    return success();
  }

 private:
  // The constant operand, else the option, else the shape the file gives the result: converters
  // compute the operand from the input's shape when the batch is open, though nothing else is.
  static bool import_reshape(const TfliteOp& from, const OpView& op, graph::Shape& shape,
                             Diagnostics& diags) {
    int64_t elements = op.operand(0).elements();
    if (op.has_operand(1) &&
        (op.operand(1).dtype != DType::kI32 || op.operand(1).shape.size() != 1))
      return bad_attribute(
          op, diags,
          fmt::format("the new shape (operand 1) is {} of shape {}, expected a list of i32",
                      name_of(op.operand(1).dtype), graph::to_string(op.operand(1).shape)));
    if (op.constant(1) != nullptr) {
      return constant_ints(op, 1, "new shape", kMostAxes, shape, diags) &&
             resolve_shape(op, elements, shape, diags);
    }
    const auto* options = from.options<tflite_schema::ReshapeOptions>();
    if (!op.has_operand(1)) {
      const auto* given = options == nullptr ? nullptr : options->new_shape();
      if (given != nullptr && given->size() > kMostAxes)
        return bad_attribute(op, diags, "the new shape has too many dimensions");
      if (given != nullptr) shape.assign(given->begin(), given->end());
      // Old converters write a scalar as [0].
      if (shape.size() == 1 && shape[0] == 0) shape.clear();
      return resolve_shape(op, elements, shape, diags);
    }
    shape = op.result().shape;
    if (from.shapes_as_in_file() && op.result().elements() == elements) return true;
    diags
        .error(op.where(), "op-attribute",
               from.shapes_as_in_file()
                   ? fmt::format("the new shape is computed when the model runs, and {} does not "
                                 "hold the {} elements of the operand",
                                 graph::to_string(shape), elements)
                   : "the new shape is computed when the model runs")
        .help("export the model with fixed shapes");
    return false;
  }

  static bool import_squeeze(const TfliteOp& from, const OpView& op, graph::Shape& shape,
                             Diagnostics& diags) {
    const graph::Shape& in = op.operand(0).shape;
    const auto* options = from.options<tflite_schema::SqueezeOptions>();
    const auto* dims = options == nullptr ? nullptr : options->squeeze_dims();
    std::vector<bool> dropped(in.size(), false);
    if (dims == nullptr || dims->size() == 0) {
      for (size_t i = 0; i < in.size(); ++i) dropped[i] = in[i] == 1;
    } else {
      for (int32_t d : *dims) {
        size_t axis = 0;
        if (!normalize_axis(op, d, in.size(), axis, diags)) return false;
        if (in[axis] != 1)
          return bad_attribute(op, diags,
                               fmt::format("dimension {} of {} is to be dropped, but is not 1", d,
                                           graph::to_string(in)));
        dropped[axis] = true;
      }
    }
    for (size_t i = 0; i < in.size(); ++i)
      if (!dropped[i]) shape.push_back(in[i]);
    return true;
  }

  static bool import_expand_dims(const OpView& op, graph::Shape& shape, Diagnostics& diags) {
    int64_t value = 0;
    size_t axis = 0;
    shape = op.operand(0).shape;
    if (!constant_int(op, 1, "axis", value, diags) ||
        !normalize_axis(op, value, shape.size() + 1, axis, diags))
      return false;
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), 1);
    return true;
  }
};

}  // namespace

void add_operators_reshape(OperatorSet& set) { set.add(std::make_unique<Reshape>()); }

}  // namespace aotc::ops
