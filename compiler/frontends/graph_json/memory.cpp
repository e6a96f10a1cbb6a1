// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "frontends/graph_json/reader.h"
#include "ops/operator.h"

namespace aotc::graph_json {

using graph::Graph;
using graph::TensorId;

int64_t GraphJsonInfo::storage_bytes(const Graph& graph) const {
  std::map<int64_t, int64_t> storages;
  std::set<int64_t> with_params;
  int64_t sum = 0;
  for (const EntryInfo& entry : entries) {
    int64_t bytes = graph[entry.tensor].type.bytes();
    if (!entry.storage_id) {
      if (!entry.is_param) sum += bytes;
    } else if (entry.is_param) {
      with_params.insert(*entry.storage_id);
    } else {
      int64_t& size = storages[*entry.storage_id];
      size = std::max(size, bytes);
    }
  }
  for (const auto& [id, bytes] : storages)
    if (!with_params.contains(id)) sum += bytes;
  return sum;
}

int64_t live_bytes(const Graph& graph) {
  // A view is its operand.
  std::vector<int32_t> root(graph.tensors.size());
  for (size_t i = 0; i < root.size(); ++i) root[i] = static_cast<int32_t>(i);
  std::vector<int> first(root.size(), -1), last(root.size(), -1);
  auto touch = [&](TensorId id, int time) {
    if (!id.valid() || graph.is_constant(id)) return;
    size_t at = static_cast<size_t>(root[static_cast<size_t>(id.value)]);
    if (first[at] < 0) first[at] = time;
    last[at] = std::max(last[at], time);
  };
  int count = static_cast<int>(graph.ops.size());
  for (const graph::Port& port : graph.inputs) touch(port.tensor, 0);
  for (int i = 0; i < count; ++i) {
    const graph::Op& op = graph.ops[static_cast<size_t>(i)];
    if (ops::definition_of(op).traits().view && !graph.is_constant(op.operands[0]))
      root[static_cast<size_t>(op.results[0].value)] = root[static_cast<size_t>(op.operands[0].value)];
    for (TensorId id : op.operands) touch(id, i);
    for (TensorId id : op.results) touch(id, i);
  }
  for (const graph::Port& port : graph.outputs) touch(port.tensor, std::max(count - 1, 0));
  std::vector<int64_t> change(static_cast<size_t>(count) + 2);
  for (size_t i = 0; i < root.size(); ++i) {
    if (first[i] < 0) continue;
    change[static_cast<size_t>(first[i])] += graph.tensors[i].type.bytes();
    change[static_cast<size_t>(last[i]) + 1] -= graph.tensors[i].type.bytes();
  }
  int64_t alive = 0, most = 0;
  for (int64_t c : change) most = std::max(most, alive += c);
  return most;
}

}  // namespace aotc::graph_json
