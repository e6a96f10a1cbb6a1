// SPDX-License-Identifier: Apache-2.0
// Arranges a compiled model as the files of an archive of style "full-model". The caller supplies the runtime and the
// templates, so this stage does not depend on their location.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "codegen/c_model.h"
#include "plan/program.h"

namespace aotc::mlf {

struct FullModel {
  std::string prefix;  // prefix of C names
  const plan::Program* program = nullptr;
  const codegen::ModelFiles* c = nullptr;
  codegen::MemoryMode memory = codegen::MemoryMode::kStatic;
  std::string graph_text;                        // the model's graph before the passes
  std::vector<std::string> targets;              // "c -keys=arm_cpu,cpu -mcpu=cortex-m4", the host first
  std::string runtime_version;                   // version of TVM's interface that the runtime implements
  std::map<std::string, std::string> runtime;    // path below runtime/ -> content
  std::map<std::string, std::string> templates;  // name below templates/ -> content
  int64_t date = 0;                              // seconds since 1970
};

// Path in the archive -> content, including metadata.json. Headers keep their names, in codegen/host/include. Sources
// are numbered, in codegen/host/src: first the one with the entry point, then operators, then tables.
std::map<std::string, std::string> full_model_files(const FullModel& model);

// The model's name in the archive: its name in TVM's interface if the C has that interface, else the prefix.
std::string module_name(const FullModel& model);

// The metadata of the model alone: the value of modules.NAME.
nlohmann::ordered_json module_metadata(const FullModel& model);

// "2026-11-21 07:25:17Z": the format of export_datetime.
std::string date_text(int64_t seconds);

// "int8", "float32": TVM's spelling of DLPack's types.
std::string dtype_text(DType dtype);

}  // namespace aotc::mlf
