// SPDX-License-Identifier: Apache-2.0
// Scope: the state of Graph IR's text parser for the graph or region that it is reading.
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

// True if the name consists of digits only.
inline bool is_numeric(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// A tensor name (%name) of the text. Until assign_ids, operators refer to it by its index in Scope::names_.
struct Named {
  std::string_view name;
  TextPosition first_use;
  bool declared = false;
  Tensor tensor;
};

struct Scope {
  Graph graph_;
  std::vector<Named> names_;
  std::map<std::string_view, int32_t> index_;
  std::vector<bool> unnamed_inputs_;  // by port: true if it has no `as NAME` and takes its tensor's name
  std::vector<bool> unnamed_outputs_;

  // Returns the indices of names_ in the order of tensor ids: numeric names by number, then other names by first
  // appearance.
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
