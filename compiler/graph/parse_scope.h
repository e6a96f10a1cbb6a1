// SPDX-License-Identifier: Apache-2.0
// Scope: the names, tensors and ports of the graph or region that the text parser is reading.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "graph/text_cursor.h"

namespace aotc::graph {

// True for a name of digits only, which may follow a %.
inline bool is_numeric(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// A %name of the text. Operators hold its index in Scope::names_ until assign_ids.
struct Named {
  std::string_view name;
  TextPosition first_use;
  bool declared = false;
  Tensor tensor;
};

// The state of the parser for one graph or region.
struct Scope {
  Graph graph_;
  std::vector<Named> names_;
  std::map<std::string_view, int32_t> index_;
  std::vector<bool> unnamed_inputs_;  // ports without `as` are named like their tensors
  std::vector<bool> unnamed_outputs_;

  // Indices of names_: numbered ones in order of their numbers, then named ones in order of appearance.
  std::vector<size_t> order_of_ids() const {
    std::vector<size_t> order(names_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      std::string_view x = names_[a].name;
      std::string_view y = names_[b].name;
      bool numeric = is_numeric(x);
      if (numeric != is_numeric(y)) return numeric;
      if (!numeric || x == y) return a < b;
      return x.size() != y.size() ? x.size() < y.size() : x < y;
    });
    return order;
  }
};

}  // namespace aotc::graph
