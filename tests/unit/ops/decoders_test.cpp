// SPDX-License-Identifier: Apache-2.0
// Packed constants: what cannot be seen in models, and bytes that lead outside.
#include "ops/decode/decoders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace aotc::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

graph::TensorType packed_type(DType dtype, graph::Shape shape, std::vector<int64_t> zeros, int axis) {
  graph::TensorType out;
  out.dtype = dtype;
  out.shape = std::move(shape);
  out.quantization.scale.assign(zeros.size(), 0.5f);
  out.quantization.zero_point = std::move(zeros);
  out.quantization.axis = axis;
  return out;
}

std::vector<uint8_t> packed_head(uint8_t kind, std::vector<uint8_t> more, std::vector<uint8_t> tables) {
  std::vector<uint8_t> out = {kind, 1, 0, 0, 1};
  out.insert(out.end(), more.begin(), more.end());
  out.resize(16);
  out.insert(out.end(), tables.begin(), tables.end());
  return out;
}

std::string problem_of(const std::vector<uint8_t>& data, const std::vector<uint8_t>& how,
                       const graph::TensorType& type) {
  std::vector<uint8_t> out(static_cast<size_t>(type.bytes()));
  return decode_packed({data, how, &type}, out).value_or("");
}

TEST(PackedConstants, ZerosOfChannelsAreTheirZeroPoints) {
  std::vector<uint8_t> out(6);
  auto rows = packed_type(DType::kI8, {2, 3}, {-3, 7}, 0), columns = packed_type(DType::kI8, {2, 3}, {1, 2, 3}, 1);
  const std::vector<uint8_t> mask = {0b01001000}, how = packed_head(2, {}, {50, 60});
  EXPECT_FALSE(decode_packed({mask, how, &rows}, out));
  EXPECT_THAT(out, ElementsAre(253, 50, 253, 7, 60, 7));
  EXPECT_FALSE(decode_packed({mask, how, &columns}, out));
  EXPECT_THAT(out, ElementsAre(1, 50, 3, 1, 60, 3));
}

TEST(PackedConstants, TablesOfChannels) {
  std::vector<uint8_t> out(4);
  auto rows = packed_type(DType::kI8, {2, 2}, {0, 0}, 0);
  const std::vector<uint8_t> indices = {0b01100000}, how = packed_head(0, {1, 3}, {1, 2, 99, 4, 5, 99});
  EXPECT_FALSE(decode_packed({indices, how, &rows}, out));
  EXPECT_THAT(out, ElementsAre(1, 2, 5, 4));
}

TEST(PackedConstants, WhatIsRefused) {
  auto type = packed_type(DType::kI8, {8}, {0}, 0), middle = packed_type(DType::kI8, {2, 2, 2}, {0, 0}, 1),
       shorts = packed_type(DType::kI16, {8}, {3}, 0);
  const std::vector<uint8_t> data = {0xFF}, lookup = packed_head(0, {1, 2}, {1, 2});
  EXPECT_EQ(problem_of(data, lookup, type), "");
  EXPECT_THAT(problem_of({}, lookup, type), HasSubstr("hold fewer than 8 indices"));
  EXPECT_THAT(problem_of(data, packed_head(0, {1, 2}, {1}), type), HasSubstr("outside of the table"));
  EXPECT_THAT(problem_of(data, packed_head(0, {0, 2}, {1}), type), HasSubstr("0 bits"));
  EXPECT_THAT(problem_of(data, lookup, middle), HasSubstr("neither along the first"));
  EXPECT_THAT(problem_of(data, packed_head(2, {}, {1, 2}), type), HasSubstr("no value for element 2"));
  EXPECT_THAT(problem_of({}, packed_head(2, {}, {}), type), HasSubstr("no mask of 8"));
  EXPECT_THAT(problem_of(data, packed_head(2, {}, {}), shorts), HasSubstr("not int8"));
  EXPECT_THAT(problem_of(data, packed_head(1, {}, {}), shorts), HasSubstr("Huffman codes are of int8"));
  EXPECT_THAT(problem_of(data, packed_head(1, {}, {}), type), HasSubstr("code of element 0"));
  EXPECT_THAT(problem_of(data, {0, 1, 0}, type), HasSubstr("3 bytes say how"));
  EXPECT_THAT(problem_of(data, packed_head(127, {}, {}), type), HasSubstr("only its maker knows"));
  EXPECT_THAT(problem_of(data, packed_head(5, {}, {}), type), HasSubstr("way 5"));
  std::vector<uint8_t> newer = lookup;
  newer[1] = 2;
  EXPECT_THAT(problem_of(data, newer, type), HasSubstr("version 2 of the format"));
  newer = lookup;
  newer[4] = 3;
  EXPECT_THAT(problem_of(data, newer, type), HasSubstr("version 3 of way 0"));
}

// A code of no bits would be any number of elements.
TEST(PackedConstants, HuffmanCodesTakeBits) {
  auto type = packed_type(DType::kI8, {8}, {0}, 0);
  EXPECT_THAT(problem_of({0, 0}, packed_head(1, {0}, {9, 0x80, 9, 0x80}), type), HasSubstr("code of element 0"));
  EXPECT_EQ(problem_of({0}, packed_head(1, {0}, {9, 0x88, 9, 0x88}), type), "");
  EXPECT_THAT(problem_of({}, packed_head(1, {0}, {9, 0x88, 9, 0x88}), type), HasSubstr("code of element 0"));
  // From table to table until the bits end.
  EXPECT_THAT(problem_of({0, 0}, packed_head(1, {0}, {0, 0, 0, 0}), type), HasSubstr("code of element 0"));
}

TEST(PackedConstants, AnyBytes) {
  std::mt19937 random(7);
  auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  for (int turn = 0; turn < 20000; ++turn) {
    std::vector<uint8_t> data(below(9)), how(below(40));
    for (uint8_t& b : data) b = static_cast<uint8_t>(below(256));
    for (uint8_t& b : how) b = static_cast<uint8_t>(below(256));
    if (how.size() > 4) {
      how[0] = static_cast<uint8_t>(below(3));
      how[1] = how[4] = 1;
    }
    const DType dtype = turn % 2 == 0 ? DType::kI8 : DType::kI16;
    auto type =
        packed_type(dtype, {2, 1 + turn % 5}, turn % 3 == 0 ? std::vector<int64_t>{0, 0} : std::vector<int64_t>{0}, 0);
    std::vector<uint8_t> out(static_cast<size_t>(type.bytes()));
    (void)decode_packed({data, how, &type}, out);
  }
}

}  // namespace
}  // namespace aotc::ops
