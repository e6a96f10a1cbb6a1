// SPDX-License-Identifier: Apache-2.0
// Kernels of ops/common/triple_kernel.h. Cortex-M4 has all instructions of the cores that they are for.
#include "cases.h"
#include "ops/common/triple_kernel.h"

namespace aotc::tests {

namespace {

using ops::TripleKernel;

constexpr int kShift = 3;

// Panels and weights are what they may be: the three sums of a segment stay in their lanes.
void add_calls(std::vector<KernelCase>& to, TripleKernel kernel, int64_t turns, int64_t segments) {
  kernel.shift = kShift;
  kernel.many = segments > 1;
  ops::TripleGemm plan;
  plan.segment = turns * kernel.unroll;
  plan.padded_k = plan.k = plan.segment * segments;
  for (Pattern pattern : kPatterns)
    for (int64_t groups : {1, 3}) {
      Data data(pattern, static_cast<uint32_t>(turns * 100 + segments * 10 + groups));
      std::vector<int32_t> stream, panel;
      for (int64_t g = 0; g < groups; ++g) {
        // Bytes of few bits, and one in eight with all.
        for (int64_t i = 0; i < kernel.channels * plan.padded_k / 4; ++i) {
          std::vector<int32_t> word;
          data.add_words(word, 1);
          stream.push_back(i % 8 == 0 ? word[0] : word[0] & 0x1F1F1F1F);
          if (kernel.flipped) stream.back() ^= static_cast<int32_t>(0x80808080U);
        }
        for (int64_t c = 0; c < kernel.channels; ++c) {
          data.add_words(stream, 1);
          // Without overflow of the sum that follows.
          stream.back() >>= 3;
          data.add_line(stream, kernel.sign);
        }
      }
      Buffer pixels = data.bytes(3 * plan.padded_k);
      auto x = [&](int64_t p, int64_t k) {
        return static_cast<int8_t>(pixels.bytes[static_cast<size_t>(3 * k + p)]);
      };
      for (int64_t k = 0; k < plan.padded_k; ++k) {
        panel.push_back(x(0, k) + x(1, k) * (1 << ops::TripleGemm::kLane));
        panel.push_back(x(2, k) + x(1, k) * (1 << (ops::TripleGemm::kLane - ops::TripleGemm::kRest)));
      }
      const int64_t stride = groups * kernel.channels + 1;
      to.push_back({kernel.kernel(),
                    {table(stream), table(panel), data.bytes(3 * stride + 1, 1), table(kernel.shape(plan, groups, stride))},
                    {}});
    }
}

}  // namespace

void add_triple_cases(std::vector<KernelCase>& to) {
  for (bool sign : {false, true}) {
    for (int64_t unroll : {4, 8, 16})
      for (int64_t segments : {1, 2, 3}) {
        TripleKernel wide{"triples_thumb2", 4, unroll};
        wide.sign = sign;
        add_calls(to, wide, 1, segments);
        add_calls(to, wide, 5, segments);
      }
    for (int64_t unroll : {4, 8, 12, 16}) {
      TripleKernel narrow{"triples_thumb1", 1, unroll, true};
      narrow.sign = sign;
      add_calls(to, narrow, 1, 1);
      add_calls(to, narrow, 3, 1);
    }
  }
}

}  // namespace aotc::tests
