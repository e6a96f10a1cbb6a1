// SPDX-License-Identifier: Apache-2.0
// Kernel of target/arm/dsp/trees.h.
#include <bit>
#include <random>

#include "cases.h"
#include "target/arm/dsp/trees.h"

namespace aotc::tests {

namespace {

// Trees of any numbers. Some thresholds are features: equal ones go on.
KernelCase case_of(Pattern pattern, int64_t levels, int64_t trees, int64_t values) {
  Data data(pattern, static_cast<uint32_t>(levels * 8 + trees));
  std::mt19937 random(static_cast<uint32_t>(values));
  ops::trees::Heap heap;
  heap.levels = levels;
  std::vector<int32_t> keys, leaves;
  data.add_words(keys, 256);
  data.add_words(heap.words, trees * heap.nodes());
  for (int32_t& word : heap.words) {
    heap.features.push_back(static_cast<uint8_t>(random()));
    if (random() % 4 == 0) word = static_cast<int32_t>(static_cast<uint32_t>(keys[heap.features.back()]) ^ 0x80000000u);
  }
  const int64_t rows = 1000;
  for (int64_t i = 0; i < trees * (heap.nodes() + 1); ++i) heap.leaves.push_back(i == 0 ? rows - 1 : random() % 100);
  heap.leaves[static_cast<size_t>(heap.nodes())] = 0;
  for (int64_t i = 0; i < rows * values; ++i)
    leaves.push_back(std::bit_cast<int32_t>(static_cast<float>(random() % 2000) * 0.37f - 300.0f));
  return {arm::tree_sums_kernel(levels, values),
          {table(*arm::tree_blocks(heap, trees, values)), table(leaves), table(keys), data.words(values)},
          {}};
}

}  // namespace

void add_tree_cases(std::vector<KernelCase>& to) {
  for (Pattern pattern : {Pattern::kRandom, Pattern::kExtremes}) {
    to.push_back(case_of(pattern, 1, 3, 1));
    to.push_back(case_of(pattern, 2, 20, 3));
    to.push_back(case_of(pattern, 10, 2, 8));
    to.push_back(case_of(pattern, 6, 1, 4));
  }
}

}  // namespace aotc::tests
