// SPDX-License-Identifier: Apache-2.0
// TemplateDescription: the content of a template.json, which describes a project kind: files, keys, options and build
// tool. Reading it checks everything.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "support/diagnostics.h"

namespace aotc::project {

struct TemplateSource {
  std::string kind;          // "bare_metal"; users may type "bare-metal" as well
  std::string override_dir;  // --templates DIR, or empty: the built-in ones
};

struct TemplateFile {
  std::string path;                    // path in the project; may contain keys
  std::string from, kind;              // the source file, and the template that contains it
  std::vector<std::string> platforms;  // empty: all
  std::string part;                    // the part of the project that needs the file; empty: always included
};

struct TemplateKey {
  std::string name;
  std::string from;   // "project", "template", "model", "samples", "board", "option"
  std::string field;  // for `from` "board": dotted path in board.json
  std::string option;
  std::string help;
};

struct TemplateOption {
  std::string name;
  std::string type;  // "enum", "memory", "bool", "bytes", "name", "string"
  std::vector<std::string> values;
  nlohmann::json preset;  // a string, a bool, {"board": FIELD} or {"model": NAME}
  std::string help;
  std::string off;  // for a bool: the part of the project to include if it is false
  std::string on;   // the part of the project to include if it is true
};

// Sources that a platform or a part adds.
struct TemplateSources {
  std::string name;
  std::vector<std::string> sources;
};

struct TemplateDescription {
  std::string kind;
  std::string title;      // one line
  std::string takes;      // "model", or "operators": an archive of operators
  std::string framework;  // the framework that the board must support; empty: none
  bool board_optional = false;
  bool verify = false;              // true if the firmware has the verify mode of templates/README.md
  bool model_file = true;           // true if the project contains the model's file, for `verify`
  std::vector<std::string> models;  // the entries of kModelNeeds that the kind supports
  std::vector<TemplateSources> platforms, parts;
  std::vector<TemplateFile> files;
  std::vector<TemplateKey> keys;
  std::vector<TemplateOption> options;
  std::string model_folder, runtime_folder;
  std::vector<std::string> configure, build;   // command lines; empty `build`: aotc does not build the project
  bool stand_in = false;                       // true if -DAOTC_STAND_IN=ON builds for the emulated stand-in machine
  std::vector<std::string> flash, flash_port;  // command to flash a board; its arguments for a port; may be empty
  std::string image;
  std::vector<std::string> image_platforms;  // the platforms with an image; empty: all
  std::string install;                       // how to install the build tool; empty: it is a Debian package
  std::string tool, proof;                   // the build tool; the tests that check the kind

  bool builds() const { return !build.empty(); }
  bool has_image(const std::string& platform) const {
    return !image.empty() &&
           (image_platforms.empty() || std::count(image_platforms.begin(), image_platforms.end(), platform) != 0);
  }
};

// Features that a model may require from a project, beyond plain C and one arena.
inline constexpr const char* kModelNeeds[] = {"packed",    "registry", "workspace", "devices",  "pools",
                                              "interface", "state",    "rows",      "operators"};

// The project kinds in alphabetical order: those in `override_dir`, or the built-in ones if it is empty.
std::vector<std::string> template_kinds(const std::string& override_dir = "");
// The folder name of a kind, which may be spelled with "-" or "_": "host_driven" for "host-driven".
std::string kind_folder(const std::string& kind);

// Parses the text of a template.json. Reports [template-invalid], at `where`.
Result<TemplateDescription> parse_description(const std::string& text, const std::string& kind, Location where,
                                              Diagnostics& diags);
// Reads the description of a kind. Reports [template-unknown] with the closest kinds, and [template-invalid].
Result<TemplateDescription> read_description(const TemplateSource& source, Diagnostics& diags);
// Reads a file of a template. Reports [template-invalid].
Result<std::string> read_template_file(const TemplateSource& source, const std::string& kind, const std::string& path,
                                       Diagnostics& diags);

// For --help-project: the kind's title, options, build tool and tests.
std::string help_text(const TemplateDescription& description);

}  // namespace aotc::project
