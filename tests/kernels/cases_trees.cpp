// SPDX-License-Identifier: Apache-2.0
// Kernel of cores/arm/dsp/trees.h.
#include <bit>
#include <optional>
#include <random>

#include "cases.h"
#include "cores/arm/dsp/trees.h"

namespace aotc::tests {

namespace {

constexpr int64_t kRows = 1000;

struct Shape {
  int64_t levels, below, trees, values;
  bool shared = false;
  int bits = 5;  // of columns below
};

// Trees of any numbers. Some thresholds are features: equal ones go on.
class TreeCase {
 public:
  TreeCase(Pattern pattern, const Shape& shape)
      : shape_(shape),
        data_(pattern, static_cast<uint32_t>(shape.levels * 8 + shape.trees)),
        random_(static_cast<uint32_t>(shape.values)) {
    heap_.levels = shape.levels;
    heap_.levels_below = shape.below;
    heap_.column_bits = shape.below > 0 ? shape.bits : 8;
    data_.add_words(keys_, int64_t{1} << heap_.column_bits);
  }

  KernelCase make() {
    for (int64_t i = 0; i < shape_.trees * heap_.nodes(); ++i) {
      heap_.features.push_back(static_cast<uint8_t>(random_() % keys_.size()));
      heap_.words.push_back(threshold(heap_.features.back()));
    }
    for (int64_t tree = 0; tree < shape_.trees; ++tree) {
      const size_t before = heap_.below.size();
      for (int64_t i = 0; i <= heap_.nodes(); ++i) heap_.places.push_back(place(before, shape_.below));
      heap_.counts.push_back(static_cast<int64_t>(heap_.below.size() - before));
    }
    heap_.places[0] = {true, kRows - 1, 0};
    heap_.places[static_cast<size_t>(heap_.nodes())] = {true, 0, 0};
    std::optional<ops::trees::SharedValues> shared;
    if (shape_.shared) shared.emplace();
    std::vector<int32_t> leaves;
    for (int64_t i = 0; i < kRows * shape_.values; ++i) {
      leaves.push_back(std::bit_cast<int32_t>(static_cast<float>(random_() % 2000) * 0.37f - 300.0f));
      if (shared) shared->places.push_back(static_cast<int64_t>(random_() % 600));
    }
    return {arm::tree_sums_kernel(heap_, shape_.values, shape_.shared),
            {table(*arm::tree_table(heap_, shape_.trees, shape_.values, shared)), table(leaves), table(keys_),
             data_.words(shape_.values)},
            {}};
  }

 private:
  int32_t threshold(int64_t column) {
    std::vector<int32_t> any;
    data_.add_words(any, 1);
    if (random_() % 4 != 0) return any[0];
    return static_cast<int32_t>(static_cast<uint32_t>(keys_[static_cast<size_t>(column)]) ^ 0x80000000u);
  }

  // A leaf, or a node with what is below it.
  ops::trees::Place place(size_t first, int64_t levels) {
    if (levels == 0 || random_() % 3 == 0) return {true, static_cast<int64_t>(random_() % 100), 0};
    const size_t at = heap_.below.size();
    const auto column = static_cast<int64_t>(random_() % keys_.size());
    heap_.below.push_back(threshold(column));
    heap_.children.resize(2 * at + 2);
    for (size_t side : {0, 1}) {
      const ops::trees::Place child = place(first, levels - 1);
      heap_.children[2 * at + side] = child;
    }
    return {false, static_cast<int64_t>(at - first), column};
  }

  Shape shape_;
  Data data_;
  std::mt19937 random_;
  ops::trees::Heap heap_;
  std::vector<int32_t> keys_;
};

}  // namespace

void add_tree_cases(std::vector<KernelCase>& to) {
  for (Pattern pattern : {Pattern::kRandom, Pattern::kExtremes})
    for (const Shape& shape : {Shape{1, 0, 3, 1},
                               {2, 0, 20, 3},
                               {10, 0, 2, 8},
                               {6, 0, 1, 4},
                               {2, 0, 5, 2, true},
                               {1, 3, 7, 1},
                               {3, 5, 9, 4},
                               {5, 1, 2, 8},
                               {2, 4, 6, 3, true},
                               {1, 2, 4, 1, false, 0}})
      to.push_back(TreeCase(pattern, shape).make());
}

}  // namespace aotc::tests
