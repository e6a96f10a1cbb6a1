// SPDX-License-Identifier: Apache-2.0
// Floats of 16, 8 and 4 bits: every code is the number that its digits say, and every float becomes
// the nearest code. What the codes say is stated a second time by the reader of constants.
#include "ops/float_formats/attributes.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "frontends/onnx/element_types.h"
#include "ops/operator.h"

namespace aotc::ops {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
using frontends::onnx::decode_float;

struct Codes {
  FloatFormat format;
  int64_t count, positive;  // all codes; those before the first with the sign
  uint32_t most, beyond;    // the largest number; what is too large becomes without saturation
};
constexpr Codes kCodes[] = {
    {FloatFormat::kF16, 65536, 32768, 0x7bff, 0x7c00},
    {FloatFormat::kBf16, 65536, 32768, 0x7f7f, 0x7f80},
    {FloatFormat::kE4m3fn, 256, 128, 0x7e, 0x7f},
    {FloatFormat::kE4m3fnuz, 256, 128, 0x7f, 0x80},
    {FloatFormat::kE5m2, 256, 128, 0x7b, 0x7c},
    {FloatFormat::kE5m2fnuz, 256, 128, 0x7f, 0x80},
    {FloatFormat::kE2m1, 16, 8, 0x7, 0x7},
};

// One run of the operator on all elements.
template <typename To, typename From>
std::vector<To> converted(const char* name, const std::vector<From>& from, DType in, DType out, FloatFormat format,
                          bool saturate = false) {
  graph::Graph graph;
  auto add = [&](DType type) {
    graph::Tensor t;
    t.type.dtype = type;
    t.type.shape = {static_cast<int64_t>(from.size())};
    return graph.add_tensor(std::move(t));
  };
  auto attrs = std::make_shared<FloatFormatAttrs>();
  attrs->format = format;
  attrs->saturate = saturate;
  graph::Op op;
  op.definition = operators().find(name);
  op.operands = {add(in)};
  op.results = {add(out)};
  op.attributes = attrs;
  Diagnostics diags;
  EXPECT_TRUE(verify_op({graph, op}, diags)) << diags.str();
  std::vector<To> to(from.size());
  evaluate_op(graph, op,
              {{{reinterpret_cast<const uint8_t*>(from.data()), from.size() * sizeof(From)}},
               {{reinterpret_cast<uint8_t*>(to.data()), to.size() * sizeof(To)}}});
  return to;
}

template <typename T>
std::vector<uint32_t> encoded(const std::vector<float>& x, FloatFormat format, bool saturate) {
  std::vector<T> codes = converted<T>("float_encode", x, DType::kF32, storage_of(format), format, saturate);
  return {codes.begin(), codes.end()};
}
std::vector<uint32_t> encode(const std::vector<float>& x, FloatFormat format, bool saturate = false) {
  return storage_of(format) == DType::kU16 ? encoded<uint16_t>(x, format, saturate)
                                           : encoded<uint8_t>(x, format, saturate);
}

template <typename T>
void check_codes(const Codes& c) {
  std::vector<T> all;
  for (int64_t i = 0; i < c.count; ++i) all.push_back(static_cast<T>(i));
  std::vector<float> values = converted<float>("float_decode", all, storage_of(c.format), DType::kF32, c.format);
  std::vector<uint32_t> back = encode(values, c.format);
  int wrong = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    float want = decode_float(c.format, i);
    bool nan = std::isnan(want);
    bool same = nan ? std::isnan(values[i]) : std::bit_cast<uint32_t>(values[i]) == std::bit_cast<uint32_t>(want);
    bool returns = nan || back[i] == i;
    if (!same || !returns) ++wrong;
  }
  EXPECT_EQ(wrong, 0) << static_cast<int>(c.format);
}

TEST(FloatFormats, EveryCode) {
  for (const Codes& c : kCodes)
    storage_of(c.format) == DType::kU16 ? check_codes<uint16_t>(c) : check_codes<uint8_t>(c);
}

// Between two neighbours: the middle, and the floats beside it.
TEST(FloatFormats, TheNearestAndOfTwoTheEven) {
  for (const Codes& c : kCodes) {
    std::vector<float> x;
    std::vector<uint32_t> want;
    for (uint32_t i = 0; i < c.most; ++i) {
      float low = decode_float(c.format, i), high = decode_float(c.format, i + 1);
      auto middle = static_cast<float>((static_cast<double>(low) + static_cast<double>(high)) / 2);
      for (float sign : {1.0f, -1.0f}) {
        auto bits = sign < 0 ? static_cast<uint32_t>(c.positive) : 0u;
        auto code = [&](uint32_t v) {
          bool no_zero = c.format == FloatFormat::kE4m3fnuz || c.format == FloatFormat::kE5m2fnuz;
          want.push_back(v == 0 && no_zero ? 0 : v | bits);
        };
        x.push_back(sign * middle);
        code(i % 2 == 0 ? i : i + 1);
        x.push_back(sign * std::nextafter(middle, 0.0f));
        code(i);
        x.push_back(sign * std::nextafter(middle, kInf));
        code(i + 1);
      }
    }
    EXPECT_EQ(encode(x, c.format), want) << static_cast<int>(c.format);
  }
}

TEST(FloatFormats, WhatIsTooLarge) {
  for (const Codes& c : kCodes) {
    auto sign = static_cast<uint32_t>(c.positive);
    std::vector<float> x = {std::numeric_limits<float>::max(), kInf, -kInf};

    uint32_t negative = c.beyond == sign ? sign : c.beyond | sign;
    EXPECT_EQ(encode(x, c.format), (std::vector<uint32_t>{c.beyond, c.beyond, negative})) << static_cast<int>(c.format);
    EXPECT_EQ(encode(x, c.format, true), (std::vector<uint32_t>{c.most, c.most, c.most | sign}));
    EXPECT_TRUE(std::isnan(decode_float(c.format, encode({NAN}, c.format)[0])) || c.format == FloatFormat::kE2m1);
  }
}

TEST(FloatFormats, PowersOfTwo) {
  std::vector<float> x = {0.0f, 1.0f, 1.5f, 1.25f, 1e-45f, 5.877472e-39f, 6e-39f, 3e38f, kInf, -1.0f, NAN};
  std::vector<uint32_t> want = {0, 127, 128, 128, 0, 0, 1, 255, 255, 255, 255};
  EXPECT_EQ(encode(x, FloatFormat::kE8m0), want);
  EXPECT_EQ(encode({3e38f, kInf}, FloatFormat::kE8m0, true), (std::vector<uint32_t>{254, 254}));
  std::vector<uint8_t> all(256);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint8_t>(i);
  auto values = converted<float>("float_decode", all, DType::kU8, DType::kF32, FloatFormat::kE8m0);
  for (size_t i = 0; i < 255; ++i) EXPECT_EQ(values[i], std::ldexp(1.0f, static_cast<int>(i) - 127));
  EXPECT_TRUE(std::isnan(values[255]));
}

}  // namespace
}  // namespace aotc::ops
