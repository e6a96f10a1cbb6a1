// SPDX-License-Identifier: Apache-2.0
// Writes a graph of external operators as TVM's graph JSON and parameters: the inverse of reader.h, for graphs that
// passes changed (devices, `__copy` nodes). A graph that was read and not changed gives the original document.
#pragma once

#include <vector>

#include "frontends/graph_json/reader.h"

namespace aotc::graph_json {

// Arguments are placed right before their first reader, or where they were. Entries that `info` knows (by node name and
// result) keep their storage id, others get new ids. The column device_index is written if the document had it or an
// operator is not on device 0. Control dependencies on removed nodes are dropped. `info` may be null. Reports
// [graph-write] for operators that are neither external, nor views, nor copies between devices.
Result<Document> write_graph_json(const graph::Graph& graph, const GraphJsonInfo* info, Diagnostics& diags);

// The constants that operators read, in the order of their arguments.
std::vector<Param> params_of(const graph::Graph& graph);

}  // namespace aotc::graph_json
