// SPDX-License-Identifier: Apache-2.0
// Windows that a random graph keeps in its states, in all forms that models have: rows put behind what is kept before
// the oldest are left out or after, and read before or after, whole or what is left.
#pragma once

#include "graph_maker.h"

namespace aotc::tests {

class WindowMaker {
 public:
  explicit WindowMaker(GraphMaker& graph) : g_(graph) {}

  // One more window over rows that are there, if any can be.
  void add();
  // Of windows whose next value is taken behind everything else.
  void finish();

 private:
  bool slides_first(size_t state, graph::TensorId rows, int axis);
  bool pushes_first(size_t state, graph::TensorId rows, int axis);
  bool join(const std::vector<graph::TensorId>& operands, int axis);
  bool take(size_t state, graph::TensorId whole, int axis, int64_t begin, int64_t count);
  // By one operator at least; others may come.
  void read(graph::TensorId id);
  // The last result, perhaps seen in another shape and back.
  graph::TensorId seen(graph::TensorId id);

  GraphMaker& g_;
  struct Later {
    size_t state;
    graph::TensorId whole;
    int axis;
    int64_t begin;
  };
  std::vector<Later> later_;
};

}  // namespace aotc::tests
