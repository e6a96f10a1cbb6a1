// SPDX-License-Identifier: Apache-2.0
#include "support/diagnostics.h"

#include <gtest/gtest.h>

#include "support/dtype.h"

namespace aotc {
namespace {

TEST(Diagnostics, HaveThreeParts) {
  Diagnostics diags;
  Location where;
  where.file = "kws.tflite";
  where.op_index = 17;
  where.op_type = "GRU";
  where.tensor = "gru_1";
  diags.error(where, "op-unsupported", "operator is not supported")
      .note("40 of 41 operators compile")
      .help("'aotc ops --like GRU' lists similar operators that are supported");
  where = {};
  diags.warning(where, "w", "careful");
  EXPECT_EQ(diags.str(),
            "kws.tflite: op 17 GRU 'gru_1': error: operator is not supported [op-unsupported]\n"
            "  note: 40 of 41 operators compile\n"
            "  help: 'aotc ops --like GRU' lists similar operators that are supported\n"
            "<input>: warning: careful [w]\n");
  EXPECT_EQ(diags.error_count(), 1);
  EXPECT_EQ(diags.all().size(), 2u);
}

TEST(Diagnostics, WarningsAreNoErrors) {
  Diagnostics diags;
  diags.warning({}, "w", "careful");
  EXPECT_FALSE(diags.has_errors());
}

TEST(Location, LeavesOutWhatDoesNotApply) {
  Location where;
  EXPECT_EQ(where.str(), "<input>");
  where.file = "t.air";
  where.line = 4;
  EXPECT_EQ(where.str(), "t.air:4");
  where.column = 7;
  EXPECT_EQ(where.str(), "t.air:4:7");
  where.tensor = "x";
  EXPECT_EQ(where.str(), "t.air:4:7: tensor 'x'");
  where.subgraph = 2;
  where.op_index = 0;
  EXPECT_EQ(where.str(), "t.air:4:7: subgraph 2 op 0 'x'");
}

TEST(EscapeForDisplay, MakesOneSafeLine) {
  EXPECT_EQ(escape_for_display("plain"), "plain");
  EXPECT_EQ(escape_for_display("a'b\\c\n\x1b[31m"), "a\\x27b\\x5cc\\x0a\\x1b[31m");
  EXPECT_EQ(escape_for_display("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
  EXPECT_EQ(escape_for_display("\xc3"), "\\xc3");
  EXPECT_EQ(escape_for_display("\xc0\xaf"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(escape_for_display("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(escape_for_display("\xc2\x9b"), "\\xc2\\x9b");           // C1 control
  EXPECT_EQ(escape_for_display("abcdef", 3), "abc...");
  EXPECT_EQ(escape_for_display("abc", 3), "abc");
}

TEST(DType, NamesSizesAndRangesAgree) {
  for (DType type : {DType::kBool, DType::kI8, DType::kU8, DType::kI16, DType::kU16, DType::kI32, DType::kU32,
                     DType::kI64, DType::kF32, DType::kF64}) {
    EXPECT_EQ(dtype_from_name(name_of(type)), type);
    EXPECT_GT(size_of(type), 0);
    if (!is_int(type) || type == DType::kI64) continue;
    IntRange range = int_range(type);
    EXPECT_EQ(range.max - range.min, (int64_t{1} << (8 * size_of(type))) - 1) << name_of(type);
  }
  EXPECT_FALSE(dtype_from_name("i7").has_value());
  EXPECT_EQ(c_type_of(DType::kBool), "uint8_t");
}

}  // namespace
}  // namespace aotc
