// SPDX-License-Identifier: Apache-2.0
// The first half of making sense of a document: do its nodes, results, arguments and columns refer
// to each other rightly? The one thing to know: only after `check_structure` said yes may indices
// of the document be followed.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "frontends/graph_json/document.h"
#include "frontends/graph_json/problems.h"

namespace aotc::graph_json {

struct Structure {
  std::vector<int64_t> results;  // of each node
  std::vector<int64_t> rows;     // first entry of each node, and the number of all at the end
  // Of the right type and length; null where the document has none, which dltype and shape may not.
  const Column* dltype = nullptr;
  const Column* shape = nullptr;
  const Column* storage_id = nullptr;
  const Column* device_index = nullptr;

  size_t row(int64_t node, int64_t index = 0) const {
    return static_cast<size_t>(rows[static_cast<size_t>(node)] + index);
  }
};

// Reports what reader.h lists up to [graph-argument]; false if anything was.
bool check_structure(const Document& document, Structure& out, Problems& problems);

// Node `node`, at a place that belongs to it.
Location location_of(const Document& document, size_t node, Position at);
inline bool is_argument(const Node& node) { return node.op == "null"; }
// `__nop` and `__copy`, which TVM's executor does itself.
inline bool is_transfer(std::string_view symbol) { return symbol == "__nop" || symbol == "__copy"; }

}  // namespace aotc::graph_json
