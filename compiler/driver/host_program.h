// SPDX-License-Identifier: Apache-2.0
// Builds the program that `verify` runs on this machine: a host project's sources, compiled by the system's compiler.
// CMake is not used, because it would take longer than the compiler. Programs are cached in the user's cache directory.
// A cached program is used only if the compiler, its flags and every byte of every source are the same, and the program
// itself is undamaged.
#pragma once

#include <string>

#include "driver/project_dir.h"

namespace aotc::driver {

// True if a project's sources need only their own folders: no C runtime and no devices.
bool builds_alone(const project::ProjectModel& model);

// Writes the program to project.image(). Returns an exit code, reporting [tool-missing] or
// [build-failed].
int build_host_program(const ProjectDir& project, Diagnostics& diags);

}  // namespace aotc::driver
