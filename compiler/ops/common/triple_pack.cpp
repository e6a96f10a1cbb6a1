// SPDX-License-Identifier: Apache-2.0
#include "ops/common/triple_pack.h"

#include <string>

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;

int64_t TriplePack::unroll_for(int64_t elements, int64_t most) {
  for (int64_t n = most; n > 1; --n)
    if (elements % n == 0) return n;
  return 1;
}

tir::KernelPtr TriplePack::kernel() const {
  FunctionBuilder f("triple_pack");
  BufferPtr in = f.input("x", DType::kI8, 0);
  BufferPtr blank = f.constant("blank", DType::kI8, 0);
  BufferPtr panel = f.output("panel", DType::kI32, 0);
  BufferPtr table = f.input("table", DType::kI32, 0);
  std::array<Ex, TripleGemm::kPixels> first;
  for (size_t p = 0; p < first.size(); ++p) first[p] = f.let("at", load(table, kFirst + static_cast<int64_t>(p)));
  Ex pitch = f.let("pitch", load(table, kPitch));
  Ex count = f.let("count", load(table, kCount));
  Ex words = f.let("words", count * TripleGemm::kWords + (load(table, kSkip) >> 2));
  f.loop("row", 0, load(table, kRows), [&](const Ex& row) {
    f.loop("i", 0, count, [&](const Ex& i) {
      std::array<Ex, TripleGemm::kPixels> v;
      for (size_t p = 0; p < v.size(); ++p)
        v[p] = f.let("v", select(first[p] >= 0, load(in, first[p] + row * pitch + i), load(blank, i)));
      emit_triple(f, panel, row * words + i * TripleGemm::kWords, v);
    });
  });
  return f.finish_kernel(std::string(family), {{"unroll", unroll}});
}

std::vector<int32_t> TriplePack::table(int64_t distance, int64_t pitch, int64_t count, int64_t rows) {
  std::vector<int32_t> out(kTableWords);
  for (int64_t p = 0; p < TripleGemm::kPixels; ++p) out[static_cast<size_t>(kFirst + p)] = static_cast<int32_t>(p * distance);
  out[kPitch] = static_cast<int32_t>(pitch);
  out[kCount] = static_cast<int32_t>(count);
  out[kRows] = static_cast<int32_t>(rows);
  return out;
}

}  // namespace aotc::ops
