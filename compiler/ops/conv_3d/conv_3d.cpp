// SPDX-License-Identifier: Apache-2.0
#include "ops/conv_3d/conv_3d.h"

#include <algorithm>
#include <array>
#include <functional>

#include <fmt/format.h>

#include "ops/common/checks.h"
#include "ops/common/conv.h"
#include "ops/common/lowered_evaluation.h"
#include "ops/common/window.h"
#include "ops/signature.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

using Axes = std::array<WindowAxis, 3>;
constexpr std::array kTaps{"kd", "ky", "kx"};
constexpr std::array kOutputs{"od", "oy", "ox"};

// Calls `body` with the place among taps and inputs of every tap that meets an input, axis by axis.
using TapBody = std::function<void(const Ex& input, const Ex& tap)>;

class Convolution3D : public SpecifiedOperator {
 public:
  Convolution3D(std::string_view name, std::string_view summary, std::vector<TypeEntry> types)
      : SpecifiedOperator({.name = name,
                           .summary = summary,
                           .operands = {{.name = "x", .types = std::move(types), .ranks = {5, 5}},
                                        {.name = "weights", .ranks = {5, 5}},
                                        {.name = "bias", .types = {DType::kF32}, .optional = true}},
                           .results = {{.name = "y", .types = {DType::kF32, DType::kI32}}},
                           .shapes = Shapes::kOwn,
                           .attributes = make_attributes<Conv3DAttrs>}) {}

