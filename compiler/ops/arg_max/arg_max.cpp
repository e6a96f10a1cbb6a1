// SPDX-License-Identifier: Apache-2.0
// arg_max: where along an axis the largest element is; the first of equal ones. NaN loses against
// any number.
#include <cmath>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/import.h"
#include "ops/common/movement.h"
#include "ops/tflite_op.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

struct ArgMaxAttrs : graph::Attributes<ArgMaxAttrs> {
  int32_t axis = 0;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("axis", self.axis);
  }
};

AxisView axis_view(const OpView& op) {
  return view_at(op.operand(0).shape, static_cast<size_t>(op.attrs<ArgMaxAttrs>().axis));
}

template <typename T>
bool beats(T v, T best) {
  if constexpr (std::is_floating_point_v<T>) return !std::isnan(v) && !(v <= best);
  return v > best;
}

template <typename T>
void evaluate_as(const AxisView& v, const EvalData& data, bool wide) {
  auto in = data.in<T>(0);
  for (int64_t o = 0; o < v.outer; ++o)
    for (int64_t i = 0; i < v.inner; ++i) {
      auto at = [&](int64_t k) { return in[static_cast<size_t>((o * v.axis + k) * v.inner + i)]; };
      int64_t best = 0;
      for (int64_t k = 1; k < v.axis; ++k)
        if (beats<T>(at(k), at(best))) best = k;
      auto to = static_cast<size_t>(o * v.inner + i);
      if (wide) {
        data.out<int64_t>()[to] = best;
      } else {
        data.out<int32_t>()[to] = static_cast<int32_t>(best);
      }
    }
}

class ArgMax final : public Operator {
 public:
  std::string_view name() const override { return "arg_max"; }
  std::string_view summary() const override {
    return "index of the largest element along an axis, as int32 or int64";
  }
  std::vector<TypeSupport> types() const override {
    return {{DType::kI8, ""},
            {DType::kF32, ""},
            {DType::kU8, ""},
            {DType::kI32, ""},
            {DType::kBool, ""}};
  }
  std::shared_ptr<graph::AttributesBase> default_attributes() const override {
    return std::make_shared<ArgMaxAttrs>();
  }
  std::vector<int> tflite_builtins() const override { return {56}; }

  Result<std::vector<graph::Shape>> infer(const OpView& op, Diagnostics& diags) const override {
    if (!check_counts(op, 1, 1, 1, diags)) return kFailure;
    graph::Shape shape = op.operand(0).shape;
    int32_t axis = op.attrs<ArgMaxAttrs>().axis;
    if (axis < 0 || static_cast<size_t>(axis) >= shape.size()) {
      bad_attribute(op, diags,
                    fmt::format("axis {} is outside a tensor of rank {}", axis, shape.size()));
      return kFailure;
    }
    shape.erase(shape.begin() + axis);
    return std::vector<graph::Shape>{shape};
  }

  Status verify(const OpView& op, Diagnostics& diags) const override {
    if (!check_type(op, 0, {DType::kI8, DType::kF32, DType::kU8, DType::kI32, DType::kBool}, diags))
      return kFailure;
    DType out = op.result().dtype;
    if (out == DType::kI64 || check_result_type(op, 0, DType::kI32, diags)) {
      if (axis_view(op).axis > 0) return success();
      bad_shape(op, diags, "arg_max of no elements");
    }
    return kFailure;
  }

  void evaluate(const OpView& op, const EvalData& data) const override {
    AxisView v = axis_view(op);
    bool wide = op.result().dtype == DType::kI64;
    switch (op.operand(0).dtype) {
      case DType::kI8:
        return evaluate_as<int8_t>(v, data, wide);
      case DType::kF32:
        return evaluate_as<float>(v, data, wide);
      case DType::kI32:
        return evaluate_as<int32_t>(v, data, wide);
      default:
        return evaluate_as<uint8_t>(v, data, wide);
    }
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, "arg_max");
    BufferPtr in = f.operand(0), out = f.result();
    AxisView v = axis_view(op);
    bool is_float = in->dtype == DType::kF32;
    auto store = [&](const Ex& to, const Ex& index) {
      f.store(out, to, out->dtype == DType::kI64 ? cast(DType::kI64, index) : index);
    };
    f.loop("o", 0, v.outer, [&](Ex o) {
      f.loop("i", 0, v.inner, [&](Ex i) {
        Ex to = f.let("to", o * v.inner + i);
        if (v.axis == 1) return store(to, 0);
        Ex from = f.let("from", o * (v.axis * v.inner) + i);
        Ex best = f.var("best", load(in, from));
        Ex index = f.var("index", 0);
        f.loop("k", 1, v.axis, [&](Ex k) {
          Ex value = f.let("value", load(in, from + k * v.inner));
          Ex better = is_float ? ((value <= best) == 0) && (value == value) : value > best;
          f.if_(better, [&] {
            f.assign(best, value);
            f.assign(index, k);
          });
        });
        store(to, index);
      });
    });
    return f.finish("scan");
  }

  Status import_tflite(const TfliteOp& from, graph::Op& op, Diagnostics& diags) const override {
    auto attrs = std::make_shared<ArgMaxAttrs>();
    op.attributes = attrs;
    OpView view{from.graph(), op};
    int64_t value = 0;
    size_t axis = 0;
    if (!check_counts(view, 2, 2, 1, diags) || !constant_int(view, 1, "axis", value, diags) ||
        !normalize_axis(view, value, view.operand(0).shape.size(), axis, diags))
      return kFailure;
    attrs->axis = static_cast<int32_t>(axis);
    const auto* options = from.options<tflite_schema::ArgMaxOptions>();
    auto wanted = view.result().dtype == DType::kI64 ? tflite_schema::TensorType_INT64
                                                     : tflite_schema::TensorType_INT32;
    if (options == nullptr || options->output_type() != wanted) {
      bad_attribute(view, diags,
                    fmt::format("the result is {}, but the model's options announce another type",
                                name_of(view.result().dtype)));
      return kFailure;
    }
    op.operands.resize(1);
    return success();
  }
};

}  // namespace

void add_operators_arg_max(OperatorSet& set) { set.add(std::make_unique<ArgMax>()); }

}  // namespace aotc::ops
