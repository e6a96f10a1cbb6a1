// SPDX-License-Identifier: Apache-2.0
// Translation of Helium assembly into C with intrinsics: variables, loops and names. What the C computes is tested by
// tests/e2e (boards, and this machine with a stand-in for arm_mve.h).
#include <gtest/gtest.h>

#include "cores/arm/helium/intrinsics.h"
#include "cores/arm/thumb_text.h"
#include "tir/builder.h"

namespace aotc::cores::arm {
namespace {

tir::KernelPtr kernel_of_bytes() {
  tir::FunctionBuilder f("some");
  f.input("x", DType::kI8, 0);
  f.output("out", DType::kI8, 0);
  const tir::BufferPtr shape = f.constant("shape", DType::kI32, 0);
  f.let("pairs", load(shape, 1));
  return f.finish_kernel("some", {});
}

std::vector<std::string> translated(std::vector<std::string> lines) {
  Implementation assembly;
  assembly.lines = std::move(lines);
  const auto made = mve_intrinsics(*kernel_of_bytes(), assembly);
  return made ? made->body : std::vector<std::string>{};
}

TEST(MveIntrinsics, LoopsAdvanceParameters) {
  const auto body =
      translated({"push {r3-r11, lr}", "ldr r4,[r2, #4]", "1:", "vldrb.u8 q0,[r0],#16", "vadd.i8 q0,q0,q0",
                  "vstrb.8 q0,[r1],#16", "subs r4,r4,#1", "bne 1b", "pop {r3-r11, lr}"});
  EXPECT_EQ(body, (std::vector<std::string>{
                      "    int32_t pairs = shape[1];",
                      "    do {",
                      "        const int8x16_t x_v = vldrbq_s8(x);",
                      "        x += 16;",
                      "        const int8x16_t v = vaddq_s8(x_v, x_v);",
                      "        vstrbq_s8(out, v);",
                      "        out += 16;",
                      "        pairs -= 1;",
                      "    } while (pairs != 0);",
                  }));
}

TEST(MveIntrinsics, TailsHavePredicates) {
  const auto body =
      translated({"ldr r2,[r2]", "dlstp.8 lr,r2", "1:", "vldrb.u8 q0,[r0],#16", "vstrb.8 q0,[r1],#16", "letp lr,1b"});
  EXPECT_EQ(body, (std::vector<std::string>{
                      "    const int32_t shape0 = shape[0];",
                      "    int32_t shape0_left = shape0;",
                      "    do {",
                      "        const mve_pred16_t lanes = vctp8q((uint32_t)shape0_left);",
                      "        const int8x16_t x_v = vldrbq_z_s8(x, lanes);",
                      "        x += 16;",
                      "        vstrbq_p_s8(out, x_v, lanes);",
                      "        out += 16;",
                      "        shape0_left -= 16;",
                      "    } while (shape0_left > 0);",
                  }));
}

TEST(MveIntrinsics, RefusesWhatHasNoForm) {
  EXPECT_TRUE(translated({"vmrs r4,fpscr", "vldrb.u8 q0,[r0]", "vstrb.8 q0,[r1]"}).empty());
  // A condition that compares what was there before.
  EXPECT_TRUE(
      translated({"ldr r4,[r2]", "1:", "cmp r4,#3", "mov r4,#0", "vldrb.u8 q0,[r0]", "vstrb.8 q0,[r1]", "bne 1b"})
          .empty());
}

TEST(MveIntrinsics, WritesRepetitionsOut) {
  EXPECT_EQ(written_out({"a", ".rept 2", "b", ".endr", "c"}), (std::vector<std::string>{"a", "b", "b", "c"}));
}

}  // namespace
}  // namespace aotc::cores::arm
