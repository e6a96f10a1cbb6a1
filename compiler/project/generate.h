// SPDX-License-Identifier: Apache-2.0
// Makes a firmware project of a compiled model: template files, the model's C, the runtime if it
// needs one, stored samples, and aotc.json, which tells later commands what the project is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/c_model.h"
#include "project/template.h"
#include "support/file_bytes.h"
#include "support/files.h"

namespace aotc::project {

inline constexpr const char* kManifest = "aotc.json";
// Of the JSON that commands print and of aotc.json: fields are added under one number, and no field
// changes its name or meaning.
inline constexpr int kFormatVersion = 1;

struct ProjectOptions {
  TemplateSource source;
  std::map<std::string, std::string> options;
  std::vector<std::vector<uint8_t>> samples;  // each: bytes of all inputs in order
  std::vector<std::string> labels;
  std::string licence = {};  // an SPDX expression; empty: 0BSD, as everything that aotc writes
  std::string folder = {};  // last part of the project's path: an Arduino sketch is named like its folder
};

// What a result of a layer is for the first stored sample: the firmware computes the same of what it
// gets. Integers must agree to the bit, and floats that no library function has a part in, where 0 has no
// sign and NaN one form. Of other floats it is a weighted sum, with how far off it may be.
struct LayerCheck {
  int call = 0;    // index of the call in the run, as the trace hook counts
  int result = 0;
  int64_t bytes = 0;
  bool floating = false;
  uint32_t checksum = 0;  // FNV-1a, 32 bits, over the bytes
  float sum = 0, tolerance = 0;  // of floats; tolerance 0: the checksum counts
};

// What aotc.json says of the model; written by the driver, read back by build, run and verify.
struct ProjectModel {
  std::string prefix;
  const graph::Graph* graph = nullptr;
  const codegen::ModelFiles* files = nullptr;
  std::string file_name;  // of the model inside the project, "kws.tflite"
  const FileBytes* bytes = nullptr;
  const std::map<std::string, FileBytes>* beside = nullptr;  // files that the model has constants in, by their path from it
  bool runtime = false;  // the emitted code includes the C runtime's headers
  bool workspace = false;
  int64_t workspace_bytes = 0;
  // Devices whose hooks the emitted code calls, as they are in hook names ("Acc"), in order. The
  // first is the board's second core if it has one; the others run on the processor itself.
  std::vector<std::string> devices;
  nlohmann::ordered_json summary;      // "summary": what 'compile --json' prints
  nlohmann::ordered_json description;  // "compile": options to compile it again
  std::string rust_interface = {};     // of a model of the plain form
  std::vector<std::string> needs;      // of kModelNeeds
  std::vector<std::string> pools;      // C identifiers
  std::string tables_section;          // the last of --constants-section, empty without
  std::vector<LayerCheck> checks;      // in the order of the run; none: nothing to compare with
  std::vector<std::string> layer_names;  // of each call
  std::string title;                   // name of the model's file, safe in a C comment
  std::string version;                 // of aotc
  int64_t arena_bytes = 0;
  std::string arena_memory;  // of the board, by name; empty: where the board places arenas
  int64_t stack_bytes = 0;  // what one run takes at most
};

// The command that runs build/firmware.elf, for people.
std::string run_command(const Board& board);
// aotc.json of a project, but for what only models or only operators have.
nlohmann::ordered_json project_manifest(const TemplateDescription& description, const Board& board,
                                        const std::string& prefix, const Rendered& rendered);
// The runtime, for `folder` of a project: with a slash at its end, or empty.
void add_runtime(const std::string& folder, const std::string& licence, OutputDirectory& out);

// Reports [license-form], [template-model] if the kind cannot take such a model, and what render_template does.
Status generate_project(const TemplateDescription& description, const Board& board, const ProjectModel& model, const ProjectOptions& options,
                        OutputDirectory& out, Diagnostics& diags);

}  // namespace aotc::project
