// SPDX-License-Identifier: Apache-2.0
// Writes a graph of external operators as TVM's graph JSON and parameters: the inverse of reader.h. It serves graphs
// that passes have changed, for example with devices and `__copy` nodes. An unchanged graph gives the document from
// which it was read.
#pragma once

#include <vector>

#include "frontends/graph_json/reader.h"

namespace aotc::graph_json {

// An argument keeps its original place; a new one is placed right before its first reader. Entries that `info` lists
// (same node name and result index) keep their storage id; others get new ids. The column device_index is written if
// the document had it or a tensor is not on device 0. Control dependencies on removed nodes are dropped. `info` may be
// null. Reports [graph-write] for operators that are neither external, nor views, nor copies between devices.
Result<Document> write_graph_json(const graph::Graph& graph, const GraphJsonInfo* info, Diagnostics& diags);

// The parameters of the graph: constants that operators read, in the order in which they are first read.
std::vector<Param> params_of(const graph::Graph& graph);

}  // namespace aotc::graph_json
