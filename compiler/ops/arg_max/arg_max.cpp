// SPDX-License-Identifier: Apache-2.0
// arg_max and arg_min: where along an axis the largest or smallest element is; the first of equal
// ones, or the last. NaN loses against any number, as in LiteRT, or stays where it is the first and is
// passed over elsewhere, as in onnxruntime. The one thing to know: both are rows of one table.
#include <cmath>

#include <fmt/format.h>

#include "ops/arg_max/attributes.h"
#include "ops/common/checks.h"
#include "ops/common/movement.h"
#include "ops/signature.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

struct Rule {
  std::string_view name, summary;
  bool largest;
};

constexpr Rule kRules[] = {
    {"arg_max", "index of the largest element along an axis, as int32 or int64", true},
    {"arg_min", "index of the smallest element along an axis, as int32 or int64", false},
};

AxisView axis_view(const OpView& op) {
  return view_at(op.operand(0).shape, static_cast<size_t>(op.attrs<ArgAttrs>().axis));
}

template <typename T>
bool beats(T v, T best, bool largest, const ArgAttrs& attrs) {
  if constexpr (std::is_floating_point_v<T>)
    if (!attrs.nan_stays && (std::isnan(v) || std::isnan(best))) return !std::isnan(v);
  if (attrs.last && v == best) return true;
  return largest ? v > best : v < best;
}

template <typename T>
void evaluate_as(const AxisView& v, const EvalData& data, bool largest, const OpView& op) {
  const bool wide = op.result().dtype == DType::kI64;
  auto in = data.in<T>(0);
  for (int64_t o = 0; o < v.outer; ++o)
    for (int64_t i = 0; i < v.inner; ++i) {
      auto at = [&](int64_t k) { return in[static_cast<size_t>((o * v.axis + k) * v.inner + i)]; };
      int64_t best = 0;
      for (int64_t k = 1; k < v.axis; ++k)
        if (beats<T>(at(k), at(best), largest, op.attrs<ArgAttrs>())) best = k;
      auto to = static_cast<size_t>(o * v.inner + i);
      if (wide) {
        data.out<int64_t>()[to] = best;
      } else {
        data.out<int32_t>()[to] = static_cast<int32_t>(best);
      }
    }
}

class ArgExtreme final : public SpecifiedOperator, public Transposable {
 public:
  explicit ArgExtreme(const Rule& rule)
      : SpecifiedOperator(
            {.name = rule.name,
             .summary = rule.summary,
             .operands = {{.name = "x", .types = {DType::kI8, DType::kF32, DType::kU8, DType::kI32, DType::kBool}}},
             .results = {{.name = "index", .types = {DType::kI32, DType::kI64}}},
             .shapes = Shapes::kOwn,
             .uint8 = Uint8::kEither,
             .attributes = make_attributes<ArgAttrs>,
             .ranges = {axis_of<&ArgAttrs::axis>("axis")}}),
        rule_(rule) {}

  std::optional<AxisFlow> axis_flow(const OpView& op) const override {
    AxisFlow flow = same_axes(1, 1, op.operand(0).shape.size());
    flow.results[0].erase(flow.results[0].begin() + op.attrs<ArgAttrs>().axis);
    return flow;
  }
  SharedAttributes attributes_for_axes(const OpView& op, const Order& axes) const override {
    auto attributes = std::make_shared<ArgAttrs>(op.attrs<ArgAttrs>());
    attributes->axis = inverse_order(axes)[static_cast<size_t>(attributes->axis)];
    return attributes;
  }

  void evaluate(const OpView& op, const EvalData& data) const override {
    AxisView v = axis_view(op);
    switch (op.operand(0).dtype) {
      case DType::kI8: return evaluate_as<int8_t>(v, data, rule_.largest, op);
      case DType::kF32: return evaluate_as<float>(v, data, rule_.largest, op);
      case DType::kI32: return evaluate_as<int32_t>(v, data, rule_.largest, op);
      default: return evaluate_as<uint8_t>(v, data, rule_.largest, op);
    }
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, std::string(rule_.name));
    BufferPtr in = f.operand(0), out = f.result();
    AxisView v = axis_view(op);
    const auto& attrs = op.attrs<ArgAttrs>();
    auto better = [&](const Ex& value, const Ex& best) {
      if (in->dtype != DType::kF32 || attrs.nan_stays) {
        if (attrs.last) return rule_.largest ? value >= best : value <= best;
        return rule_.largest ? value > best : value < best;
      }
      // Also if `best` is NaN.
      Ex worse = rule_.largest ? value < best : value > best;
      if (!attrs.last) worse = rule_.largest ? value <= best : value >= best;
      return (worse == 0) && (value == value);
    };
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
          f.if_(better(value, best), [&] {
            f.assign(best, value);
            f.assign(index, k);
          });
        });
        store(to, index);
      });
    });
    return f.finish("scan");
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics&) const override {
    graph::Shape shape = op.operand(0).shape;
    shape.erase(shape.begin() + op.attrs<ArgAttrs>().axis);
    return std::vector<graph::Shape>{shape};
  }
  bool check(const OpView& op, Diagnostics& diags) const override {
    return axis_view(op).axis > 0 || bad_shape(op, diags, fmt::format("{} of no elements", rule_.name));
  }

 private:
  const Rule& rule_;
};

}  // namespace

void add_operators_arg_max(OperatorSet& set) {
  for (const Rule& rule : kRules) set.add(std::make_unique<ArgExtreme>(rule));
}

}  // namespace aotc::ops
