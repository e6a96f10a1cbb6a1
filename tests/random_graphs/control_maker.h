// SPDX-License-Identifier: Apache-2.0
// Random branches and loops. The one thing to know: every loop counts its iterations, by a number or by a
// chain of bools that it carries and shifts, so it ends after at most five, whatever its values are.
#pragma once

#include <functional>

#include "graph_maker.h"

namespace aotc::tests {

class ControlMaker {
 public:
  explicit ControlMaker(Random& random) : random_(random) {}

  // Operators, branches and loops.
  void steps(GraphMaker& g, int depth, int64_t count);
  // What a branch or loop of the graph already reads, or an invalid id.
  graph::TensorId read_before(GraphMaker& g, const graph::TensorType& type);
  // A tensor of the type: one that is there, a constant, a view, something computed, or what a branch
  // gives.
  graph::TensorId make(GraphMaker& g, const graph::TensorType& type, int depth);

 private:
  // An operand of a loop, and what its body makes of it.
  enum class Role { kComputed, kInvariant, kOther, kChain, kCounter };
  struct Carried {
    Role role = Role::kComputed;
    graph::TensorType type;
    graph::TensorId initial;
    // kOther: whose value it is next; kChain: as well, itself for the last; kCounter: what it has to reach.
    size_t other = 0;
  };
  using Finish = std::function<void(GraphMaker& region)>;

  bool branch(GraphMaker& g, int depth, std::vector<graph::TensorType> results);
  bool loop(GraphMaker& g, int depth);
  std::vector<Carried> carried(GraphMaker& g, int depth);
  void add_chain(GraphMaker& g, int depth, std::vector<Carried>& all);
  void add_counter(GraphMaker& g, int depth, std::vector<Carried>& all);
  void finish_condition(GraphMaker& region, const std::vector<Carried>& all, int depth);
  void finish_body(GraphMaker& region, const std::vector<Carried>& all, int depth);
  graph::Graph region(const char* name, GraphMaker& outer, const std::vector<graph::TensorId>& operands, int depth,
                      int64_t most_steps, const Finish& finish);

  graph::TensorId condition(GraphMaker& g);
  graph::TensorId computed_condition(GraphMaker& g);
  graph::TensorId view(GraphMaker& g, const graph::TensorType& type);
  graph::TensorId computed(GraphMaker& g, const graph::TensorType& type);
  graph::TensorId reversed(GraphMaker& g, graph::TensorId id);
  graph::TensorId there(GraphMaker& g, const graph::TensorType& type);
  graph::TensorId something(GraphMaker& g);
  void read_again(GraphMaker& g);
  graph::TensorId again_or_made(GraphMaker& g, const graph::TensorType& type, int depth);
  std::vector<graph::TensorId> captured(GraphMaker& g);

  Random& random_;
  int left_ = 9;  // branches and loops
};

}  // namespace aotc::tests
