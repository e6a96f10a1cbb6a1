// SPDX-License-Identifier: Apache-2.0
// TemplateDescription: the content of a template.json: the files of a project kind, its keys, its options, its build
// tool. Everything is checked when it is read.
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
  std::string path;                    // in the project; may contain keys
  std::string from, kind;              // the source file, and the template that contains it
  std::vector<std::string> platforms;  // empty: all
  std::string part;                    // empty: always
};

struct TemplateKey {
  std::string name;
  std::string from;   // "project", "template", "model", "samples", "board", "option"
  std::string field;  // of board.json
  std::string option;
  std::string help;
};

struct TemplateOption {
  std::string name;
  std::string type;  // "enum", "memory", "bool", "bytes", "name", "string"
  std::vector<std::string> values;
  nlohmann::json preset;  // a string, a bool, {"board": FIELD} or {"model": NAME}
  std::string help;
  std::string off;  // of a bool: the part of the project if it is false
  std::string on;   // the part of the project if it is true
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
  bool verify = false;              // its firmware has the verify mode of templates/README.md
  bool model_file = true;           // the project contains the model's file, which `verify` reads
  std::vector<std::string> models;  // the entries of kModelNeeds that it supports
  std::vector<TemplateSources> platforms, parts;
  std::vector<TemplateFile> files;
  std::vector<TemplateKey> keys;
  std::vector<TemplateOption> options;
  std::string model_folder, runtime_folder;
  std::vector<std::string> configure, build;  // command lines; no `build`: aotc does not build it
  bool stand_in = false;                      // -DAOTC_STAND_IN=ON builds it for the machine that stands in for a board
  std::vector<std::string> flash, flash_port;  // write it to a board; arguments added for a port; may be empty
  std::string image;
  std::vector<std::string> image_platforms;  // the platforms with an image; empty: all
  std::string install;                       // how to install the build tool; empty: it is a Debian package
  std::string tool, proof;                   // the build tool; how tests prove the kind

  bool builds() const { return !build.empty(); }
  bool has_image(const std::string& platform) const {
    return !image.empty() &&
           (image_platforms.empty() || std::count(image_platforms.begin(), image_platforms.end(), platform) != 0);
  }
};

// Features that a model may need of a project beyond plain C and one arena.
inline constexpr const char* kModelNeeds[] = {"packed",    "registry", "workspace", "devices",  "pools",
                                              "interface", "state",    "rows",      "operators"};

// The kinds in alphabetical order: the built-in ones, or those of the folder if one is specified.
std::vector<std::string> template_kinds(const std::string& override_dir = "");
// The folder of a kind in any spelling: "host-driven" is host_driven.
std::string kind_folder(const std::string& kind);

// Parses the text of a template.json. Reports [template-invalid], at `where`.
Result<TemplateDescription> parse_description(const std::string& text, const std::string& kind, Location where,
                                              Diagnostics& diags);
// Reads the description of a kind. Reports [template-unknown] with the closest kinds, and [template-invalid].
Result<TemplateDescription> read_description(const TemplateSource& source, Diagnostics& diags);
// Reads a file of a template. Reports [template-invalid].
Result<std::string> read_template_file(const TemplateSource& source, const std::string& kind, const std::string& path,
                                       Diagnostics& diags);

// For --help-project: the kind's title, its options, its build tool, its proof.
std::string help_text(const TemplateDescription& description);

}  // namespace aotc::project
