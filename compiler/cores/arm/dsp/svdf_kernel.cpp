// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/dsp/svdf_kernel.h"

#include "cores/arm/dsp/gemm.h"

namespace aotc::cores::arm {

using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;

std::vector<int32_t> svdf_time_stream(const std::vector<int16_t>& weights, const std::vector<int32_t>& start,
                                      bool bytes) {
  std::vector<int32_t> out = {static_cast<int32_t>(start.size())};
  auto pair = [&](size_t low, size_t high) {
    out.push_back(static_cast<int32_t>(uint32_t{static_cast<uint16_t>(weights[low])} |
                                       uint32_t{static_cast<uint16_t>(weights[high])} << 16));
  };
  const size_t lanes = bytes ? 4 : 2, of_filter = weights.size() / start.size();
  for (size_t i = 0; i + lanes <= weights.size(); i += lanes) {
    if (i % of_filter == 0) out.push_back(start[i / of_filter]);
    pair(i, bytes ? i + 2 : i + 1);
    if (bytes) pair(i + 1, i + 3);
  }
  return out;
}

tir::KernelPtr svdf_time_kernel(int64_t words, bool bytes) {
  const int64_t lanes = bytes ? 4 : 2, pairs = lanes / 2;
  FunctionBuilder f("svdf_time");
  const DType type = bytes ? DType::kI8 : DType::kI16;
  BufferPtr state = f.input("state", type, 0);
  BufferPtr weights = f.constant("weights", DType::kI32, 0);
  BufferPtr next = f.output("next", type, 0);
  BufferPtr values = f.output("values", DType::kI32, 0);
  Ex filters = f.let("filters", load(weights, 0));
  f.loop("filter", 0, filters, [&](const Ex& filter) {
    Ex row = f.let("row", filter * (words * lanes));
    Ex stream = f.let("stream", filter * (words * pairs + 1) + 2);
    // The first word's later lanes are the last one's earlier lanes.
    std::vector<Ex> last;
    for (int64_t l = 1; l < lanes; ++l) last.push_back(f.let("moved", load(state, row + l)));
    last.push_back(f.let("fresh", load(values, filter)));
    Ex sum = f.var("sum", load(weights, stream - 1));
    auto add = [&](const Ex& at, const std::vector<Ex>& lane) {
      for (int64_t p = 0; p < pairs; ++p) {
        Ex w = f.let("w", load(weights, at + p));
        Ex low = mul_wrapping(lane[static_cast<size_t>(p)], low_half(w));
        Ex high = mul_wrapping(lane[static_cast<size_t>(p + pairs)], high_half(w));
        f.assign(sum, add_wrapping(add_wrapping(sum, low), high));
      }
    };
    f.loop("word", 0, words - 1, [&](const Ex& word) {
      Ex at = f.let("at", row + word * lanes);
      std::vector<Ex> lane;
      for (int64_t l = 0; l < lanes; ++l) lane.push_back(f.let("lane", load(state, at + (lanes + l))));
      for (int64_t l = 0; l < lanes; ++l) f.store(next, at + l, lane[static_cast<size_t>(l)]);
      add(stream + word * pairs, lane);
    });
    for (int64_t l = 0; l < lanes; ++l) f.store(next, row + ((words - 1) * lanes + l), last[static_cast<size_t>(l)]);
    add(stream + (words - 1) * pairs, last);
    f.store(values, filter, sum);
  });
  return f.finish_kernel("svdf_time", {{"words", words}, {"bytes", bytes}});
}

Work svdf_time_work(int64_t words, bool bytes, int64_t filters) {
  const auto n = static_cast<double>(words);
  Work filter{
      .load = 4 + n / 2, .store = 2 + n / 4, .alu = bytes ? 4 + 2 * n : 4, .dual = bytes ? 2 * n : n, .branch = 1};
  return Work{.load = 10, .store = 10, .alu = 4} + filter * static_cast<double>(filters);
}

}  // namespace aotc::cores::arm
