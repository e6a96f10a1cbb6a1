// SPDX-License-Identifier: Apache-2.0
// Fixed-point scaling as it is emitted, run by the interpreter, against the same in exact numbers;
// and the reference that requantisation is held to.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>

#include "ops/common/quantization.h"
#include "ops/common/requantize.h"
#include "ops/common/scaler.h"
#include "ops/operator.h"

namespace aotc::ops {
namespace {

using ::testing::HasSubstr;
__extension__ typedef __int128 Wide;

constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
constexpr int32_t kMax = std::numeric_limits<int32_t>::max();

// floor(x * m / 2^31 + 1/2), then that divided by 2^-shift to the nearest, ties away from zero. A
// left shift comes first, and wraps.
int64_t defined(int32_t x, QuantizedMultiplier m) {
  const auto shifted = static_cast<int32_t>(static_cast<uint32_t>(x) << std::max(m.shift, 0));
  const Wide high = (static_cast<Wide>(shifted) * m.multiplier * 2 + (static_cast<Wide>(1) << 31)) >> 32;
  const int right = std::max(-m.shift, 0);
  const Wide half = right > 0 ? static_cast<Wide>(1) << (right - 1) : 0;
  return static_cast<int64_t>(high < 0 ? -((-high + half) >> right) : (high + half) >> right);
}

// Values around 0, around halves of what is shifted away, and at the ends of `largest`.
std::vector<int32_t> values_up_to(int64_t largest, QuantizedMultiplier m) {
  std::vector<int32_t> out;
  auto add = [&](double v) {
    for (int64_t d = -2; d <= 2; ++d)
      for (double sign : {-1.0, 1.0}) {
        double at = sign * v + static_cast<double>(d);
        if (std::abs(at) <= static_cast<double>(largest) && at <= kMax) out.push_back(static_cast<int32_t>(at));
      }
  };
  const double real = std::ldexp(m.multiplier, m.shift - 31);
  for (double target : {0.0, 0.5, 1.0, 1.5, 2.5, 100.5, 32768.5}) add(std::round(target / real));
  for (double v : {1.0, 1000.0, 65536.0, static_cast<double>(largest)}) add(v);
  return out;
}

// A function of one i32 vector, emitted element by element.
std::vector<int32_t> run(const std::vector<int32_t>& input, const std::function<void(LoweringBuilder&)>& prepare,
                         const std::function<tir::Ex(tir::FunctionBuilder&, const tir::Ex&)>& emit) {
  auto count = static_cast<int64_t>(input.size());
  graph::Graph graph;
  graph::Op op;
  op.definition = operators().find("cast");
  for (int i = 0; i < 2; ++i) {
    graph::Tensor tensor;
    tensor.type = {DType::kI32, {count}, {}};
    (i == 0 ? op.operands : op.results).push_back(graph.add_tensor(std::move(tensor)));
  }
  graph.ops.push_back(op);
  const OpView view{graph, graph.ops[0]};
  LoweringBuilder f(view, "scale");
  tir::BufferPtr in = f.operand(0), out = f.result();
  prepare(f);
  f.loop("i", 0, count, [&](tir::Ex i) { f.store(out, i, emit(f, load(in, i))); });
  Lowered lowered = f.finish();
  std::vector<int32_t> from = input, to(input.size());
  std::vector<tir::Memory> memory;
  for (const Arg& arg : lowered.args) {
    if (arg.kind == ArgKind::kConstant) {
      Constant& c = lowered.constants[static_cast<size_t>(arg.index)];
      memory.push_back({c.bytes.data(), static_cast<int64_t>(c.bytes.size())});
    } else {
      auto& values = arg.kind == ArgKind::kOperand ? from : to;
      memory.push_back({reinterpret_cast<uint8_t*>(values.data()), 4 * count});
    }
  }
  Diagnostics diags;
  EXPECT_TRUE(tir::verify(*lowered.function, diags)) << diags.str();
  EXPECT_TRUE(tir::interpret(*lowered.function, memory, diags)) << diags.str();
  return to;
}

TEST(EmitMultiply, IsExactWhateverTheFormChosen) {
  for (int32_t multiplier : {1 << 30, (1 << 30) + 1, 0x5A82799A, kMax})
    for (int shift : {-31, -30, -29, -16, -9, -2, -1, 0, 1, 2, 7})
      for (int64_t largest : {int64_t{1000}, int64_t{1} << 20, int64_t{1} << 29, int64_t{1} << 30, int64_t{1} << 31}) {
        const QuantizedMultiplier m{multiplier, shift};
        const std::vector<int32_t> input = values_up_to(largest, m);
        const std::vector<int32_t> got = run(
            input, [](LoweringBuilder&) {},
            [&](tir::FunctionBuilder& f, const tir::Ex& x) { return emit_multiply(f, x, m, largest); });
        for (size_t i = 0; i < input.size(); ++i)
          ASSERT_EQ(got[i], defined(input[i], m)) << input[i] << " * " << multiplier << ", " << shift;
      }
}

// Half of the divisor is added before the shift only where the sum of every value up to the largest stays in 32 bits.
TEST(EmitMultiply, HasRoomForHalfOfTheDivisor) {
  int at_the_end = 0;
  for (int right : {2, 3, 8, 29, 30}) {
    // A product of `top` leaves none.
    const int64_t half = int64_t{1} << (right - 1), top = (int64_t{1} << 31) - half;
    for (int64_t k = 1; k <= 8; ++k) {
      const int64_t multiplier = top + half * k / 9 + 1;
      if (multiplier > kMax) continue;
      const auto largest = static_cast<int32_t>((top << 31) / multiplier);
      const QuantizedMultiplier m{static_cast<int32_t>(multiplier), -right};
      at_the_end += ((largest * multiplier + (int64_t{1} << 30)) >> 31) == top;
      const std::vector<int32_t> input = {largest, largest - 1, -largest, 1 - largest};
      const std::vector<int32_t> got = run(
          input, [](LoweringBuilder&) {},
          [&](tir::FunctionBuilder& f, const tir::Ex& x) { return emit_multiply(f, x, m, largest); });
      for (size_t i = 0; i < input.size(); ++i)
        EXPECT_EQ(got[i], defined(input[i], m)) << input[i] << " * " << multiplier << ", " << -right;
    }
  }
  EXPECT_GT(at_the_end, 4);
}

// onnxruntime's rule scales by 2^-100 to less than 2^30; the others are refused by name.
TEST(EvenScales, AreThoseThatFloat32RoundsWith) {
  graph::Graph graph;
  graph::Op op;
  op.definition = operators().find("cast");
  graph.ops.push_back(op);
  const OpView view{graph, graph.ops[0]};
  for (auto [scale, good] : {std::pair{0x1p-100, true},
                             {std::nextafter(0x1p-100, 0.0), false},
                             {0.0, false},
                             {0x1p30, false},
                             {std::nextafter(0x1p30, 0.0), true},
                             {0x1p-126, false},
                             {HUGE_VAL, false},
                             {NAN, false}}) {
    Diagnostics diags;
    const std::vector<double> scales = {0.5, scale};
    EXPECT_EQ(check_even_scales(view, scales, diags), good) << scale;
    EXPECT_EQ(diags.error_count() == 0, good) << scale;
    if (good) continue;
    EXPECT_THAT(diags.str(), HasSubstr("op-quantization"));
    EXPECT_THAT(diags.str(), HasSubstr("the scales of cast"));
  }
}

TEST(Scaler, IsExactWithItsShifts) {
  for (int32_t multiplier : {1 << 30, (1 << 30) + 1, 0x5A82799A, kMax})
    for (int shift : {-20, -9, -2, -1, 0, 1, 3})
      for (int left : {0, 7, 15}) {
        if (shift > 0 && left > 0) continue;
        const QuantizedMultiplier m{multiplier, shift};
        const int64_t largest = ((int64_t{1} << 30) - 1) >> (shift > 0 ? shift : left);
        std::vector<int32_t> input = values_up_to(largest, m);
        Parameters parameters;
        Scaler other(parameters, "other", {1 << 30, -3}, 0);
        Scaler scaler(parameters, "it", m, left);
        const std::vector<int32_t> got = run(
            input, [&](LoweringBuilder& f) { parameters.load(f); },
            [&](tir::FunctionBuilder& f, const tir::Ex& x) { return scaler.emit(f, x); });
        for (size_t i = 0; i < input.size(); ++i) {
          const auto shifted = static_cast<int32_t>(static_cast<uint32_t>(input[i]) << left);
          ASSERT_EQ(got[i], defined(shifted, m)) << input[i] << " << " << left << " * " << multiplier << ", " << shift;
        }
      }
}

constexpr int32_t kAccumulators[] = {kMin, kMin + 1, -(1 << 30), -65537, -1000, -129, -128, -3,    -2,      -1,
                                     0,    1,        2,          3,      127,   128,  1000, 65537, 1 << 30, kMax};

TEST(ChannelReference, RoundsAsItsKindSays) {
  for (auto [zero_point, low, high] : {std::tuple{0, -128, 127}, {-128, -128, 127}, {5, 5, 100}, {127, kMin, kMax}})
    for (int32_t acc : kAccumulators) {
      auto clamped = [&, z = zero_point, l = low, h = high](int64_t v) {
        return std::min(std::max(v + z, int64_t{l}), int64_t{h});
      };
      const ClampI32 clamp{low, high};
      for (double scale : {0.7, 1.0 / 3, 0x1p-8, 1e-9, 1.5, 3.0}) {
        ASSERT_EQ(ChannelReference(Rounding::kDouble, scale, zero_point, clamp)(acc),
                  clamped(defined(acc, quantize_multiplier(scale))))
            << acc << " " << scale;
        // Half away from zero, held in int32.
        const double real = static_cast<double>(acc) * scale;
        const double away = real < 0 ? std::ceil(real - 0.5) : std::floor(real + 0.5);
        const double held = std::min(std::max(away, -2147483648.0), 2147483647.0);
        ASSERT_EQ(ChannelReference(Rounding::kSingle, scale, zero_point, clamp)(acc),
                  clamped(static_cast<int64_t>(held)))
            << acc << " " << scale;
      }
      for (int64_t n : {1, 2, 3, 4, 7, 256, 1000}) {
        const int64_t twice = 2 * std::abs(int64_t{acc}), magnitude = (twice + n) / (2 * n);
        // C's rounding of halves when n is odd: there are none.
        ASSERT_EQ(ChannelReference(Rounding::kDivide, 1.0 / static_cast<double>(n), zero_point, clamp)(acc),
                  clamped(acc < 0 ? -magnitude : magnitude))
            << acc << " / " << n;
      }
    }
}

TEST(ConvScales, AreProductsInDouble) {
  graph::TensorType input{DType::kI8, {1}, {{0.1f}, {0}, 0}}, output{DType::kI8, {1}, {{0.3f}, {0}, 0}};
  graph::TensorType weights{DType::kI8, {2}, {{0.7f, 0.9f}, {0, 0}, 0}};
  auto scale = [](float w) { return static_cast<double>(0.1f) * static_cast<double>(w) / static_cast<double>(0.3f); };
  EXPECT_EQ(conv_scales(input, weights, output, 2), (std::vector<double>{scale(0.7f), scale(0.9f)}));
  weights.quantization.scale = {0.9f};
  EXPECT_EQ(conv_scales(input, weights, output, 3), std::vector<double>(3, scale(0.9f)));
  EXPECT_TRUE(conv_scales(input, weights, output, 0).empty());
}

// ------------------------------------------------------------------------------------- slices

std::string refusal(const graph::TensorType& type) {
  graph::Graph graph;
  graph::Tensor tensor;
  tensor.name = "t";
  tensor.type = type;
  graph::Op op;
  op.definition = operators().find("dequantize");
  op.operands = {graph.add_tensor(std::move(tensor))};
  graph.ops.push_back(op);
  Diagnostics diags;
  bool good = check_slices({graph, graph.ops[0]}, graph[graph.ops[0].operands[0]], diags);
  EXPECT_EQ(good, diags.error_count() == 0);
  return diags.str();
}

TEST(Slices, QuantisationThatDoesNotFitIsRefused) {
  const graph::TensorType good{DType::kI8, {2, 3}, {{1.0f, 2.0f, 3.0f}, {-128, 0, 127}, 1}};
  EXPECT_EQ(refusal(good), "");
  auto with = [&](auto edit) {
    graph::TensorType type = good;
    edit(type);
    return refusal(type);
  };
  EXPECT_EQ(with([](auto& t) { t.quantization.zero_point = {}; }), "");
  EXPECT_EQ(with([](auto& t) { t.quantization.zero_point = {5}; }), "");
  EXPECT_THAT(with([](auto& t) { t.quantization.zero_point = {5, 6}; }), HasSubstr("has 3 scales and 2 zero points"));
  for (int axis : {-1, 0, 2, 7})
    EXPECT_THAT(with([&](auto& t) { t.quantization.axis = axis; }),
                HasSubstr("tensor 't' has 3 scales along axis " + std::to_string(axis)));
  for (float scale : {0.0f, -1.0f, INFINITY, NAN})
    EXPECT_THAT(with([&](auto& t) { t.quantization.scale[2] = scale; }), HasSubstr("which is not a positive number"));
  for (int64_t zero : {-129, 128})
    EXPECT_THAT(with([&](auto& t) { t.quantization.zero_point[2] = zero; }),
                HasSubstr("has zero point " + std::to_string(zero) + ", outside i8"));
  // One beyond the last axis, where a number lies that would do.
  EXPECT_THAT(with([](auto& t) {
                t.shape = {2, 4, 3};
                t.shape.pop_back();
                t.quantization.axis = 2;
              }),
              HasSubstr("has 3 scales along axis 2"));
  EXPECT_EQ(with([](auto& t) { t.quantization = {{1.0f}, {127}, 0}; }), "");
  EXPECT_THAT(with([](auto& t) { t.quantization = {{1.0f}, {128}, 0}; }), HasSubstr("[op-quantization]"));
}

TEST(Slices, EveryElementBelongsToItsIndexAlongTheAxis) {
  for (int axis = 0; axis < 3; ++axis) {
    graph::TensorType type{DType::kI8, {2, 3, 4}, {}};
    const auto count = static_cast<size_t>(type.shape[static_cast<size_t>(axis)]);
    for (size_t i = 0; i < count; ++i) {
      type.quantization.scale.push_back(static_cast<float>(i + 1));
      type.quantization.zero_point.push_back(static_cast<int64_t>(i) - 2);
    }
    type.quantization.axis = axis;
    Slices slices(type);
    ASSERT_EQ(slices.count(), count);
    EXPECT_EQ(slices.outer() * slices.inner() * static_cast<int64_t>(count), 24);
    size_t at = 0;
    for (size_t a = 0; a < 2; ++a)
      for (size_t b = 0; b < 3; ++b)
        for (size_t c = 0; c < 4; ++c, ++at) ASSERT_EQ(slices.channel_of(at), axis == 0 ? a : axis == 1 ? b : c) << at;
    for (size_t i = 0; i < count; ++i) {
      EXPECT_EQ(slices.scale(i), static_cast<float>(i + 1));
      EXPECT_EQ(slices.zero_point(i), static_cast<int32_t>(i) - 2);
    }
    type.quantization.zero_point = {9};
    EXPECT_EQ(Slices(type).zero_point(count - 1), 9);
    type.quantization.zero_point = {};
    EXPECT_EQ(Slices(type).zero_point(count - 1), 0);
  }
  graph::TensorType plain{DType::kI8, {2, 3, 4}, {{0.5f}, {3}, 0}};
  EXPECT_EQ(Slices(plain).inner(), 24);
  EXPECT_EQ(Slices(plain).outer(), 1);
  EXPECT_EQ(Slices(plain).count(), 1u);
}

// Every element is visited once, with its slice's numbers; the tables hold nothing else.
TEST(Slices, TablesAndLoopsCoverEveryElement) {
  for (int axis = 0; axis < 3; ++axis) {
    graph::TensorType type{DType::kI8, {2, 3, 4}, {}};
    const auto count = static_cast<size_t>(type.shape[static_cast<size_t>(axis)]);
    for (size_t i = 0; i < count; ++i) {
      type.quantization.scale.push_back(static_cast<float>(i + 1));
      type.quantization.zero_point.push_back(static_cast<int64_t>(i) - 2);
    }
    type.quantization.axis = axis;
    graph::Graph graph;
    graph::Op op;
    op.definition = operators().find("cast");
    for (int i = 0; i < 2; ++i) {
      graph::Tensor tensor;
      tensor.type = {DType::kI32, {24}, {}};
      (i == 0 ? op.operands : op.results).push_back(graph.add_tensor(std::move(tensor)));
    }
    graph.ops.push_back(op);
    const OpView view{graph, graph.ops[0]};
    LoweringBuilder f(view, "slices");
    tir::BufferPtr in = f.operand(0), out = f.result();
    Slices slices(type);
    SliceTables tables(f, slices);
    tables.for_each(f, [&](const tir::Ex& i, const tir::Ex& scale, const tir::Ex& zero) {
      f.store(out, i, load(in, i) + cast(DType::kI32, scale) * 10 + zero);
    });
    Lowered lowered = f.finish();
    ASSERT_EQ(lowered.constants.size(), 2u);
    for (const Constant& c : lowered.constants) EXPECT_EQ(c.bytes.size(), 4 * count);
    std::vector<int32_t> from(24, 1000), to(24, -1);
    Diagnostics diags;
    std::vector<tir::Memory> memory = {{reinterpret_cast<uint8_t*>(from.data()), 96},
                                       {reinterpret_cast<uint8_t*>(to.data()), 96}};
    for (Constant& c : lowered.constants) memory.push_back({c.bytes.data(), static_cast<int64_t>(c.bytes.size())});
    ASSERT_TRUE(tir::interpret(*lowered.function, memory, diags)) << diags.str();
    for (size_t i = 0; i < 24; ++i) {
      const auto slice = static_cast<int32_t>(slices.channel_of(i));
      EXPECT_EQ(to[i], 1000 + (slice + 1) * 10 + slice - 2) << i;
    }
  }
}

}  // namespace
}  // namespace aotc::ops
