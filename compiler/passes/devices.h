// SPDX-License-Identifier: Apache-2.0
// DeviceSet: the devices, other than the host, that operators may run on, as devices.json describes them. Device 0 is
// the host; `device` of graph operators and tensors is an index into DeviceSet::devices.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace aotc::passes {

// The operators that a device supports: globs ('*' and '?') that must all match; an empty one matches everything.
struct OperatorPattern {
  std::string op;      // "conv_*": the operator's name, or its type as the model file spells it
  std::string type;    // "i8": element type of the first result
  std::string shape;   // "1x*x*x64": shape of the first result
  std::string tensor;  // "*/conv2d_5/*": name of the first result
};

enum class Launch : uint8_t {
  kNone,   // the host calls the operator, which reaches the device through its context
  kSync,   // TVMDevice<Name>Launch, followed directly by TVMDevice<Name>Sync
  kAsync,  // the host continues with operators that do not depend on the result
};

struct Device {
  std::string name;  // a C identifier; hooks are TVMDevice<Name>..., contexts the member `name`
  int type = 1;      // DLDeviceType, 1 is a CPU
  std::vector<OperatorPattern> operators;
  std::string pool;             // pool of its tensors; empty: a separate region of the arena
  std::set<std::string> hooks;  // of Activate, Open, Close, Deactivate, Copy
  Launch launch = Launch::kNone;

  // True if the host calls its hooks or passes its context.
  bool has_context() const { return !hooks.empty() || launch != Launch::kNone; }
  // "ethos_u" -> "EthosU", as in the hooks' names.
  std::string camel_name() const;
};

struct DeviceSet {
  std::vector<Device> devices;  // at least the host
  int fallback = 0;             // the device of operators that match no pattern

  DeviceSet() : devices(1) { devices[0].name = "cpu"; }
};

// Parses devices.json (docs/devices.md). Reports [devices-invalid], with line and column for invalid JSON and the
// member's path for other errors; all errors at once.
Result<DeviceSet> parse_devices(const std::string& text, const std::string& file, Diagnostics& diags);

bool fits(const OperatorPattern& pattern, const graph::Graph& graph, const graph::Op& op);

}  // namespace aotc::passes
