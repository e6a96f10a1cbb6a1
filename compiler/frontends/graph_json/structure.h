// SPDX-License-Identifier: Apache-2.0
// Checks that the nodes, results, arguments and columns of a document refer to each other correctly. Do not use an
// index from a document as an array index before `check_structure` has returned true.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "frontends/graph_json/document.h"
#include "frontends/graph_json/problems.h"

namespace aotc::graph_json {

struct Structure {
  std::vector<int64_t> results;  // number of results of each node
  std::vector<int64_t> rows;     // index of the first entry of each node; at the end, the number of all entries
  // Columns of the right type and length; null if the document has none, except dltype and shape, which are required.
  const Column* dltype = nullptr;
  const Column* shape = nullptr;
  const Column* storage_id = nullptr;
  const Column* device_index = nullptr;

  size_t row(int64_t node, int64_t index = 0) const {
    return static_cast<size_t>(rows[static_cast<size_t>(node)] + index);
  }
};

// Reports the errors that read_graph_json lists from [graph-column] to [graph-argument]. Returns false if there was
// one.
bool check_structure(const Document& document, Structure& out, Problems& problems);

// The location of position `at` within node `node`.
Location location_of(const Document& document, size_t node, Position at);
inline bool is_argument(const Node& node) { return node.op == "null"; }
// True for `__nop` and `__copy`, which TVM's executor implements itself.
inline bool is_transfer(std::string_view symbol) { return symbol == "__nop" || symbol == "__copy"; }

}  // namespace aotc::graph_json
