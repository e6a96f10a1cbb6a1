// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions of random geometry, lowered for CPUs of several kinds: the interpreter
// gives the reference's bytes, and the published write orders survive a watch over every access.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <random>

#include "../../tools/check_overlap.h"
#include "cores/cpu.h"
#include "ops/depthwise_conv_2d/bands.h"
#include "ops/depthwise_conv_2d/depthwise_conv_2d.h"
#include "ops/operator.h"

namespace aotc::ops {
namespace {

class Trial {
 public:
  explicit Trial(uint32_t seed) : rng_(seed) {
    int64_t channels = std::vector<int64_t>{1, 2, 3, 4, 8}[static_cast<size_t>(pick(0, 4))];
    int64_t multiplier = pick(0, 4) == 0 ? 2 : 1;
    bool tall = pick(0, 5) == 0, large = pick(0, 5) == 0;
    int64_t kh = 3, kw = tall ? 1 : 3;
    if (pick(0, 1) == 0) kh = pick(1, 5), kw = tall ? 1 : pick(1, 5);
    auto attrs = std::make_shared<DepthwiseConv2DAttrs>();
    attrs->stride_h = static_cast<int32_t>(pick(1, 2));
    attrs->stride_w = pick(0, 2) == 0 ? static_cast<int32_t>(pick(1, 3)) : attrs->stride_h;
    if (pick(0, 4) == 0) attrs->dilation_h = attrs->dilation_w = 2;
    attrs->pad_top = pad(kh);
    attrs->pad_bottom = pad(kh);
    if (!tall) attrs->pad_left = pad(kw), attrs->pad_right = pad(kw);
    attrs->activation = pick(0, 1) == 0 ? Activation::kNone : Activation::kRelu;
    int64_t h = large ? pick(40, 70) : pick(1, 14), w = tall ? 1 : large ? pick(30, 50) : pick(1, 12);
    int64_t out_h = window_output(h, kh, attrs->stride_h, attrs->dilation_h, attrs->pad_top, attrs->pad_bottom);
    int64_t out_w = window_output(w, kw, attrs->stride_w, attrs->dilation_w, attrs->pad_left, attrs->pad_right);
    if (out_h < 1 || out_w < 1) return;
    int64_t batch = pick(0, 4) == 0 ? 2 : 1, all = channels * multiplier;
    op_.definition = operators().find("depthwise_conv_2d");
    op_.attributes = attrs;
    add({batch, h, w, channels}, DType::kI8, {{0.05f}, {pick(-128, 127)}, 0});
    add_constant<int8_t>({1, kh, kw, all}, DType::kI8, {{0.02f}, {0}, 0}, 127);
    add_constant<int32_t>({all}, DType::kI32, {{0.001f}, {0}, 0}, 3000);
    bool relu = attrs->activation == Activation::kRelu;
    op_.results = {
        graph_.add_tensor(tensor({batch, out_h, out_w, all}, DType::kI8, {{0.09f}, {relu ? -128 : pick(-20, 20)}, 0}))};
    Diagnostics diags;
    valid_ = op_.definition && operators().find("depthwise_conv_2d")->verify(view(), diags);
  }

  bool valid() const { return valid_; }
  OpView view() const { return {graph_, op_}; }
  std::string name() const {
    const auto& a = op_.attrs<DepthwiseConv2DAttrs>();
    return fmt::format("{} by {} to {}, strides {} {}, pads {} {} {} {}", graph::to_string(view().operand(0).shape),
                       graph::to_string(view().operand(1).shape), graph::to_string(view().result().shape), a.stride_h,
                       a.stride_w, a.pad_top, a.pad_bottom, a.pad_left, a.pad_right);
  }

  std::vector<uint8_t> random_input() {
    std::vector<uint8_t> in(static_cast<size_t>(view().operand(0).bytes()));
    for (uint8_t& b : in) b = static_cast<uint8_t>(rng_());
    return in;
  }

  std::vector<uint8_t> reference(const std::vector<uint8_t>& in) const {
    std::vector<uint8_t> out(static_cast<size_t>(view().result().bytes()));
    EvalData data;
    data.operands = {in, view().constant(1)->bytes, view().constant(2)->bytes};
    data.results = {out};
    operators().find("depthwise_conv_2d")->evaluate(view(), data);
    return out;
  }

