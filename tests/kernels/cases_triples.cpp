// SPDX-License-Identifier: Apache-2.0
// Kernels of ops/common/triple_kernel.h and quad_kernel.h. Cortex-M4 has all instructions of the cores that they are
// for.
#include "cases.h"
#include "ops/common/quad_kernel.h"
#include "ops/common/triple_kernel.h"
#include "ops/common/triple_pack.h"

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
      auto x = [&](int64_t p, int64_t k) { return static_cast<int8_t>(pixels.bytes[static_cast<size_t>(3 * k + p)]); };
      for (int64_t k = 0; k < plan.padded_k; ++k) {
        panel.push_back(x(0, k) + x(1, k) * (1 << ops::TripleGemm::kLane));
        panel.push_back(x(2, k) + x(1, k) * (1 << (ops::TripleGemm::kLane - ops::TripleGemm::kRest)));
      }
      const int64_t stride = groups * kernel.channels + 1;
      to.push_back(
          {kernel.kernel(),
           {table(stream), table(panel), data.bytes(3 * stride + 1, 1), table(kernel.shape(plan, groups, stride))},
           {}});
    }
}

// Each pixel may be padding in all rows; rows lie apart in the image and in the panel.
void add_pack_calls(std::vector<KernelCase>& to, std::string_view family, int64_t unroll) {
  constexpr int64_t kGap = 3, kSkipWords = 2;
  const ops::TriplePack pack{family, unroll};
  for (Pattern pattern : kPatterns)
    for (int64_t turns : {1, 3})
      for (int64_t rows : {1, 2})
        for (int outside = 0; outside < 8; outside += turns == 1 ? 1 : 7) {
          Data data(pattern, static_cast<uint32_t>(unroll * 100 + turns * 10 + rows));
          const int64_t count = turns * unroll, pitch = 3 * count + kGap;
          std::vector<int32_t> shape = ops::TriplePack::table(count + 1, pitch, count, rows);
          shape[ops::TriplePack::kSkip] = 4 * kSkipWords;
          for (size_t p = 0; p < 3; ++p)
            if ((outside >> p) % 2 == 1) shape[p] = -1;
          const int64_t words = rows * (count * ops::TripleGemm::kWords + kSkipWords) + 1;
          to.push_back({pack.kernel(),
                        {data.bytes(rows * pitch, 1), data.bytes(count, 1), data.words(words), table(shape)},
                        {}});
        }
}

// Sums may be any: what does not fit its half of a word comes out the same.
void add_quad_calls(std::vector<KernelCase>& to, const ops::QuadKernel& kernel, int64_t groups) {
  const int64_t depth = groups * kernel.group;
  for (Pattern pattern : kPatterns)
    for (int64_t tiles : {1, 3}) {
      Data data(pattern, static_cast<uint32_t>(groups * 100 + tiles * 10 + kernel.words));
      std::vector<int32_t> stream{static_cast<int32_t>(tiles), static_cast<int32_t>(depth), kShift};
      data.add_line(stream, true);
      for (int64_t t = 0; t < tiles; ++t) {
        data.add_words(stream, depth * kernel.words);
        const int64_t rests = 2 * t % 3;
        stream.push_back(static_cast<int32_t>(4 * rests));
        for (int64_t r = 0; r < rests; ++r)
          stream.push_back(static_cast<int32_t>((depth - 1 - r) << 16 | (kernel.units() - 1 - 2 * r) << 10 |
                                                (t == 1 ? 0x85 : 0x13)));
        for (int64_t u = 0; u < kernel.units(); ++u) {
          data.add_words(stream, 1);
          if (!kernel.same) data.add_line(stream, kernel.sign);
        }
      }
      to.push_back(
          {kernel.kernel(),
           {table(stream), data.bytes(depth + 1, 1), data.bytes(tiles * kernel.units() + 1, 1), data.words(2 * groups)},
           {}});
    }
}

}  // namespace

void add_riscv_triple_cases(std::vector<KernelCase>& to) {
  for (int64_t unroll : {1, 2, 3, 4, 7, 9, 16}) add_pack_calls(to, "triple_pack_rv32", unroll);
  for (bool sign : {false, true}) {
    for (int64_t channels : {4, 8})
      for (int64_t unroll : {4, 8})
        for (int64_t segments : {1, 2, 3}) {
          TripleKernel kernel{"triples_rv32", channels, unroll};
          kernel.sign = sign;
          for (int64_t turns : {1, 3}) add_calls(to, kernel, turns, segments);
        }
    for (int64_t group : {4, 7, 16})
      for (int64_t words : {1, 2})
        for (bool same : {false, true})
          for (int64_t groups : {1, 3}) add_quad_calls(to, {"quads_rv32", words, group, same, sign}, groups);
  }
}

void add_triple_cases(std::vector<KernelCase>& to) {
  for (int64_t unroll : {1, 2, 3, 4, 7, 9, 16}) add_pack_calls(to, "triple_pack_thumb2", unroll);
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
    for (int64_t group : {4, 7, 16})
      for (int64_t words : {1, 2})
        for (bool same : {false, true})
          for (int64_t groups : {1, 3}) add_quad_calls(to, {"quads_thumb2", words, group, same, sign}, groups);
  }
}

}  // namespace aotc::tests
