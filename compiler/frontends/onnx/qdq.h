// SPDX-License-Identifier: Apache-2.0
// Fuses groups of DequantizeLinear, a float operator and QuantizeLinear in quantised ONNX models into one quantised
// operator each. The fused operator rounds like the one that onnxruntime uses by default. The nodes of the file are
// rewritten before any of them is imported. A group that onnxruntime does not fuse stays in float.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontends/onnx/builder.h"
#include "frontends/onnx/messages.h"

namespace aotc::frontends::onnx {

// The ONNX domain of the nodes that replace groups. Importers accept it even if the model does not import it.
inline constexpr std::string_view kGroups = "aotc.groups";

// The constants of a graph by name: those of the file, and those that nodes compute of constants.
class Constants {
 public:
  struct Named {
    Id id;  // invalid if the model exceeds a limit
    std::string_view name;
  };

  virtual ~Constants() = default;
  virtual Builder& builder() = 0;
  // Returns an invalid id if the tensor is not constant.
  virtual Id find(std::string_view name) = 0;
  // The result of a node on `x` in the place of its operand 0, which is constant too; invalid if it has none.
  virtual Id apply(const Node& node, Id x) = 0;
  // Adds a constant, which nodes may read by its name.
  virtual Named add_ints(const Ints& values, graph::Shape shape, DType type) = 0;
  virtual Named add_floats(const std::vector<float>& values) = 0;
};

// True if the graph may have groups.
bool has_groups(const std::vector<Node>& nodes);

struct Folded {
  std::vector<Node> nodes;
  std::vector<std::pair<size_t, std::string>> notes;  // for the user, by index of a node that stays in float
};

// Returns the graph's nodes with each group replaced; a node with an empty type was removed. Constants of a group may
// have any form: the integers of weights may come from a QuantizeLinear of floats, or be moved after they were
// dequantised, and a bias may be float. `literal`: replaces a group only if onnxruntime's operator rounds as the group
// specifies. Convolutions and matrix products do, except that float sums are rounded; Add, Mul, Softmax, pools and
// float biases do not. `version`: version of the operator set.
Folded fold_groups(const Graph& graph, std::vector<Node> nodes, int64_t version, bool literal, Constants& constants);

}  // namespace aotc::frontends::onnx
