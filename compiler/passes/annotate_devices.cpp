// SPDX-License-Identifier: Apache-2.0
#include "passes/pass.h"

#include <algorithm>

#include <fmt/format.h>

#include "ops/operator.h"
#include "passes/devices.h"

namespace aotc::passes {

namespace {

int device_for(const DeviceSet& set, const graph::Graph& graph, const graph::Op& op) {
  for (size_t d = 0; d < set.devices.size(); ++d) {
    const auto& patterns = set.devices[d].operators;
    if (std::any_of(patterns.begin(), patterns.end(), [&](const OperatorPattern& p) { return fits(p, graph, op); }))
      return static_cast<int>(d);
  }
  return set.fallback;
}

// A device that the description does not have cannot be compiled for.
bool check_known(int device, const Location& where, const PassOptions& options, Diagnostics& diags) {
  size_t known = options.devices ? options.devices->devices.size() : 1;
  if (device >= 0 && static_cast<size_t>(device) < known) return true;
  diags
      .error(where, "device-unknown",
             fmt::format("the operator runs on device {}, but {} described", device,
                         known == 1 ? "only the host is" : fmt::format("{} devices are", known)))
      .help("describe the device with --devices FILE (docs/devices.md)");
  return false;
}

// A pattern with a slip of the pen fits nothing, and everything would quietly stay on the host.
void warn_of_idle_devices(const graph::Graph& graph, const DeviceSet& set, Diagnostics& diags) {
  for (size_t d = 1; d < set.devices.size(); ++d) {
    bool used = std::any_of(graph.ops.begin(), graph.ops.end(),
                            [&](const graph::Op& op) { return op.device == static_cast<int>(d); });
    if (used || graph.ops.empty()) continue;
    diags
        .warning(graph.location_of({}), "device-idle",
                 fmt::format("no operator runs on device '{}'", set.devices[d].name))
        .help("the patterns of the device match no operator; 'aotc report' lists the operators by name");
  }
}

}  // namespace

Status annotate_devices(graph::Graph& graph, const PassOptions& options, Diagnostics& diags) {
  bool good = true;
  for (const graph::Port& input : graph.inputs)
    good = check_known(graph[input.tensor].device, graph.location_of(input.tensor), options, diags) && good;
  for (const graph::State& state : graph.states)
    good = check_known(graph[state.before].device, graph.location_of(state.before), options, diags) && good;
  for (graph::Op& op : graph.ops) {
    const ops::Traits traits = ops::definition_of(op).traits();
    if (op.device == 0 && options.devices && !traits.device_copy && op.regions.empty())
      op.device = traits.view ? graph[op.operands[0]].device : device_for(*options.devices, graph, op);
    good = check_known(op.device, op.location, options, diags) && good;
    // A copy runs on the host, and its result is where the model's file has it.
    if (!traits.device_copy)
      for (graph::TensorId id : op.results) graph[id].device = op.device;
  }
  if (good && options.devices) warn_of_idle_devices(graph, *options.devices, diags);
  return good ? success() : Status(kFailure);
}

}  // namespace aotc::passes
