// SPDX-License-Identifier: Apache-2.0
// The program that `verify` asks on this machine: a host project's sources, compiled by the system's
// compiler without CMake, which would take longer than the compiler. Programs are kept in the user's
// cache; the one thing to know: one is taken from there only if the compiler, its flags and every
// byte of every source are those it was made of, and its own bytes are undamaged.
#pragma once

#include <string>

#include "driver/project_dir.h"

namespace aotc::driver {

// Projects whose sources need nothing but their own folders: no C runtime and no devices.
bool builds_alone(const project::ProjectModel& model);

// Writes the program to project.image(). Returns an exit code, reporting [tool-missing] or
// [build-failed].
int build_host_program(const ProjectDir& project, Diagnostics& diags);

}  // namespace aotc::driver
