// SPDX-License-Identifier: Apache-2.0
// Renders project templates: files that contain keys, written @key@, and a template.json that describes the files. A
// key without a value, or a declared key that no file uses, is an error, so templates cannot rot silently.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "project/board.h"
#include "project/description.h"

namespace aotc::project {

struct Values {
  std::map<std::string, std::string> keys;     // values of keys that come neither from the board nor from options
  std::map<std::string, std::string> options;  // --project-option NAME=VALUE
  std::map<std::string, std::string> model;    // defaults of options that depend on the model
  std::set<std::string> parts;                 // names of the parts ("parts" in template.json) to include
  std::set<std::string> examples;              // names of parts to include if the template has them
};

struct Rendered {
  std::map<std::string, std::string> files;
  // These names have a trailing slash; empty: the project's own folder.
  std::string model_folder, runtime_folder;
  // Command lines that still contain {generator} and {project}. If `configure` and `build` are empty, aotc does not
  // build the project.
  std::vector<std::string> configure, build, flash, flash_port;
  std::string image;         // path of the firmware image, relative to the project
  bool semihosting = false;  // true if the project's firmware needs a debugger or emulator
  bool model_file = true;
};

// Reports [memory-setup]: data is placed in a memory that does not work after reset.
void report_memory_setup(const Location& where, const Board& board, const Memory& memory,
                         const TemplateDescription& description, Diagnostics& diags);

// Reports [template-board], [template-option], [template-key], [memory-setup], and the errors of read_template_file.
Result<Rendered> render_template(const TemplateSource& source, const TemplateDescription& description,
                                 const Board& board, const Values& values, Diagnostics& diags);

}  // namespace aotc::project
