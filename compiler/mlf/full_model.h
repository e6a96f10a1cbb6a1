// SPDX-License-Identifier: Apache-2.0
// A compiled model as the files of an archive of style "full-model". The one thing to know: it only
// arranges what codegen printed; the runtime and the templates are given, so that this stage need not
// know where they are kept.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "codegen/c_model.h"
#include "plan/program.h"

namespace aotc::mlf {

struct FullModel {
  std::string prefix;  // of C names
  const plan::Program* program = nullptr;
  const codegen::ModelFiles* c = nullptr;
  codegen::MemoryMode memory = codegen::MemoryMode::kStatic;
  std::string graph_text;             // of the model as it was read
  std::vector<std::string> targets;   // "c -keys=arm_cpu,cpu -mcpu=cortex-m4", the host first
  std::string runtime_version;        // of TVM's interface that the runtime has
  std::map<std::string, std::string> runtime;    // path below runtime/ -> content
  std::map<std::string, std::string> templates;  // name below templates/ -> content
  int64_t date = 0;                   // seconds since 1970
};

// Path in the archive -> content, metadata.json included. Headers go to codegen/host/include under
// their own names; sources to codegen/host/src, numbered: what has the entry point, then the
// operators, then tables.
std::map<std::string, std::string> full_model_files(const FullModel& model);

// What the model is called in the archive: as TVM's interface has it if there is one, else the prefix.
std::string module_name(const FullModel& model);

// The metadata of the model by itself: what stands at modules.NAME.
nlohmann::ordered_json module_metadata(const FullModel& model);

// "2026-11-21 07:25:17Z", as export_datetime has it.
std::string date_text(int64_t seconds);

// "int8", "float32": DLPack's types as TVM spells them.
std::string dtype_text(DType dtype);

}  // namespace aotc::mlf
