// SPDX-License-Identifier: Apache-2.0
// Checks the metadata.json of an archive: first the style, then the version, then all keys that the version requires.
// All missing keys are reported together.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mlf/archive.h"

namespace aotc::mlf {

// Parses with limits on nesting and size. Reports [mlf-metadata] and [mlf-limit].
Result<nlohmann::ordered_json> parse_metadata(std::string_view text, const std::string& name, Diagnostics& diags);

// Fills version and style of `archive` from its metadata. Reports [mlf-style], [mlf-version],
// [mlf-missing-key] and [mlf-key].
Status check_metadata(Archive& archive, const std::string& name, std::string_view wanted_style, Diagnostics& diags);

// The parts of the metadata with the same meaning in every version.
struct MainMemory {
  int64_t device = 0;
  int64_t workspace_bytes = 0;
  std::optional<int64_t> constants_bytes, io_bytes, state_bytes;
};
struct PortInfo {
  std::string name, dtype;
  int64_t bytes = 0;
};
struct FunctionWorkspace {
  std::string name;
  int64_t device = 0, bytes = 0;
};
struct ModuleInfo {
  std::string name, export_datetime;
  std::vector<std::string> executors;
  std::vector<std::string> targets;  // one string for each target; "KEY: STRING" if targets are an object
  std::vector<std::string> external_dependencies;
  std::vector<MainMemory> main;
  std::vector<PortInfo> inputs, outputs;
  std::vector<FunctionWorkspace> functions;
  int64_t storage_ids = 0, storage_bytes = 0;  // for the graph executor: number and size of its buffers
};
struct OperatorParameter {
  std::string binding;  // empty if the archive does not specify it
  std::string dtype;
  std::vector<int64_t> shape;
  int64_t bytes = 0;
};
struct OperatorInfo {
  std::string name;
  std::vector<OperatorParameter> parameters;
};

// The models of a checked archive. For operator style, one entry with the targets of the operators.
std::vector<ModuleInfo> modules_of(const Archive& archive);
// The functions of a checked archive of operator style; empty for full models.
std::vector<OperatorInfo> operators_of(const Archive& archive);

}  // namespace aotc::mlf
