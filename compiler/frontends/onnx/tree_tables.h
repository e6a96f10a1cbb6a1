// SPDX-License-Identifier: Apache-2.0
// Decision trees of a file on their way into the tables of tree_ensemble (ops/trees/attributes.h).
// The one thing to know: whatever a file compares with, here it is `x <= threshold`, with sides
// exchanged or the threshold one float lower.
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
  std::vector<std::pair<int64_t, float>> weights;  // of a leaf: targets and what they get
};

struct Forest {
  std::vector<TreeNode> nodes;
  std::vector<int64_t> roots;
  int64_t targets = 1;
};

// What the trees' leaves have of a target.
struct Scored {
  std::vector<bool> any;  // is there a leaf with it?
  bool every = true;      // has every leaf of a tree those that another leaf of it has?
  bool all_positive = true;
};
Scored scored_by(const Forest& forest);

// f32 [rows, targets]: the sums over all trees, in their order. Stops where the trees are none.
Id sums_of(Call& c, Id x, const Forest& forest);

}  // namespace aotc::frontends::onnx::classical
