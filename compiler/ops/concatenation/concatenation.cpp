// SPDX-License-Identifier: Apache-2.0
// concatenation: the operands one after the other along an axis. All have the result's
// quantisation, as LiteRT demands, but for those of uint8, which it requantises in float32.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numeric>

#include "ops/common/checks.h"
#include "ops/common/movement.h"
#include "ops/common/pieces.h"
#include "ops/concatenation/attributes.h"
#include "ops/signature.h"

namespace aotc::ops {

namespace {

bool has_other_quantization(const OpView& op, size_t operand) {
  return op.operand(operand).scale() != op.result().scale() ||
         op.operand(operand).zero_point() != op.result().zero_point();
}

}  // namespace

bool needs_requantization(const OpView& op) {
  for (size_t i = 0; i < op.operand_count(); ++i)
    if (op.has_operand(i) && has_other_quantization(op, i)) return true;
  return false;
}

namespace {

Parts parts_of(const OpView& op) {
  auto axis = static_cast<size_t>(op.attrs<ConcatenationAttrs>().axis);
  Parts parts;
  for (size_t i = 0; i < op.operand_count(); ++i) {
    AxisView v = view_at(op.operand(i).shape, axis);
    parts.outer = v.outer;
    parts.row_elements.push_back(v.axis * v.inner);
  }
  return parts;
}

// float32 arithmetic on the values of uint8, before the result's zero point is added.
struct Rescaling {
  float scale, bias;
  Rescaling(const OpView& op, size_t operand)
      : scale(op.operand(operand).scale() * (1.0f / op.result().scale())),
        bias(static_cast<float>(-(op.operand(operand).zero_point() + 128)) * scale) {}
  float of(int value) const { return std::round(static_cast<float>(value + 128) * scale + bias); }
  // The reference converts to int32.
  bool is_defined() const { return std::abs(of(-128)) < 1e9f && std::abs(of(127)) < 1e9f; }
};

// The result's value of each stored byte of an operand.
std::array<int8_t, 256> requantized(const OpView& op, size_t operand) {
  const Rescaling to(op, operand);
  std::array<int8_t, 256> out{};
  for (int byte = 0; byte < 256; ++byte) {
    const auto whole = static_cast<int64_t>(to.of(static_cast<int8_t>(byte)));
    out[static_cast<size_t>(byte)] =
        static_cast<int8_t>(std::clamp<int64_t>(whole + op.result().zero_point(), -128, 127));
  }
  return out;
}

bool check_requantization(const OpView& op, size_t operand, Diagnostics& diags) {
  if (Rescaling(op, operand).is_defined()) return true;
  diags
      .error(
          op.where(), "op-quantization",
          fmt::format("operand {} ('{}') has scale {}, the result {}: values leave int32, of which the reference says "
                      "nothing",
                      operand, escape_for_display(op.operand_tensor(operand).name), op.operand(operand).scale(),
                      op.result().scale()))
      .help("give them scales that are nearer to each other");
  return false;
}

Lowered lower_requantizing(const OpView& op, const Parts& parts) {
  LoweringBuilder f(op, "concatenation");
  std::vector<tir::BufferPtr> from, tables(op.operand_count());
  for (size_t i = 0; i < op.operand_count(); ++i) from.push_back(f.operand(i));
  for (size_t i = 0; i < op.operand_count(); ++i) {
    if (!has_other_quantization(op, i)) continue;
    const std::array<int8_t, 256> values = requantized(op, i);
    tables[i] = f.constant(fmt::format("table{}", i), DType::kI8, std::vector<int8_t>(values.begin(), values.end()));
  }
  tir::BufferPtr whole = f.result();
  f.loop("row", 0, parts.outer, [&](tir::Ex row) {
    tir::Ex at = f.let("to", row * parts.row());
    int64_t before = 0;
    for (size_t i = 0; i < from.size(); ++i) {
      const int64_t n = parts.row_elements[i];
      if (!tables[i]) {
        emit_run(f, whole, at + before, from[i], row * n, n);
      } else {
        f.loop("i", 0, n, [&](const tir::Ex& k) {
          tir::Ex byte = cast(DType::kI32, cast_wrapping(DType::kU8, load(from[i], row * n + k)));
          f.store(whole, at + before + k, load(tables[i], byte));
        });
      }
      before += n;
    }
  });
  return f.finish("copy, tables of 256");
}

class Concatenation final : public SpecifiedOperator, public JoinsPieces, public Fusable, public Transposable {
 public:
  Concatenation()
      : SpecifiedOperator({.name = "concatenation",
                           .summary = "joins tensors along an axis",
                           .operands = {{.name = "x",
                                         .types = {{DType::kI8, "operands and result have one scale and zero point"},
                                                   DType::kF32,
                                                   DType::kI16,
                                                   DType::kI32,
                                                   DType::kI64,
                                                   {DType::kU8, "requantises"},
                                                   DType::kBool}}},
                           .results = {{.name = "y"}},
                           .most_operands = kMostJoined,
                           .shapes = Shapes::kOwn,
                           .attributes = make_attributes<ConcatenationAttrs>}) {}

