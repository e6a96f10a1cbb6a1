// SPDX-License-Identifier: Apache-2.0
// Project templates: real files with strict @key@ substitution, described by a template.json beside
// them. The one thing to know: a key in a file that nobody gives a value, or a declared key that no
// file uses, is an error, so templates cannot rot silently.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "project/board.h"
#include "project/description.h"

namespace aotc::project {

struct Values {
  std::map<std::string, std::string> keys;     // values that do not come from board or options
  std::map<std::string, std::string> options;  // --project-option NAME=VALUE
  std::map<std::string, std::string> model;    // for defaults of options that the model decides
  std::set<std::string> parts;                 // of template.json's "parts": files that not all need
  std::set<std::string> examples;              // of them, but for a template that has them
};

struct Rendered {
  std::map<std::string, std::string> files;
  // With a slash at the end, or empty: the project's own folder.
  std::string model_folder, runtime_folder;
  // Command lines with {generator} and {project} still in them; both empty: aotc does not build it.
  std::vector<std::string> configure, build, flash, flash_port;
  std::string image;  // relative to the project
  bool semihosting = false;  // a debugger or emulator serves its firmware
  bool model_file = true;
};

// [memory-setup]: something is to lie in a memory that does not work after reset.
void report_memory_setup(const Location& where, const Board& board, const Memory& memory,
                         const TemplateDescription& description, Diagnostics& diags);

// Reports [template-board], [template-option], [template-key], [memory-setup], and what read_template_file does.
Result<Rendered> render_template(const TemplateSource& source,
                                 const TemplateDescription& description, const Board& board,
                                 const Values& values, Diagnostics& diags);

}  // namespace aotc::project