  std::vector<uint8_t> interpreted(const Lowered& lowered, std::vector<uint8_t> in) const {
    std::vector<std::vector<uint8_t>> bytes;
    std::vector<tir::Memory> memory;
    size_t result = 0;
    for (size_t i = 0; i < lowered.args.size(); ++i) {
      const Arg& arg = lowered.args[i];
      const tir::Buffer& b = *lowered.function->params[i];
      bytes.emplace_back(static_cast<size_t>(b.elements * size_of(b.dtype)));
      if (arg.kind == ArgKind::kOperand) bytes.back() = in;
      if (arg.kind == ArgKind::kConstant) bytes.back() = lowered.constants[static_cast<size_t>(arg.index)].bytes;
      if (arg.kind == ArgKind::kResult) result = i;
    }
    for (auto& b : bytes) memory.push_back({b.data(), static_cast<int64_t>(b.size())});
    Diagnostics diags;
    EXPECT_TRUE(tir::verify(*lowered.function, diags)) << diags.str();
    EXPECT_TRUE(tir::interpret(*lowered.function, memory, diags)) << diags.str();
    return bytes[result];
  }

 private:
  int64_t pick(int64_t least, int64_t most) { return std::uniform_int_distribution<int64_t>(least, most)(rng_); }
  int32_t pad(int64_t kernel) { return static_cast<int32_t>(pick(0, kernel - 1)); }

  static graph::Tensor tensor(graph::Shape shape, DType dtype, graph::Quantization q) {
    graph::Tensor t;
    t.type = {dtype, std::move(shape), std::move(q)};
    return t;
  }
  void add(graph::Shape shape, DType dtype, graph::Quantization q) {
    op_.operands.push_back(graph_.add_tensor(tensor(std::move(shape), dtype, std::move(q))));
  }
  template <typename T>
  void add_constant(graph::Shape shape, DType dtype, graph::Quantization q, int64_t most) {
    graph::Tensor t = tensor(std::move(shape), dtype, std::move(q));
    std::vector<uint8_t> bytes;
    for (int64_t i = 0; i < t.type.elements(); ++i) {
      T value = static_cast<T>(pick(-most, most));
      const auto* p = reinterpret_cast<const uint8_t*>(&value);
      bytes.insert(bytes.end(), p, p + sizeof value);
    }
    t.constant = graph::own_bytes(std::move(bytes));
    op_.operands.push_back(graph_.add_tensor(t));
  }

  std::mt19937 rng_;
  graph::Graph graph_;
  graph::Op op_;
  bool valid_ = false;
};

std::vector<TargetInfo> targets() {
  std::vector<TargetInfo> out(5);
  out[0].registers = 8;
  out[1].registers = 27;  // weights fit: columns
  out[2].registers = 13;
  out[2].unaligned_words = true;  // several channels at a time
  out[3] = out[2];
  cores::extend(out[3], "arm", [](std::string_view feature) { return feature == "dsp"; });
  out[4] = out[3];
  out[4].level = Level::kSize;
  out[4].prefer_ram = true;
  return out;
}

TEST(DepthwiseRandom, LoweringsGiveTheReferenceAndSafeOrders) {
  std::map<std::string, int> algorithms;
  int banded = 0, in_place = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    Trial trial(seed);
    if (!trial.valid()) continue;
    std::vector<uint8_t> in = trial.random_input();
    std::vector<uint8_t> want = trial.reference(in);
    for (const TargetInfo& target : targets()) {
      Lowered lowered = lower(trial.view(), target);
      ++algorithms[lowered.schedule.algorithm];
      ASSERT_EQ(trial.interpreted(lowered, in), want)
          << "seed " << seed << ": " << trial.name() << ", " << lowered.schedule.text();
      ASSERT_EQ(tests::check_overlap(lowered), "")
          << "seed " << seed << ": " << trial.name() << ", " << lowered.schedule.text();
      for (const WriteOrder& order : lowered.write_orders) {
        banded += order.steps.size() > 2;
        in_place += order.in_place;
      }
    }
  }
  for (const char* algorithm : {"neighbours", "columns", "pairs"}) EXPECT_GT(algorithms[algorithm], 20) << algorithm;
  EXPECT_GT(banded, 20);
  EXPECT_GT(in_place, 100);
}

// The check above can fail: orders that promise more than is true are found out.
TEST(DepthwiseRandom, OrdersThatPromiseTooMuchAreFoundOut) {
  int refused = 0, orders = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    Trial trial(seed);
    if (!trial.valid()) continue;
    Lowered lowered = lower_depthwise_conv_2d(trial.view(), {});
    if (lowered.write_orders.size() != 1 || lowered.write_orders[0].in_place) continue;
    if (lowered.schedule.algorithm != "neighbours") continue;
    // Not in place: halo rows are still to be read, or channels do not match.
    ++orders;
    lowered.write_orders[0].in_place = true;
    refused += !tests::check_overlap(lowered).empty();
  }
  EXPECT_GT(orders, 10);
  EXPECT_GT(refused, orders / 2);
}

}  // namespace
}  // namespace aotc::ops