  Uint8 uint8_form(const OpView& op) const override {
    return op.op.results.size() == 1 && needs_requantization(op) ? Uint8::kShifted : Uint8::kEither;
  }

  void evaluate(const OpView& op, const EvalData& data) const override {
    if (!op.attrs<ConcatenationAttrs>().requantize)
      return join_parts(parts_of(op), data.operands, data.results[0], size_of(op.result().dtype));
    std::vector<std::vector<uint8_t>> copies;
    for (size_t i = 0; i < op.operand_count(); ++i) {
      copies.emplace_back(data.operands[i].begin(), data.operands[i].end());
      if (!has_other_quantization(op, i)) continue;
      const std::array<int8_t, 256> values = requantized(op, i);
      for (uint8_t& byte : copies.back()) byte = static_cast<uint8_t>(values[byte]);
    }
    join_parts(parts_of(op), {copies.begin(), copies.end()}, data.results[0], 1);
  }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    if (op.attrs<ConcatenationAttrs>().requantize) return lower_requantizing(op, parts_of(op));
    return lower_join(op, parts_of(op));
  }

  std::optional<AxisFlow> axis_flow(const OpView& op) const override {
    return same_axes(op.operand_count(), 1, op.result().shape.size());
  }
  SharedAttributes attributes_for_axes(const OpView& op, const Order& axes) const override {
    auto attributes = std::make_shared<ConcatenationAttrs>(op.attrs<ConcatenationAttrs>());
    attributes->axis = inverse_order(axes)[static_cast<size_t>(attributes->axis)];
    return attributes;
  }

  bool is_identity(const OpView& op) const override {
    return op.operand_count() == 1 && !op.attrs<ConcatenationAttrs>().requantize;
  }

  std::optional<std::vector<int64_t>> joined(const OpView& op) const override {
    if (op.attrs<ConcatenationAttrs>().requantize) return std::nullopt;
    return pieces_of(parts_of(op));
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    size_t count = op.operand_count();
    graph::Shape shape = op.operand(0).shape;
    int32_t value = op.attrs<ConcatenationAttrs>().axis;
    size_t axis = 0;
    if (value < 0) {
      bad_attribute(op, diags, fmt::format("axis {} is negative", value));
      return kFailure;
    }
    if (!normalize_axis(op, value, shape.size(), axis, diags)) return kFailure;
    for (size_t i = 1; i < count; ++i) {
      graph::Shape other = op.operand(i).shape;
      bool same_rank = other.size() == shape.size();
      int64_t length = same_rank ? other[axis] : 0;
      if (same_rank) other[axis] = shape[axis];
      if (other != shape) {
        bad_shape(op, diags,
                  fmt::format("operand {} of shape {} does not fit operand 0 of shape {} but along "
                              "axis {}",
                              i, graph::to_string(op.operand(i).shape), graph::to_string(op.operand(0).shape), axis));
        return kFailure;
      }
      shape[axis] += length;
    }
    return std::vector<graph::Shape>{shape};
  }

  bool check(const OpView& op, Diagnostics& diags) const override {
    if (!op.attrs<ConcatenationAttrs>().requantize) {
      std::vector<size_t> moved(op.operand_count());
      std::iota(moved.begin(), moved.end(), size_t{0});
      return check_moves(op, moved, diags);
    }
    bool good = check_result_type(op, 0, DType::kI8, diags) && check_per_tensor(op, op.graph[op.op.results[0]], diags);
    for (size_t i = 0; good && i < op.operand_count(); ++i)
      good = check_type(op, i, {DType::kI8}, diags) && check_per_tensor(op, op.operand_tensor(i), diags) &&
             check_requantization(op, i, diags);
    return good;
  }
};

}  // namespace

void add_operators_concatenation(OperatorSet& set) { set.add(std::make_unique<Concatenation>()); }

}  // namespace aotc::ops
