// SPDX-License-Identifier: Apache-2.0
// Kernels of cores/riscv/winograd.h.
#include "cases.h"
#include "cores/riscv/winograd.h"

namespace aotc::tests {

namespace {

using cores::riscv::Winograd;

// Three tiles: at the left edge, inside and at the right edge in some order, whose windows begin in a row that may be
// padding.
void add_columns(std::vector<KernelCase>& to, int64_t rows, int64_t dilation, int64_t in, int32_t row) {
  constexpr int32_t kHeight = 5, kWidth = 7, kColumns[] = {-1, 2, kWidth - 3};
  const ops::WindowAxis y{.in = kHeight, .kernel = rows, .dilation = dilation};
  for (Pattern pattern : kPatterns) {
    Data data(pattern, static_cast<uint32_t>(10 * rows + in));
    std::vector<int32_t> tiles;
    for (int32_t tile = 0; tile < 3; ++tile) {
      const int32_t column = kColumns[(tile + row + 1) % 3];
      tiles.push_back(row);
      tiles.push_back((row * kWidth + column) * static_cast<int32_t>(in));
      tiles.push_back(column < 0 ? 1 : 0);
      tiles.push_back(column + Winograd::kColumns > kWidth ? 1 : 0);
    }
    to.push_back({cores::riscv::winograd_columns_kernel(y, kWidth, in),
                  {data.bytes(kHeight * kWidth * in), data.bytes(in), data.words(rows * in * Winograd::kStepWords),
                   table(tiles)},
                  {}});
  }
}

void add_triples(std::vector<KernelCase>& to, int64_t turns, int64_t segments, bool sign) {
  constexpr int kShift = 3;
  Winograd plan;
  plan.segment = turns * Winograd::kUnroll;
  plan.segments = segments;
  plan.k = plan.segment * segments;
  for (Pattern pattern : kPatterns)
    for (int64_t groups : {1, 2}) {
      Data data(pattern, static_cast<uint32_t>(turns * 100 + segments * 10 + groups));
      std::vector<int32_t> stream;
      for (int64_t g = 0; g < groups; ++g) {
        data.add_words(stream, segments * plan.segment_words());
        for (int64_t c = 0; c < Winograd::kChannels; ++c) {
          data.add_words(stream, 1);
          stream.back() >>= 3;  // without overflow of the sum that follows
          data.add_line(stream, sign);
        }
      }
      const int64_t stride = groups * Winograd::kChannels + 1;
      to.push_back({cores::riscv::winograd_triples_kernel(kShift, sign),
                    {table(stream), data.words(plan.panel_words()),
                     data.bytes(Winograd::kTiles * Winograd::kTileOutputs * stride),
                     table(cores::riscv::winograd_shape(plan, groups, stride, sign))},
                    {}});
    }
}

}  // namespace

void add_riscv_winograd_cases(std::vector<KernelCase>& to) {
  for (int64_t rows : {1, 3})
    for (int64_t dilation : {1, 2})
      for (int64_t in : {4, 12})
        for (int32_t row : {-1, 0, 1, 3}) add_columns(to, rows, dilation, in, row);
  for (bool sign : {false, true})
    for (int64_t turns : {1, 2})
      for (int64_t segments : {1, 2}) add_triples(to, turns, segments, sign);
}

}  // namespace aotc::tests
