// SPDX-License-Identifier: Apache-2.0
// A graph of functions given in C as TVM's graph JSON and parameters: the way back from reader.h,
// for graphs that were changed in between (devices, `__copy` nodes). The one thing to know: a graph
// that was read and not changed gives the document it came from.
#pragma once

#include <vector>

#include "frontends/graph_json/reader.h"

namespace aotc::graph_json {

// Arguments come right before their first reader, or where they were. Entries that `info` knows (by
// node name and result) keep their storage id, others get ids of their own; the column device_index
// is there if the document had it or an operator is not on device 0; control dependencies on nodes
// that are gone are dropped. `info` may be null. Reports [graph-write] for operators that are
// neither external, nor views, nor copies between devices.
Result<Document> write_graph_json(const graph::Graph& graph, const GraphJsonInfo* info,
                                  Diagnostics& diags);

// The constants that operators read, in the order of their arguments.
std::vector<Param> params_of(const graph::Graph& graph);

}  // namespace aotc::graph_json
