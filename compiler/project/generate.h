// Makes a firmware project of a compiled model: template files, the model's C, the runtime if it
// needs one, stored samples, and aotc.json, which tells later commands what the project is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/c_model.h"
#include "project/template.h"
#include "support/files.h"

namespace aotc::project {

inline constexpr const char* kManifest = "aotc.json";

struct ProjectOptions {
  std::string kind = "bare_metal";
  std::string templates_dir;  // override
  std::map<std::string, std::string> options;
  std::vector<std::vector<uint8_t>> samples;  // each: bytes of all inputs in order
  std::vector<std::string> labels;
};

// What aotc.json says of the model; written by the driver, read back by build, run and verify.
struct ProjectModel {
  std::string prefix;
  const codegen::ModelFiles* files = nullptr;
  std::string file_name;  // of the model inside the project, "kws.tflite"
  const std::vector<uint8_t>* bytes = nullptr;
  bool runtime = false;  // the emitted code includes the C runtime's headers
  bool workspace = false;
  int64_t workspace_bytes = 0;
  // Devices whose hooks the emitted code calls, as they are in hook names ("Acc"), in order. The
  // first is the board's second core if it has one; the others run on the processor itself.
  std::vector<std::string> devices;
  nlohmann::ordered_json description;  // "compile": options to compile it again
};

// The command that runs build/firmware.elf, for people.
std::string run_command(const Board& board);
// The runtime, for `folder` of a project.
void add_runtime(const std::string& folder, OutputDirectory& out);

Status generate_project(const Board& board, const ProjectModel& model, const ProjectOptions& options,
                        OutputDirectory& out, Diagnostics& diags);

}  // namespace aotc::project
