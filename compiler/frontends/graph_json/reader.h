// SPDX-License-Identifier: Apache-2.0
// TVM's graph executor graph (JSON and parameters) as Graph IR. The one thing to know: the text and
// the parameters may be anything; the result is a graph of `external` operators or located errors,
// all of them up to a limit, and time and memory are bounded by the size of what was given.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frontends/graph_json/document.h"
#include "support/tvm_params.h"
#include "graph/graph.h"

namespace aotc::graph_json {

using tvm::DataType;
using tvm::Param;

// What a graph says beyond the Graph IR.
struct GraphJsonInfo {
  // One result of one node, in the order of the columns.
  struct EntryInfo {
    int node = 0;
    int index = 0;
    graph::TensorId tensor;             // as `read_graph_json` numbers them
    std::optional<int64_t> storage_id;  // entries of one id share memory in TVM
    bool is_input = false;              // an argument without parameter
    bool is_param = false;
  };

  Document document;
  std::vector<EntryInfo> entries;
  // What the column device_index says for Tensor::device 0, 1, ... TVM writes numbers of DLPack's
  // device types there. Never empty.
  std::vector<int64_t> device_numbers = {0};

  // The sum of the sizes of all storages that hold no parameter, each as large as its largest
  // entry: what TVM's executor allocates. Entries without storage id have one of their own.
  int64_t storage_bytes(const graph::Graph& graph) const;
};

// Of the tensors that operators read and write, parameters aside: the most bytes that are alive at
// one operator when they run in order. Inputs live from the start to their last reader, outputs
// from their definition to the end. No plan without overlap within operators takes less.
int64_t live_bytes(const graph::Graph& graph);

// Nodes `tvm_op` become `external` operators of the packed convention, `__nop` views, and `__copy`
// one that leads to another device `device_copy`. Inputs are the arguments that have no parameter,
// in order of arg_nodes; outputs are the heads. Operators keep their order; Location::op_index is
// the number of the node. Tensors are called as their node, with ":1" and so on for further
// results. `info` may be null.
//
// Reports [graph-syntax], [graph-form], [graph-limit]; [graph-column] (missing, of the wrong length
// or with impossible entries), [graph-index] (nodes, results and rows that do not exist),
// [graph-cycle], [graph-order] (a node reads a later one), [graph-op] (unknown or without what it
// needs), [graph-name] (occurs twice), [graph-argument] (arguments that are none or not listed),
// [graph-type] (element types and shapes that aotc does not have), [graph-params].
Result<graph::Graph> read_graph_json(const std::string& text, const std::string& file,
                                     std::vector<Param> params, GraphJsonInfo* info,
                                     Diagnostics& diags);

}  // namespace aotc::graph_json
