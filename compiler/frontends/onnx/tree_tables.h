// SPDX-License-Identifier: Apache-2.0
// Converts decision trees of a file into the tables of tree_ensemble (ops/trees/attributes.h). Every comparison of the
// file becomes `x <= threshold`, with branches swapped or the threshold one float lower.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/rules.h"

namespace aotc::frontends::onnx::classical {

enum class Branch : uint8_t { kLeq, kLt, kGte, kGt };

struct TreeNode {
  bool leaf = false;
  Branch branch = Branch::kLeq;
  bool nan_is_true = false;
  int64_t feature = 0;
  float threshold = 0.0f;
  int64_t if_true = -1, if_false = -1;             // nodes
  std::vector<std::pair<int64_t, float>> weights;  // of a leaf: targets and their weights
};

struct Forest {
  std::vector<TreeNode> nodes;
  std::vector<int64_t> roots;
  int64_t targets = 1;
};

// How the leaves of the trees contribute to a target.
struct Scored {
  std::vector<bool> any;  // true if a leaf contributes to it
  bool every = true;      // true if all leaves of a tree contribute to the same targets
  bool all_positive = true;
};
Scored scored_by(const Forest& forest);

// f32 [rows, targets]: the sums over all trees in their order. Stops if the trees are invalid.
Id sums_of(Call& c, Id x, const Forest& forest);

}  // namespace aotc::frontends::onnx::classical
