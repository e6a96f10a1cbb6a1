// SPDX-License-Identifier: Apache-2.0
// The parameters file: TVM's own files come back byte for byte, every cut and every damaged field is
// a located error.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/files.h"
#include "support/tvm_params.h"

namespace aotc::tvm {
namespace {

std::vector<Param> two_params() {
  return {{"w", {DataType::kInt, 16, 1}, {2, 3}, std::vector<uint8_t>(12, 7)},
          {"s", {DataType::kFloat, 32, 1}, {}, {1, 2, 3, 4}}};
}

std::string error_of(const std::vector<uint8_t>& bytes) {
  Diagnostics diags;
  auto params = read_params(bytes, "p.params", diags);
  EXPECT_FALSE(params.ok());
  EXPECT_EQ(diags.error_count(), 1);
  return diags.all().empty() ? "" : diags.all()[0].str().substr(0, diags.all()[0].str().find('\n'));
}

TEST(GraphParams, RoundTrip) {
  auto bytes = write_params(two_params());
  Diagnostics diags;
  auto params = read_params(bytes, "p.params", diags);
  ASSERT_TRUE(params.ok()) << diags.str();
  ASSERT_EQ(params->size(), 2u);
  EXPECT_EQ((*params)[0].name, "w");
  EXPECT_EQ((*params)[0].shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ((*params)[0].type.dtype(), DType::kI16);
  EXPECT_EQ((*params)[1].shape.size(), 0u);
  EXPECT_EQ(write_params(*params), bytes);
  EXPECT_TRUE(read_params(write_params({}), "p.params", diags).ok());
}

TEST(GraphParams, EveryCutIsAnError) {
  auto bytes = write_params(two_params());
  for (size_t n = 0; n < bytes.size(); ++n)
    EXPECT_NE(error_of({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n)}).find("[graph-params]"),
              std::string::npos)
        << n;
}

// Sets `size` bytes at `at` to `value`.
std::string damaged(size_t at, uint64_t value, size_t size) {
  auto bytes = write_params(two_params());
  for (size_t i = 0; i < size; ++i) bytes.at(at + i) = static_cast<uint8_t>(value >> (8 * i));
  return error_of(bytes);
}

TEST(GraphParams, DamageIsLocated) {
  // Offsets: names begin at 24 (9 bytes each), the count of arrays is at 42, arrays begin at 50.
  EXPECT_EQ(damaged(0, 1, 8),
            "p.params: error: byte 0: the parameters file must begin with 0xf7e58d4f05049cb7 "
            "[graph-params]");
  EXPECT_EQ(damaged(8, 1, 8),
            "p.params: error: byte 8: the reserved word of the parameters file is not 0 "
            "[graph-params]");
  EXPECT_EQ(damaged(16, UINT64_MAX, 8),
            "p.params: error: byte 16: 18446744073709551615 names do not fit into the 138 bytes that "
            "follow [graph-params]");
  EXPECT_EQ(damaged(24, 1u << 30, 8),
            "p.params: error: byte 24: a name of 1073741824 bytes does not fit into the 130 bytes that "
            "follow [graph-params]");
  EXPECT_EQ(damaged(32, 's', 1), "p.params: tensor 's': error: byte 33: the name occurs twice [graph-params]");
  EXPECT_EQ(damaged(42, 3, 8), "p.params: error: byte 42: there are 2 names, but 3 arrays [graph-params]");
  EXPECT_EQ(damaged(50, 0, 1),
            "p.params: tensor 'w': error: byte 50: an array must begin with "
            "0xdd5e40f096b4a13f [graph-params]");
  EXPECT_EQ(damaged(66, 2, 4),
            "p.params: tensor 'w': error: byte 66: an array has device 2:0, but must have device "
            "1:0 (CPU) [graph-params]");
  EXPECT_EQ(damaged(74, 0xFFFFFFFF, 4),
            "p.params: tensor 'w': error: byte 74: an array of -1 dimensions does not fit into the 80 "
            "bytes that follow [graph-params]");
  EXPECT_EQ(damaged(79, 32, 1),
            "p.params: tensor 'w': error: byte 98: an array has 12 bytes, but its shape and type int32 need "
            "24 [graph-params]");
  EXPECT_EQ(damaged(82, UINT64_MAX, 8), "p.params: tensor 'w': error: byte 82: dimension 0 is -1 [graph-params]");
  EXPECT_EQ(damaged(82, INT64_MAX, 8),
            "p.params: tensor 'w': error: byte 82: dimension 0 is 9223372036854775807 "
            "[graph-params]");
  auto bytes = write_params(two_params());
  bytes.push_back(0);
  EXPECT_EQ(error_of(bytes), "p.params: error: byte 162: 1 bytes follow the last array [graph-params]");
}

TEST(GraphParams, TypeNames) {
  for (const char* name : {"int8", "uint16", "float32", "bool", "float32x4", "handle64", "bfloat16"})
    EXPECT_EQ(data_type_from_name(name)->str(), name);
  for (const char* name : {"", "int", "int0", "int8x", "int8x0", "int999", "Int8", "int8 ", "void"})
    EXPECT_FALSE(data_type_from_name(name)) << name;
  for (DType t : {DType::kBool, DType::kI8, DType::kU8, DType::kI16, DType::kU16, DType::kI32, DType::kU32, DType::kI64,
                  DType::kF32, DType::kF64})
    EXPECT_EQ(DataType::of(t).dtype(), t);
  EXPECT_FALSE(data_type_from_name("float16")->dtype());
  EXPECT_FALSE(data_type_from_name("int8x4")->dtype());
}

}  // namespace
}  // namespace aotc::tvm
