// SPDX-License-Identifier: Apache-2.0
// Convolutions of one output channel as convolutions of two: the reference evaluates both to the same bytes.
#include <gtest/gtest.h>

#include <random>

#include "cores/cpu.h"
#include "ops/conv_2d/conv_2d.h"
#include "ops/conv_2d/neighbours.h"
#include "ops/operator.h"

namespace aotc::ops {
namespace {

class OneChannel {
 public:
  explicit OneChannel(uint32_t seed) : rng_(seed) {
    const int64_t kh = pick(1, 4), kw = pick(1, 5), channels = pick(1, 5);
    auto attrs = std::make_shared<Conv2DAttrs>();
    attrs->stride_h = static_cast<int32_t>(pick(1, 2)), attrs->stride_w = static_cast<int32_t>(pick(1, 3));
    if (pick(0, 4) == 0) attrs->dilation_h = 2;
    attrs->pad_top = pad(kh), attrs->pad_bottom = pad(kh), attrs->pad_left = pad(kw), attrs->pad_right = pad(kw);
    const int64_t h = pick(1, 9), w = pick(1, 13), batch = pick(0, 3) == 0 ? 2 : 1;
    const int64_t out_h = window_output(h, kh, attrs->stride_h, attrs->dilation_h, attrs->pad_top, attrs->pad_bottom);
    const int64_t out_w = window_output(w, kw, attrs->stride_w, attrs->dilation_w, attrs->pad_left, attrs->pad_right);
    if (out_h < 1 || out_w < 1) return;
    op_.definition = operators().find("conv_2d");
    op_.attributes = attrs;
    add({DType::kI8, {batch, h, w, channels}, {{0.05f}, {pick(-128, 127)}, 0}}, {});
    add({DType::kI8, {1, kh, kw, channels}, {{0.02f}, {0}, 0}}, bytes(kh * kw * channels));
    if (pick(0, 3) > 0) add({DType::kI32, {1}, {{0.001f}, {0}, 0}}, {static_cast<uint8_t>(pick(0, 255)), 1, 0, 0});
    op_.results = {graph_.add_tensor({"", {DType::kI8, {batch, out_h, out_w, 1}, {{0.09f}, {-7}, 0}}, {}, 0})};
    Diagnostics diags;
    valid_ = op_.definition->name() == "conv_2d" && operators().find("conv_2d")->verify(view(), diags);
  }

  bool valid() const { return valid_; }
  OpView view() const { return {graph_, op_}; }
  std::vector<uint8_t> bytes(int64_t count) {
    std::vector<uint8_t> out(static_cast<size_t>(count));
    for (uint8_t& b : out) b = static_cast<uint8_t>(rng_());
    return out;
  }

 private:
  int64_t pick(int64_t least, int64_t most) { return std::uniform_int_distribution<int64_t>(least, most)(rng_); }
  int32_t pad(int64_t kernel) { return static_cast<int32_t>(pick(0, kernel - 1)); }
  void add(graph::TensorType type, std::vector<uint8_t> constant) {
    graph::Tensor tensor{"", std::move(type), {}, 0};
    if (!constant.empty()) tensor.constant = graph::own_bytes(std::move(constant));
    op_.operands.push_back(graph_.add_tensor(std::move(tensor)));
  }

  std::mt19937 rng_;
  graph::Graph graph_;
  graph::Op op_;
  bool valid_ = false;
};

std::vector<uint8_t> reference(const OpView& op, const std::vector<uint8_t>& in) {
  std::vector<uint8_t> out(static_cast<size_t>(op.result().bytes()));
  EvalData data;
  data.operands = {in, op.constant(1)->bytes};
  data.operands.push_back(op.has_operand(2) ? op.constant(2)->bytes : std::span<const uint8_t>{});
  data.results = {out};
  operators().find("conv_2d")->evaluate(op, data);
  return out;
}

TEST(ConvNeighbours, ReferenceGivesTheSameBytes) {
  int even = 0, odd = 0, pointwise = 0;
  for (uint32_t seed = 0; seed < 600; ++seed) {
    OneChannel trial(seed);
    if (!trial.valid()) continue;
    const OpView op = trial.view();
    const auto neighbours = ConvOfNeighbours::of(op);
    EXPECT_EQ(neighbours.has_value(), op.result().shape[2] % 2 == 0) << seed;
    if (!neighbours) {
      ++odd;
      continue;
    }
    const OpView two = neighbours->view();
    Diagnostics diags;
    EXPECT_TRUE(operators().find("conv_2d")->verify(two, diags)) << seed << ": " << diags.str();
    EXPECT_EQ(two.result().shape[3], 2);
    const std::vector<uint8_t> in = trial.bytes(op.operand(0).bytes());
    EXPECT_EQ(reference(op, in), reference(two, in)) << seed;
    ++even;
    pointwise += two.operand(0).shape != op.operand(0).shape;
  }
  EXPECT_GT(even, 150);
  EXPECT_GT(odd, 150);
  EXPECT_GT(pointwise, 0);
}

TEST(ConvNeighbours, ProductsOfPairsTakeOneChannel) {
  TargetInfo target;
  target.registers = 13;
  target.unaligned_words = true;
  cores::extend(target, "arm", [](std::string_view feature) { return feature == "dsp"; });
  int pairs = 0, lowered = 0;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    OneChannel trial(seed);
    if (!trial.valid() || trial.view().result().shape[2] % 2 != 0) continue;
    const Schedule schedule = lower(trial.view(), target).schedule;
    ++lowered;
    pairs += schedule.algorithm == "pairs" || schedule.algorithm == "words";
  }
  EXPECT_GT(pairs, lowered / 2);
}

}  // namespace
}  // namespace aotc::ops
