// SPDX-License-Identifier: Apache-2.0
// A graph with regions as one list of operators over one set of tensors, and a tree that says which of
// them run when. The one thing to know: what goes into a region is its operand itself; what comes out of
// it is moved to a result, and the planner lets most moves be nothing (plan/program.cpp).
#pragma once

#include <vector>

#include "graph/graph.h"

namespace aotc::plan {

// A value that becomes another tensor's: at the end of a branch, before a loop, or at the end of its body,
// where all moves happen at once.
struct Move {
  graph::TensorId from, to;
  bool nothing = false;  // both are the same bytes
};

struct Block;

struct Step {
  enum class Kind : uint8_t { kOp, kIf, kWhile };
  Kind kind = Kind::kOp;
  int op = -1;                // kOp: in the flat graph
  graph::TensorId condition;  // kIf, kWhile: a bool
  std::vector<Block> blocks;  // kIf: then, else; kWhile: condition, body
  std::vector<Move> before;   // kWhile: what the loop begins with
  int begin = 0, end = 0;     // the operators of all blocks: [begin, end)
};

struct Block {
  std::vector<Step> steps;
  std::vector<Move> moves;  // behind the steps
  int begin = 0, end = 0;   // its operators: [begin, end)
};

struct FlatGraph {
  // Without regions. A result of if and while is defined by moves alone.
  graph::Graph graph;
  Block body;
  // By the index that evaluate_graph counts operators with: the one here, -1 for if and while.
  std::vector<int> flat_op;
  std::vector<bool> outermost;  // by operator: it is in no region
};

FlatGraph flatten(graph::Graph graph);

}  // namespace aotc::plan