  void evaluate(const OpView& op, const EvalData& data) const override { evaluate_lowering(op, data); }

  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, std::string(name()));
    BufferPtr in = f.operand(0), weights = f.operand(1), bias = op.has_operand(2) ? f.operand(2) : BufferPtr();
    BufferPtr out = f.result();
    const graph::Shape &x = op.operand(0).shape, &w = op.operand(1).shape, &y = op.result().shape;
    const bool is_float = in->dtype == DType::kF32;
    const ClampF32 range = float_clamp(op.attrs<Conv3DAttrs>().activation);
    const int64_t groups = op.attrs<Conv3DAttrs>().groups, inputs = x[4] / groups, outputs = y[4] / groups;
    // Elements between weights of neighbouring channels of input and result, and of neighbouring groups.
    const bool plain = channels_axis() == 3;
    const int64_t per_input = plain ? w[4] : 1, per_output = plain ? 1 : w[4], per_group = plain ? outputs : inputs;
    auto channel = [&](const Ex& g, const Ex& c) { return groups == 1 ? c : g * outputs + c; };
    auto product = [&](const Ex& acc, const Ex& a, const Ex& b) {
      if (is_float) return acc + a * b;
      auto centred = [&](size_t i, const Ex& v) { return v - (gives_sums(op) ? op.operand(i).zero_point() : 0); };
      return add_wrapping(acc, mul_wrapping(centred(0, a), centred(1, b)));
    };
    auto output = [&](const Ex& n, const std::array<Ex, 3>& at, const Ex& g, const Ex& c) {
      Ex acc = f.var("acc", is_float ? tir::f32(0.0f) : Ex(0));
      taps(f, op, 0, at[0], [&](const Ex& d, const Ex& kd) {
        taps(f, op, 1, at[1], [&](const Ex& h, const Ex& kh) {
          taps(f, op, 2, at[2], [&](const Ex& v, const Ex& kv) {
            Ex first = (((n * x[1] + d) * x[2] + h) * x[3] + v) * x[4];
            Ex from = f.let("from", groups == 1 ? first : first + g * inputs);
            Ex taps_weight = ((kd * w[1] + kh) * w[2] + kv) * (w[3] * w[4]) + c * per_output;
            Ex weight = f.let("weight", groups == 1 ? taps_weight : taps_weight + g * per_group);
            f.loop("k", 0, inputs, [&](Ex k) {
              f.assign(acc, product(acc, load(in, from + k), load(weights, weight + k * per_input)));
            });
          });
        });
      });
      if (!is_float) return acc;
      return emit_clamp(bias ? acc + load(bias, channel(g, c)) : adds_zero() ? acc + tir::f32(0.0f) : acc, range);
    };
    f.loop("n", 0, y[0], [&](Ex n) {
      f.loop(kOutputs[0], 0, y[1], [&](Ex d) {
        f.loop(kOutputs[1], 0, y[2], [&](Ex h) {
          f.loop(kOutputs[2], 0, y[3], [&](Ex v) {
            Ex to = f.let("to", (((n * y[1] + d) * y[2] + h) * y[3] + v) * y[4]);
            auto group = [&](const Ex& g) {
              f.loop("c", 0, outputs, [&](Ex c) { f.store(out, to + channel(g, c), output(n, {d, h, v}, g, c)); });
            };
            if (groups == 1) group(Ex(0));
            else f.loop("g", 0, groups, group);
          });
        });
      });
    });
    return f.finish("taps");
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics& diags) const override {
    const graph::Shape &in = op.operand(0).shape, &w = op.operand(1).shape;
    const auto& a = op.attrs<Conv3DAttrs>();
    auto possible = [](int64_t v) { return v >= 1 && v <= kLargest; };
    bool good =
        a.strides.size() == 3 && a.dilations.size() == 3 && a.pads_before.size() == 3 && a.pads_after.size() == 3;
    for (size_t i = 0; good && i < 3; ++i)
      good = possible(a.strides[i]) && possible(a.dilations[i]) && a.pads_before[i] >= 0 &&
             a.pads_before[i] <= kLargest && a.pads_after[i] >= 0 && a.pads_after[i] <= kLargest;
    if (!good) {
      bad_attribute(op, diags, "strides, dilations and pads of a volume are three positive numbers each");
      return kFailure;
    }
    const int64_t groups = a.groups;
    const bool plain = channels_axis() == 3;
    good = std::all_of(in.begin(), in.end(), possible) && std::all_of(w.begin(), w.end(), possible) && groups >= 1 &&
           in[4] % groups == 0 && in[4] == w[channels_axis()] * (plain ? groups : 1) &&
           (plain ? w[4] % groups == 0 : possible(w[3] * groups));
    if (!good) {
      bad_shape(op, diags,
                fmt::format("weights {} do not fit an input of {}", graph::to_string(w), graph::to_string(in)));
      return kFailure;
    }
    graph::Shape out = {in[0], 0, 0, 0, plain ? w[4] : w[3] * groups};
    if (!place(op, out, diags)) return kFailure;
    return std::vector<graph::Shape>{out};
  }

  bool check(const OpView& op, Diagnostics& diags) const override {
    const DType type = op.operand(0).dtype;
    const bool sums = type != DType::kF32;
    if (!check_result_type(op, 0, sums ? DType::kI32 : type, diags)) return false;
    const Activation activation = op.attrs<Conv3DAttrs>().activation;
    if (sums && (op.has_operand(2) || (activation != Activation::kNone && activation != Activation::kUnbounded)))
      return bad_attribute(op, diags, "sums of integers have no bias and no activation");
    if (type != DType::kI8) {
      if (!check_type(op, 1, {type}, diags)) return false;
    } else if (!check_type(op, 1, {DType::kI8, DType::kU8}, diags) ||
               !check_per_tensor(op, op.operand_tensor(0), diags) ||
               !check_per_tensor(op, op.operand_tensor(1), diags)) {
      return false;
    }
    if (op.has_operand(2) && op.operand(2).elements() != op.result().shape[4])
      return bad_shape(
          op, diags,
          fmt::format("bias has {} elements for {} output channels", op.operand(2).elements(), op.result().shape[4]));
    return true;
  }

  static constexpr int64_t kLargest = int64_t{1} << 24;

  // The dimension of the weights that is the input's channels: 3 or 4.
  virtual size_t channels_axis() const = 0;
  // Lengths 1 to 3 of the result.
  virtual bool place(const OpView& op, graph::Shape& out, Diagnostics& diags) const = 0;
  // Inputs and taps that meet in output `o` of an axis, by ascending inputs.
  virtual void taps(LoweringBuilder& f, const OpView& op, size_t axis, const Ex& o, const TapBody& body) const = 0;
  // Without a bias: is a 0 added?
  virtual bool adds_zero() const = 0;
};

