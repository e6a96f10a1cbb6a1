// SPDX-License-Identifier: Apache-2.0
// A generated project on disk, as build, run, verify and report find it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "driver/compilation.h"
#include "driver/terminal.h"
#include "project/board.h"
#include "support/process.h"

namespace aotc::driver {

struct ProjectDir {
  std::string path;
  nlohmann::json manifest;
  project::Board board;

  std::string image() const { return path + "/" + manifest.value("image", ""); }
  CompileOptions compile_options() const;
  // The model's file is in the project.
  bool has_model() const { return manifest.contains("model"); }
  // Its firmware streams inputs and every result: what `verify` needs of a board.
  bool can_verify() const { return manifest.value("verify", true); }
  bool has_image() const { return manifest.contains("image"); }
  bool builds() const { return manifest.contains("build"); }
};

// Reports [project-invalid] if the directory holds no aotc.json that this version can read.
Result<ProjectDir> open_project(const std::string& path, Diagnostics& diags);
bool is_project(const std::string& path);

// Verify and report compile the model again: reports [project-no-model] if the project lacks it.
bool require_model(const ProjectDir& project, Diagnostics& diags);

// Reports [not-built] if the firmware's image is not there.
bool require_image(const ProjectDir& project, Diagnostics& diags);

// The part of CompileOptions that aotc.json keeps.
nlohmann::ordered_json describe_compile(const CompileOptions& options);
// What an aotc.json of compiled C begins with.
nlohmann::ordered_json begin_manifest(const char* kind, const std::string& prefix, const CompileOptions& options);
// Has what `compile_options` reads of a description the types of what is written?
bool is_description(const nlohmann::json& compile);

// Reports [project-directory] if the absolute path of a project has a character that CMake, Ninja or Make read as
// syntax.
bool check_project_path(const std::string& path, Diagnostics& diags);

// Configures and builds; returns an exit code, reporting [tool-missing] or [build-failed].
int build_project(const ProjectDir& project, bool quiet, Diagnostics& diags);

// Runs the firmware with arguments in its emulator (or natively), in a working directory if given.
struct FirmwareRun {
  ProcessResult process;
  // Values of the "@aotc key=value" lines, last one wins; and the lines of operators.
  nlohmann::ordered_json values;
  std::vector<int64_t> op_ticks;
};
Result<FirmwareRun> run_firmware(const ProjectDir& project,
                                 const std::vector<std::string>& arguments, int timeout_seconds,
                                 Diagnostics& diags, const std::string& directory = "");

// Takes the figures out of what it printed.
void read_figures(FirmwareRun& run);
// By these, of firmware that does not end, or has no way to end with a code.
int exit_code_said(const FirmwareRun& run);

// Of a project for a board whose emulator is another machine, where the firmware is made for the board
// itself: the one that is built for that machine, in a folder of its own. Else the project as it is.
ProjectDir in_emulator(const ProjectDir& project);

// Code and table bytes of an object file, from the board's `size`.
struct ModelSize {
  int64_t code = 0, constants = 0, data = 0;
};
std::optional<ModelSize> object_size(const project::Board& board, const std::string& file);
// Of the model's object files; empty if there is no build.
std::optional<ModelSize> model_size(const ProjectDir& project);

}  // namespace aotc::driver
