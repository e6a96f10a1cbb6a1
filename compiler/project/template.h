// Project templates: real files with strict @key@ substitution, described by a template.json beside
// them. The one thing to know: a key in a file that nobody gives a value, or a value no file uses,
// is an error, so templates cannot rot silently.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "project/board.h"

namespace aotc::project {

struct TemplateSource {
  std::string kind;               // "bare_metal"
  std::string override_dir;       // --templates DIR, or empty: the ones in the binary
};

struct Values {
  std::map<std::string, std::string> keys;     // values that do not come from board or options
  std::map<std::string, std::string> options;  // --project-option NAME=VALUE
  std::map<std::string, std::string> model;    // for defaults of options that the model decides
  std::set<std::string> parts;                 // of template.json's "parts": files that not all need
};

std::vector<std::string> template_kinds();
// The folder of a kind as a user may spell it: "host-driven" is host_driven.
std::string kind_folder(const std::string& kind);
// What a kind makes firmware of: "model", or "operators" (an archive of them). "model" also if there
// is no such kind.
std::string kind_takes(const TemplateSource& source);

struct BuildCommands {
  std::vector<std::string> configure, build;  // with {generator} and {project} still in them
  std::string image;                          // relative to the project
};

struct Rendered {
  std::map<std::string, std::string> files;
  std::string model_folder, runtime_folder;
  BuildCommands build;
};

// Reports [template-unknown], [template-board], [template-option], [template-key].
Result<Rendered> render_template(const TemplateSource& source, const Board& board,
                                 const Values& values, Diagnostics& diags);

// For --help-project: one line per option of the kind.
Result<std::string> describe_options(const TemplateSource& source, Diagnostics& diags);

}  // namespace aotc::project
