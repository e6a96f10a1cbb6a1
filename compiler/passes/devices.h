// SPDX-License-Identifier: Apache-2.0
// DeviceSet: the devices that can run operators, as the user's devices.json describes them. Device 0 is the host. The
// member `device` of operators and tensors of a graph is an index into DeviceSet::devices.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace aotc::passes {

// Selects operators that a device supports. Each member is a glob pattern ('*' and '?'), and all must match; an empty
// pattern matches everything.
struct OperatorPattern {
  std::string op;      // "conv_*": matches the operator's name, or its type as the model file spells it
  std::string type;    // "i8": matches the element type of the first result
  std::string shape;   // "1x*x*x64": matches the shape of the first result
  std::string tensor;  // "*/conv2d_5/*": matches the name of the first result
};

enum class Launch : uint8_t {
  kNone,   // the host calls the operator's function, which reaches the device through its context
  kSync,   // the host calls TVMDevice<Name>Launch, then directly TVMDevice<Name>Sync
  kAsync,  // the host continues after the launch with operators that do not need the result
};

struct Device {
  std::string name;  // a C identifier: prefix of hooks (TVMDevice<Name>...), and member with the context
  int type = 1;      // DLDeviceType, 1 is a CPU
  std::vector<OperatorPattern> operators;
  std::string pool;             // memory pool of its tensors; empty: a separate region of the arena
  std::set<std::string> hooks;  // its hooks: a subset of Activate, Open, Close, Deactivate, Copy
  Launch launch = Launch::kNone;

  // True if the device has a context: the host calls its hooks or launches operators on it.
  bool has_context() const { return !hooks.empty() || launch != Launch::kNone; }
  // The name as in the names of hooks: "EthosU" for "ethos_u".
  std::string camel_name() const;
};

struct DeviceSet {
  std::vector<Device> devices;  // at least the host
  int fallback = 0;             // the device of operators that match no pattern

  DeviceSet() : devices(1) { devices[0].name = "cpu"; }
};

// Parses devices.json (docs/devices.md). Reports all errors as [devices-invalid]: with line and column for invalid
// JSON, else with the path of the member.
Result<DeviceSet> parse_devices(const std::string& text, const std::string& file, Diagnostics& diags);

bool fits(const OperatorPattern& pattern, const graph::Graph& graph, const graph::Op& op);

}  // namespace aotc::passes
