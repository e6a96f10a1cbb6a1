// SPDX-License-Identifier: Apache-2.0
// Index variables that the C of kernels has as pointers.
#include <gtest/gtest.h>

#include "codegen/c_function.h"
#include "cores/arm/dsp/depthwise_kernels.h"
#include "tir/builder.h"

namespace aotc {
namespace {

using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;

void expect_text(const tir::KernelPtr& kernel, const std::vector<std::string>& parts) {
  const std::string text = codegen::print_c_kernel(*kernel, "p").text;
  for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
}

TEST(Pointers, ProductsAdvanceTwo) {
  expect_text(cores::arm::gemm_pairs_kernel(3, 12, false),
              {"const int32_t *at = stream;", "P_NO_UNROLL\n", "k = panel; k < &panel[written]; k += 24)",
               "k = &panel[written]; k < &panel[elements]; k += 3)", "acc00 = p_dot_bytes(acc00, x0, w);", "at += 8;"});
}

TEST(Pointers, ColumnsLoadHalvesAsWords) {
  expect_text(cores::arm::dw_column_kernel({8, 1, 2}, 12, false),
              {"for (const int16_t *at = &plane[begin]; at < &plane[begin + rows * 8]; at += 8)", "p_halves_at(at)",
               "p_halves_at(&at[2])", "p_mla_low_high(", "int32_t to = column * out_column;"});
}

TEST(Pointers, PanelsArePackedByWords) {
  expect_text(cores::arm::pack_run_kernel(3), {"p_bytes_at(", "p_even_bytes(bytes)", "p_odd_bytes(bytes)"});
}

// Loops that advance by four elements and `body`.
tir::KernelPtr loop_of(const std::function<void(FunctionBuilder&, const BufferPtr&, const BufferPtr&, Ex)>& body) {
  FunctionBuilder f("k");
  BufferPtr in = f.input("in", DType::kI32, 0), out = f.output("out", DType::kI32, 0);
  Ex n = f.scalar("n");
  f.loop("i", 0, n, [&](Ex i) { body(f, in, out, i); }, 4);
  return f.finish_kernel("k", {});
}

TEST(Pointers, OtherUsesKeepIndices) {
  expect_text(loop_of([](FunctionBuilder& f, const BufferPtr& in, const BufferPtr& out, Ex i) {
                f.store(out, 0, load(in, i) + load(in, i + 1));
              }),
              {"for (const int32_t *i = in; i < &in[n]; i += 4)", "i[0] + i[1]"});
  // Two buffers; a buffer that is written; a value.
  expect_text(loop_of([](FunctionBuilder& f, const BufferPtr& in, const BufferPtr& out, Ex i) {
                f.store(out, i, load(in, i));
              }),
              {"for (int32_t i = 0; i < n; i += 4)", "out[i] = in[i];"});
  expect_text(loop_of([](FunctionBuilder& f, const BufferPtr& in, const BufferPtr& out, Ex i) {
                f.store(out, 0, load(in, i) + i);
              }),
              {"for (int32_t i = 0; i < n; i += 4)", "in[i] + i"});
}

}  // namespace
}  // namespace aotc
