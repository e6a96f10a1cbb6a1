// SPDX-License-Identifier: Apache-2.0
// ProjectDir: a generated project on disk, for build, run, verify and report.
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
  // True if the model's file is in the project.
  bool has_model() const { return manifest.contains("model"); }
  // True if the project's firmware streams inputs and every result, as `verify` requires.
  bool can_verify() const { return manifest.value("verify", true); }
  bool has_image() const { return manifest.contains("image"); }
  bool builds() const { return manifest.contains("build"); }
};

// Reports [project-invalid] if the directory has no aotc.json that this version can read.
Result<ProjectDir> open_project(const std::string& path, Diagnostics& diags);
bool is_project(const std::string& path);

// Reports [project-no-model] if the project does not contain the model's file. Verify and report need it to compile the
// model again.
bool require_model(const ProjectDir& project, Diagnostics& diags);

// Reports [not-built] if the firmware's image is missing.
bool require_image(const ProjectDir& project, Diagnostics& diags);

// The compile options as JSON, as aotc.json stores them.
nlohmann::ordered_json describe_compile(const CompileOptions& options);
// The first members of an aotc.json that describes compiled C.
nlohmann::ordered_json begin_manifest(const char* kind, const std::string& prefix, const CompileOptions& options);
// True if the members that `compile_options` reads have the types that aotc writes.
bool is_description(const nlohmann::json& compile);

// Reports [project-directory] if the absolute path of a project has a character that is syntax of CMake, Ninja or Make.
bool check_project_path(const std::string& path, Diagnostics& diags);

// Configures and builds; returns an exit code, reporting [tool-missing] or [build-failed].
int build_project(const ProjectDir& project, bool quiet, Diagnostics& diags);

// Runs the firmware with arguments in its emulator (or natively), in a working directory if given.
struct FirmwareRun {
  ProcessResult process;
  // `values`: from the "@aotc key=value" lines; the last value of a key counts. `op_ticks`: the time of each operator.
  nlohmann::ordered_json values;
  std::vector<int64_t> op_ticks;
};
Result<FirmwareRun> run_firmware(const ProjectDir& project, const std::vector<std::string>& arguments,
                                 int timeout_seconds, Diagnostics& diags, const std::string& directory = "");

// Sets `values` and `op_ticks` from the text that the firmware printed.
void read_figures(FirmwareRun& run);
// 0 if the firmware printed status 0, else 1: the exit code of firmware that cannot return one.
int exit_code_said(const FirmwareRun& run);

// The project to run in the emulator. If the emulator runs another machine than the board, this is the project built
// for that machine, in a build folder of its own. Otherwise it is the project itself.
ProjectDir in_emulator(const ProjectDir& project);

// Code and table bytes of an object file, from the board's `size`.
struct ModelSize {
  int64_t code = 0, constants = 0, data = 0;
};
std::optional<ModelSize> object_size(const project::Board& board, const std::string& file);
// The sizes of the model's object files; nullopt if there is no build.
std::optional<ModelSize> model_size(const ProjectDir& project);

// Builds project.image(), the program that `verify` runs on this machine: a host project's sources, compiled by the
// system's compiler. Returns an exit code, reporting [tool-missing] or [build-failed].
// CMake is not used, because it would take longer than the compiler. Programs are cached in the user's cache directory.
// A cached program is used only if the compiler, its flags and every byte of every source are the same, and the program
// itself is undamaged.
int build_host_program(const ProjectDir& project, Diagnostics& diags);
// True if a project's sources need only their own folders: no C runtime and no devices.
bool builds_alone(const project::ProjectModel& model);

// Runs firmware on a real board through a port, for run and verify with --port. For emulators, see run_firmware.
struct PortChoice {
  std::string port;  // a serial device, unix:PATH or tcp:HOST:PORT; empty: none
  int baud = 115200;
};

enum class PortMode { kDemo, kVerify, kOutputs };

// `in` and `out` are files of the verify mode; `most_out`: maximal size of `out` in bytes. Reports [device-timeout],
// [device-flood], [firmware-other], and the errors of rpc/.
Result<FirmwareRun> run_on_port(const ProjectDir& project, const PortChoice& choice, PortMode mode,
                                const std::string& in, const std::string& out, uint64_t most_out, int timeout_seconds,
                                Diagnostics& diags);

}  // namespace aotc::driver
