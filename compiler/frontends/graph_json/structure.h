// SPDX-License-Identifier: Apache-2.0
// Checks that the nodes, results, arguments and columns of a document refer to each other correctly. Indices of a
// document may be followed only after `check_structure` returned true.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "frontends/graph_json/document.h"
#include "frontends/graph_json/problems.h"

namespace aotc::graph_json {

struct Structure {
  std::vector<int64_t> results;  // number of results of each node
  std::vector<int64_t> rows;     // first entry of each node, and the number of all at the end
  // Columns of the right type and length; null if the document has none, except dltype and shape, which are required.
  const Column* dltype = nullptr;
  const Column* shape = nullptr;
  const Column* storage_id = nullptr;
  const Column* device_index = nullptr;

  size_t row(int64_t node, int64_t index = 0) const {
    return static_cast<size_t>(rows[static_cast<size_t>(node)] + index);
  }
};

// Reports the errors that reader.h lists up to [graph-argument]; false if there was one.
bool check_structure(const Document& document, Structure& out, Problems& problems);

// The location of node `node` at a position `at` within it.
Location location_of(const Document& document, size_t node, Position at);
inline bool is_argument(const Node& node) { return node.op == "null"; }
// `__nop` and `__copy`, which TVM's executor implements itself.
inline bool is_transfer(std::string_view symbol) { return symbol == "__nop" || symbol == "__copy"; }

}  // namespace aotc::graph_json
