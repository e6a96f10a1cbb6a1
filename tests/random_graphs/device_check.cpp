// SPDX-License-Identifier: Apache-2.0
#include "device_check.h"

#include <algorithm>
#include <random>

#include <fmt/format.h>

#include "../tools/compare.h"
#include "ops/operator.h"
#include "passes/pass.h"

namespace aotc::tests {

namespace {

using graph::TensorId;
using plan::Storage;
using plan::StorageKind;

passes::DeviceSet three_devices(std::mt19937_64& random) {
  passes::DeviceSet set;
  set.devices.resize(3);
  set.devices[1].name = "one";
  set.devices[1].launch = passes::Launch::kAsync;
  set.devices[2].name = "two";
  if (random() % 2 == 0) set.devices[2].pool = "own";
  return set;
}

void deal_out(graph::Graph& graph, std::mt19937_64& random) {
  for (graph::Op& op : graph.ops) {
    op.device = static_cast<int>(random() % 4 % 3);
    for (TensorId id : op.results) graph[id].device = op.device;
  }
}

// Copies are the only operators that touch tensors of two devices, and there is one for each pair of a
// tensor and a device.
std::string check_partition(const graph::Graph& graph) {
  std::vector<std::pair<TensorId, int>> copied;
  for (const graph::Op& op : graph.ops) {
    if (ops::definition_of(op).traits().device_copy) {
      std::pair copy{op.operands[0], graph[op.results[0]].device};
      if (graph[copy.first].device == copy.second) return "a copy stays on its device";
      if (std::find(copied.begin(), copied.end(), copy) != copied.end()) return "a copy is made twice";
      copied.push_back(copy);
      continue;
    }
    for (const auto* ids : {&op.operands, &op.results})
      for (TensorId id : *ids)
        if (id.valid() && !graph.is_constant(id) && graph[id].device != op.device)
          return fmt::format("operator {} is on device {}, a tensor of it on {}", op.name(), op.device,
                             graph[id].device);
  }
  return "";
}

// Every byte of a pool belongs to one device.
std::string check_regions(const plan::Program& program) {
  struct Range {
    Storage storage;
    int64_t bytes;
    int device;
  };
  std::vector<Range> ranges;
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    const graph::Tensor& t = program.graph.tensors[i];
    if (program.tensors[i].kind == StorageKind::kArena)
      ranges.push_back({program.tensors[i], t.type.bytes(), t.device});
  }
  for (const plan::ProgramCall& call : program.calls)
    if (call.scratch_bytes > 0)
      ranges.push_back(
          {{StorageKind::kArena, -1, call.scratch_offset, call.scratch_pool}, call.scratch_bytes, call.device});
  for (const Range& a : ranges) {
    const plan::Pool& pool = program.pools[static_cast<size_t>(a.storage.pool)];
    if (a.storage.offset < 0 || a.storage.offset + a.bytes > pool.bytes)
      return fmt::format("{} bytes at {} leave pool '{}'", a.bytes, a.storage.offset, pool.name);
    if (pool.limit >= 0 && pool.bytes > pool.limit) return "a pool is larger than it may be";
    for (const Range& b : ranges) {
      bool apart = a.storage.pool != b.storage.pool || a.storage.offset >= b.storage.offset + b.bytes ||
                   b.storage.offset >= a.storage.offset + a.bytes;
      if (a.device != b.device && !apart) return "bytes serve two devices";
    }
  }
  return "";
}

}  // namespace

std::string check_devices(graph::Graph graph, const plan::PlanOptions& given, uint64_t seed,
                          const Batches::Runs& runs) {
  std::mt19937_64 random(seed);
  plan::PlanOptions options = given;
  options.devices = three_devices(random);
  deal_out(graph, random);
  Diagnostics diags;
  passes::PassOptions pass_options;
  pass_options.devices = &options.devices;
  if (!passes::partition_devices(graph, pass_options, diags) || !passes::order_devices(graph, pass_options, diags) ||
      !ops::verify_graph(graph, diags))
    return "does not verify: " + diags.str();
  if (std::string bad = check_partition(graph); !bad.empty()) return bad;
  if (random() % 2 == 0) options.pools = {{"slow", INT32_MAX}, {"fast", static_cast<int64_t>(random() % 2000), true}};
  if (random() % 3 == 0) options.pools.push_back({"tables", INT32_MAX, false, true});
  auto program = plan::plan_program(std::move(graph), options, diags);
  if (!program) return "cannot be planned: " + diags.str();
  if (std::string bad = check_regions(*program); !bad.empty()) return bad;
  std::vector<uint8_t> state;
  for (size_t s = 0; s < runs.inputs.size(); ++s) {
    if (s == 0 || s == runs.reset) state = plan::initial_state(*program);
    auto out = plan::run_program(*program, runs.inputs[s], diags, nullptr, &state);
    if (!out) return "TIR traps: " + diags.str();
    for (size_t o = 0; o < out->size(); ++o) {
      DType type = program->graph[program->graph.outputs[o].tensor].type.dtype;
      std::string d = difference((*out)[o], runs.expected[s][o], type, 0);
      if (!d.empty() && d.find("(0 ulp)") == std::string::npos) return fmt::format("run {}, output {}: {}", s, o, d);
    }
  }
  return "";
}

}  // namespace aotc::tests