class Conv3D final : public Convolution3D {
 public:
  using Convolution3D::Convolution3D;
  int64_t macs(const OpView& op) const override {
    return op.result().elements() * op.operand(1).elements() / op.operand(1).shape[4];
  }

 protected:
  size_t channels_axis() const override { return 3; }
  bool adds_zero() const override { return true; }

  bool place(const OpView& op, graph::Shape& out, Diagnostics& diags) const override {
    const graph::Shape &in = op.operand(0).shape, &w = op.operand(1).shape;
    const auto& a = op.attrs<Conv3DAttrs>();
    for (size_t i = 0; i < 3; ++i) {
      out[i + 1] = window_output(in[i + 1], w[i], a.strides[i], a.dilations[i], a.pads_before[i], a.pads_after[i]);
      if (out[i + 1] < 1)
        return bad_shape(
            op, diags,
            fmt::format("a kernel {} does not fit an input of {}", graph::to_string(w), graph::to_string(in)));
    }
    return true;
  }

  void taps(LoweringBuilder& f, const OpView& op, size_t axis, const Ex& o, const TapBody& body) const override {
    const auto& a = op.attrs<Conv3DAttrs>();
    const int64_t length = op.operand(0).shape[axis + 1];
    f.loop(kTaps[axis], 0, op.operand(1).shape[axis], [&](Ex tap) {
      Ex at = f.let("at", o * a.strides[axis] + tap * a.dilations[axis] - a.pads_before[axis]);
      if (a.pads_before[axis] == 0 && a.pads_after[axis] == 0) return body(at, tap);
      f.if_(at >= 0 && at < length, [&] { body(at, tap); });
    });
  }
};

class Conv3DTranspose final : public Convolution3D {
 public:
  Conv3DTranspose() : Convolution3D("conv_3d_transpose", "transposed 3-D convolution, NDHWC", {DType::kF32}) {}
  int64_t macs(const OpView& op) const override {
    return op.operand(0).elements() * op.operand(1).elements() / op.operand(1).shape[4];
  }

 protected:
  size_t channels_axis() const override { return 4; }
  bool adds_zero() const override { return false; }

  bool place(const OpView& op, graph::Shape& out, Diagnostics& diags) const override {
    const std::vector<int64_t>& shape = op.attrs<Conv3DAttrs>().shape;
    bool good = shape.size() == 3;
    for (size_t i = 0; good && i < 3; ++i) {
      good = shape[i] >= 1 && shape[i] <= kLargest;
      out[i + 1] = shape[i];
    }
    return good || bad_attribute(op, diags, "the result of conv_3d_transpose has three lengths");
  }

  void taps(LoweringBuilder& f, const OpView& op, size_t axis, const Ex& o, const TapBody& body) const override {
    const auto& a = op.attrs<Conv3DAttrs>();
    const int64_t kernel = op.operand(1).shape[axis], stride = a.strides[axis];
    const int64_t length = op.operand(0).shape[axis + 1];
    // Later taps meet earlier inputs.
    f.loop(kTaps[axis], 0, kernel, [&](Ex i) {
      Ex tap = f.let("tap", kernel - 1 - i);
      Ex distance = f.let("distance", o + a.pads_before[axis] - tap * a.dilations[axis]);
      if (stride == 1) {
        f.if_(distance >= 0 && distance < length, [&] { body(distance, tap); });
        return;
      }
      f.if_(distance >= 0 && distance < length * stride && distance % stride == 0,
            [&] { body(f.let("input", distance / stride), tap); });
    });
  }
};

}  // namespace

void add_operators_conv_3d(OperatorSet& set) {
  using Types = std::vector<TypeEntry>;
  set.add(std::make_unique<Conv3D>("conv_3d", "3-D convolution, NDHWC", Types{DType::kF32}));
  set.add(std::make_unique<Conv3D>("conv_3d_sums", "3-D convolution of integers to int32 sums, NDHWC",
                                   Types{{DType::kI8, "less zero points"}, {DType::kI32, "wraps around"}}));
  set.add(std::make_unique<Conv3DTranspose>());
}

}  // namespace aotc::ops
