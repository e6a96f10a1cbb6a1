// SPDX-License-Identifier: Apache-2.0
// Generates a firmware project for a compiled model: template files, the model's C, the C runtime if it is needed,
// stored samples, and aotc.json, the manifest for later commands.
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
// Version of the JSON that commands print and of aotc.json. While this version stays the same, fields may be added, but
// no field changes its name or meaning.
inline constexpr int kFormatVersion = 1;

struct ProjectOptions {
  TemplateSource source;
  std::map<std::string, std::string> options;
  std::vector<std::vector<uint8_t>> samples;  // each: bytes of all inputs in order
  std::vector<std::string> labels;
  std::string licence = {};  // an SPDX expression; empty: 0BSD, as everything that aotc writes
  std::string folder = {};   // last component of the project's path: an Arduino sketch is named like its folder
};

// A check of a layer's result for the first stored sample. The firmware computes the same figures from its own result.
// Integers, and floats computed without library functions, must be bit-identical; before the comparison, -0 becomes 0,
// and all NaNs become one bit pattern. Other floats are checked by a weighted sum with a tolerance.
struct LayerCheck {
  int call = 0;  // index of the call in the run, counted like the trace hook
  int result = 0;
  int64_t bytes = 0;
  bool floating = false;
  uint32_t checksum = 0;         // FNV-1a, 32 bits, over the bytes
  float sum = 0, tolerance = 0;  // only for floats; tolerance 0: only the checksum counts
};

// The data of a compiled model that a project needs. Part of it is stored in aotc.json, which build, run and verify
// read.
struct ProjectModel {
  std::string prefix;
  const graph::Graph* graph = nullptr;
  const codegen::ModelFiles* files = nullptr;
  std::string file_name;  // the model's name in the project: "kws.tflite"
  const FileBytes* bytes = nullptr;
  const std::map<std::string, FileBytes>* beside = nullptr;  // files with constants, by path relative to the model
  bool runtime = false;  // true if the emitted code includes the C runtime's headers
  bool workspace = false;
  int64_t workspace_bytes = 0;
  // Devices with hooks that the emitted code calls, named as in hook names ("Acc"), in order. The first one is the
  // board's second core if it has one; the others run on the processor itself.
  std::vector<std::string> devices;
  nlohmann::ordered_json summary;        // "summary": the output of 'compile --json'
  nlohmann::ordered_json description;    // "compile": options for compiling the model again
  std::string rust_interface = {};       // empty unless the model supports it (rust_interface.h)
  std::vector<std::string> needs;        // entries of kModelNeeds
  std::vector<std::string> pools;        // C identifiers
  std::string tables_section;            // the last section of --constants-section; empty without the option
  std::vector<LayerCheck> checks;        // in execution order; empty: nothing to compare
  std::vector<std::string> layer_names;  // name of each call's layer
  std::string title;                     // name of the model's file, safe in a C comment
  std::string version;                   // version of aotc
  int64_t arena_bytes = 0;
  std::string arena_memory;  // name of a memory of the board; empty: the board's default for arenas
  int64_t stack_bytes = 0;   // upper bound for one run
};

// The command that runs build/firmware.elf, for display.
std::string run_command(const Board& board);
// The content of aotc.json, without the members that only projects with a model or only projects with operators have.
nlohmann::ordered_json project_manifest(const TemplateDescription& description, const Board& board,
                                        const std::string& prefix, const Rendered& rendered);
// Adds the C runtime to `folder` of a project. `folder` has a trailing slash, or is empty.
void add_runtime(const std::string& folder, const std::string& licence, OutputDirectory& out);

// Reports [license-form], [template-model] if the kind does not support such a model, and the errors of
// render_template.
Status generate_project(const TemplateDescription& description, const Board& board, const ProjectModel& model,
                        const ProjectOptions& options, OutputDirectory& out, Diagnostics& diags);

}  // namespace aotc::project
