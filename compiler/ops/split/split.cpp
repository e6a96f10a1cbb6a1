// SPDX-License-Identifier: Apache-2.0
// split: the operand cut along an axis into parts of the given sizes, one result each. SPLIT and
// SPLIT_V are both this operator.
#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/import.h"
#include "ops/common/movement.h"
#include "ops/tflite_op.h"

namespace aotc::ops {

namespace {

struct SplitAttrs : graph::Attributes<SplitAttrs> {
  int32_t axis = 0;
  std::vector<int64_t> sizes;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("axis", self.axis);
    field("sizes", self.sizes);
  }
};

constexpr int kSplit = 49, kSplitV = 102;
constexpr size_t kMostResults = 1000;

Parts parts_of(const OpView& op) {
  const auto& attrs = op.attrs<SplitAttrs>();
  AxisView v = view_at(op.operand(0).shape, static_cast<size_t>(attrs.axis));
  Parts parts;
  parts.outer = v.outer;
  for (int64_t size : attrs.sizes) parts.row_elements.push_back(size * v.inner);
  return parts;
}

class Split final : public Operator {
 public:
  std::string_view name() const override { return "split"; }
  std::string_view summary() const override {
    return "cuts a tensor into parts along an axis (SPLIT, SPLIT_V)";
  }
  std::vector<TypeSupport> types() const override {
    return movable_types("LiteRT has no kernel for it");
  }
  std::shared_ptr<graph::AttributesBase> default_attributes() const override {
    return std::make_shared<SplitAttrs>();
  }
  std::vector<int> tflite_builtins() const override { return {kSplit, kSplitV}; }
  Uint8 tflite_uint8(const OpView&) const override { return Uint8::kEither; }

  Result<std::vector<graph::Shape>> infer(const OpView& op, Diagnostics& diags) const override {
    const auto& attrs = op.attrs<SplitAttrs>();
    if (attrs.sizes.empty() || attrs.sizes.size() > kMostResults) {
      bad_attribute(op, diags,
                    fmt::format("{} parts, expected 1 to {}", attrs.sizes.size(), kMostResults));
      return kFailure;
    }
    if (!check_counts(op, 1, 1, attrs.sizes.size(), diags)) return kFailure;
    const graph::Shape& in = op.operand(0).shape;
    size_t axis = 0;
    if (attrs.axis < 0 || !normalize_axis(op, attrs.axis, in.size(), axis, diags)) {
      if (attrs.axis < 0) bad_attribute(op, diags, fmt::format("axis {} is negative", attrs.axis));
      return kFailure;
    }
    std::vector<graph::Shape> shapes;
    int64_t left = in[axis];
    for (int64_t size : attrs.sizes) {
      if (size < 0 || size > left) break;
      left -= size;
      shapes.push_back(in);
      shapes.back()[axis] = size;
    }
    if (shapes.size() != attrs.sizes.size() || left != 0) {
      bad_attribute(op, diags,
                    fmt::format("parts {} do not add up to the {} of dimension {}",
                                graph::attribute_text::print(attrs.sizes), in[axis], axis));
      return kFailure;
    }
    return shapes;
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    const size_t moved[] = {0};
    return check_moves(op, moved, diags) ? success() : Status(kFailure);
  }

  void evaluate(const OpView& op, const EvalData& data) const override {
    split_parts(parts_of(op), data.operands[0], data.results, size_of(op.operand(0).dtype));
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    return lower_split(op, parts_of(op));
  }

  bool is_identity(const OpView& op) const override { return op.op.results.size() == 1; }

  Status import_tflite(const TfliteOp& from, graph::Op& op, Diagnostics& diags) const override {
    auto attrs = std::make_shared<SplitAttrs>();
    op.attributes = attrs;
    OpView view{from.graph(), op};
    bool by_sizes = from.builtin() == kSplitV;
    size_t operands = by_sizes ? 3 : 2, data = by_sizes ? 0 : 1, axis_at = by_sizes ? 2 : 0;
    int64_t value = 0;
    size_t axis = 0;
    if (!check_counts(view, operands, operands, op.results.size(), diags) ||
        !constant_int(view, axis_at, "axis", value, diags) ||
        !normalize_axis(view, value, view.operand(data).shape.size(), axis, diags))
      return kFailure;
    attrs->axis = static_cast<int32_t>(axis);
    if (!announced(from, view, diags)) return kFailure;
    int64_t length = view.operand(data).shape[axis];
    if (by_sizes ? !given_sizes(view, length, attrs->sizes, diags)
                 : !equal_sizes(view, length, attrs->sizes, diags))
      return kFailure;
    op.operands = {op.operands[data]};
    return success();
  }

 private:
  // Both operators announce how many results they have.
  static bool announced(const TfliteOp& from, const OpView& op, Diagnostics& diags) {
    int32_t parts = 0;
    if (const auto* o = from.options<tflite_schema::SplitOptions>()) parts = o->num_splits();
    if (const auto* o = from.options<tflite_schema::SplitVOptions>()) parts = o->num_splits();
    if (parts == static_cast<int64_t>(op.op.results.size())) return true;
    return bad_attribute(op, diags,
                         fmt::format("{} parts are announced, there are {} results", parts,
                                     op.op.results.size()));
  }

  static bool equal_sizes(const OpView& op, int64_t length, std::vector<int64_t>& sizes,
                          Diagnostics& diags) {
    auto parts = static_cast<int64_t>(op.op.results.size());
    if (parts == 0 || length % parts != 0)
      return bad_attribute(op, diags,
                           fmt::format("{} does not divide into {} equal parts", length, parts));
    sizes.assign(op.op.results.size(), length / parts);
    return true;
  }

  static bool given_sizes(const OpView& op, int64_t length, std::vector<int64_t>& sizes,
                          Diagnostics& diags) {
    if (!constant_ints(op, 1, "sizes", kMostResults, sizes, diags)) return false;
    int64_t* open = nullptr;
    int64_t rest = length;
    for (int64_t& size : sizes) {
      if (size == -1 && open == nullptr) {
        open = &size;
      } else if (size < 0 || size > rest) {
        return bad_attribute(op, diags,
                             fmt::format("parts {} do not fit a dimension of {}",
                                         graph::attribute_text::print(sizes), length));
      } else {
        rest -= size;
      }
    }
    if (open != nullptr) *open = rest;
    return true;
  }
};

}  // namespace

void add_operators_split(OperatorSet& set) { set.add(std::make_unique<Split>()); }

}  // namespace aotc::ops
