// SPDX-License-Identifier: Apache-2.0
// Kernels: their text form, what a call means, and what the verifier refuses.
#include <gtest/gtest.h>

#include "testing.h"

namespace aotc::tir {
namespace {

using testing::memory_of;
using testing::parsed;
using testing::run;
using testing::verified;

constexpr const char* kScale = R"(kernel scale by=3 (in x: i8[0], out y: i32[0], scalar n) {
  for i in 0 .. n {
    y[i] = x[i] * 3
  }
}
)";

std::string with_kernel(const std::string& params, const std::string& body) {
  return std::string(kScale) + "func f(" + params + ") {\n  " + body + "\n}\n";
}

// What stands in front of '=' is a name, whatever it means elsewhere.
TEST(Kernel, NumbersMayBeCalledAsKeywords) {
  for (const char* word : {"keep", "min", "for", "i8"}) {
    std::string text = with_kernel("in a: i8[4], out b: i32[4]", "run scale_3(&a[1], &b[2], 2)");
    text.replace(text.find(" by="), 4, std::string(" ") + word + "=");
    EXPECT_EQ(print(*parsed(text)), text);
  }
}

TEST(Kernel, TextReadsBack) {
  std::string text = with_kernel("in a: i8[4], out b: i32[4]", "run scale_3(&a[1], &b[2], 2)");
  EXPECT_EQ(print(*parsed(text)), text);
}

TEST(Kernel, MayNotFail) {
  std::string text = with_kernel("in a: i8[4], out b: i32[4]", "run scale_3(&a[1], &b[2], 2)");
  text.replace(text.find("y[i] ="), 6, "fail y[i] =");
  EXPECT_NE(verified(parsed(text)).find("but a kernel returns no status"), std::string::npos);
}

TEST(Kernel, CallMeansTheMeaningOverPartsOfBuffers) {
  FunctionPtr f =
      parsed(with_kernel("in a: i8[4], out b: i32[4]", "run scale_3(&a[1], &b[2], 2)\n  run scale_3(&a[0], &b[0], 1)"));
  std::vector<int8_t> a = {1, -2, 5, 7};
  std::vector<int32_t> b = {0, 99, 0, 0};
  EXPECT_EQ(run(f, {memory_of(a), memory_of(b)}), "");
  EXPECT_EQ(b, (std::vector<int32_t>{3, 99, -6, 15}));
  FunctionPtr inlined = inline_kernels(f);
  EXPECT_TRUE(kernels_of(*inlined).empty());
  EXPECT_EQ(kernels_of(*f).size(), 1u);
  EXPECT_EQ(verified(f), "");
}

TEST(Kernel, AccessesAreHeldAgainstTheCallersBuffers) {
  FunctionPtr f = parsed(with_kernel("in a: i8[4], out b: i32[4]", "run scale_3(&a[3], &b[0], 2)"));
  std::vector<int8_t> a(4);
  std::vector<int32_t> b(4);
  EXPECT_NE(run(f, {memory_of(a), memory_of(b)}).find("index 4 is outside of 'a'"), std::string::npos);
  EXPECT_NE(verified(f).find("outside of 'a'"), std::string::npos);
}

TEST(Kernel, VerifierChecksArguments) {
  auto refused = [](const std::string& params, const std::string& call) {
    return verified(parsed(with_kernel(params, call)));
  };
  EXPECT_NE(refused("in a: i8[4], out b: i32[4]", "run scale_3(&a[0], &b[0])").find("takes 3 arguments, not 2"),
            std::string::npos);
  EXPECT_NE(refused("in a: i16[4], out b: i32[4]", "run scale_3(&a[0], &b[0], 1)")
                .find("argument 1 of 'scale_3' is i16, not i8"),
            std::string::npos);
  EXPECT_NE(refused("in a: i8[4], in b: i32[4]", "run scale_3(&a[0], &b[0], 1)").find("'b' is read only"),
            std::string::npos);
}

TEST(Kernel, DifferentKernelsMakeDifferentFunctions) {
  std::string text = with_kernel("in a: i8[4], out b: i32[4]", "run scale_3(&a[0], &b[0], 4)");
  std::string other = text;
  for (size_t at; (at = other.find("by=3")) != std::string::npos;) other[at + 3] = '5';
  for (size_t at; (at = other.find("scale_3")) != std::string::npos;) other[at + 6] = '5';
  EXPECT_TRUE(structurally_equal(*parsed(text), *parsed(text)));
  EXPECT_FALSE(structurally_equal(*parsed(text), *parsed(other)));
}

TEST(Kernel, UnknownOnesAreErrors) {
  Diagnostics diags;
  EXPECT_FALSE(parse("func f() { run scale_3(1) }", "t.tir", diags));
  EXPECT_EQ(diags.str(), "t.tir:1:16: error: 'scale_3' is not a kernel [tir-parse]\n");
}

}  // namespace
}  // namespace aotc::tir
