// SPDX-License-Identifier: Apache-2.0
// Reads a graph of TVM's graph executor (JSON and parameters) into Graph IR. Text and parameters are untrusted. The
// graph has `external` operators, which are calls of C functions that aotc does not generate. Errors are reported with
// their location, up to a limit. Time and memory are bounded by the size of the input.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frontends/graph_json/document.h"
#include "graph/graph.h"
#include "support/tvm_params.h"

namespace aotc::graph_json {

using tvm::DataType;
using tvm::Param;

// Properties of a TVM graph that Graph IR does not represent.
struct GraphJsonInfo {
  // One result of one node. `entries` has the order of the columns' values.
  struct EntryInfo {
    int node = 0;
    int index = 0;
    graph::TensorId tensor;             // id in the graph that `read_graph_json` returns
    std::optional<int64_t> storage_id;  // entries with equal ids share memory in TVM
    bool is_input = false;              // an argument without parameter
    bool is_param = false;
  };

  Document document;
  std::vector<EntryInfo> entries;
  // By Tensor::device (0, 1, ...): the value in the column device_index, a DLPack device type. Never empty.
  std::vector<int64_t> device_numbers = {0};

  // Bytes that TVM's executor allocates: the sum over all storages that hold no parameter. A storage is as large as its
  // largest entry. An entry without a storage id has its own storage.
  int64_t storage_bytes(const graph::Graph& graph) const;
};

// Peak of live tensors in bytes when operators run in order, parameters excluded. Inputs are live from the start to
// their last reader, outputs from their definition to the end. A memory plan needs at least this many bytes, unless an
// operator's results overlap its operands.
int64_t live_bytes(const graph::Graph& graph);

// A `tvm_op` node becomes an `external` operator with TVM's packed calling convention. A `__nop` becomes a view, and a
// `__copy` to another device becomes `device_copy`. The graph's inputs are the arguments that have no parameter, in
// order of arg_nodes; its outputs are the heads. Operators keep their order, and Location::op_index is the number of
// the node. A tensor has the name of its node, followed by ":1", ":2" and so on for further results. `info` may be
// null.
//
// Reports [graph-syntax], [graph-form], [graph-limit]; [graph-column] (missing, of the wrong length or with impossible
// entries), [graph-index] (nodes, results and rows that do not exist), [graph-cycle], [graph-order] (a node reads a
// later one), [graph-op] (unknown, or a required attribute is missing), [graph-name] (occurs twice), [graph-argument]
// (not an argument, or not listed), [graph-type] (element types and shapes that aotc does not have), [graph-params].
Result<graph::Graph> read_graph_json(const std::string& text, const std::string& file, std::vector<Param> params,
                                     GraphJsonInfo* info, Diagnostics& diags);

}  // namespace aotc::graph_json
