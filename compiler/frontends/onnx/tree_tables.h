// SPDX-License-Identifier: Apache-2.0
// Converts the decision trees of an ONNX file to the tables of aotc's operator tree_ensemble (ops/trees/attributes.h).
// Every comparison becomes `x <= threshold`: the branches are swapped, or the threshold becomes the next lower float. A
// test for equality or membership becomes a comparison of a further feature, which is 1 or 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/rules.h"

namespace aotc::frontends::onnx::classical {

enum class Branch : uint8_t { kLeq, kLt, kGte, kGt, kMember };

struct TreeNode {
  bool leaf = false;
  Branch branch = Branch::kLeq;
  bool nan_is_true = false;
  int64_t feature = 0;
  float threshold = 0.0f;
  std::vector<float> members;                      // of kMember: true for these values
  int64_t if_true = -1, if_false = -1;             // nodes
  std::vector<std::pair<int64_t, float>> weights;  // of a leaf: outputs and the weight added to each
};

struct Forest {
  std::vector<TreeNode> nodes;
  std::vector<int64_t> roots;
  int64_t targets = 1;
};

// Facts about the leaf weights of a forest, by target (output).
struct Scored {
  std::vector<bool> any;  // by target: true if a leaf has a weight for it
  bool every = true;      // true if, in each tree, all leaves have weights for the same targets
  bool all_positive = true;
};
Scored scored_by(const Forest& forest);

// Returns f32 [rows, targets]: for each row, the sum of the leaf weights over all trees, in the order of the trees.
// Stops (see Builder::stop) if the trees are invalid.
Id sums_of(Call& c, Id x, Forest forest);

}  // namespace aotc::frontends::onnx::classical
