// SPDX-License-Identifier: Apache-2.0
// Renders project templates: files that contain keys, written @key@, and a template.json that describes the files. A
// key without a value, or a declared key that no file uses, is an error, so templates cannot rot silently. The values
// of some keys are computed here: licences, Arduino, MLPerf Tiny.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
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

// The licence of a generated project is 0BSD, unless the user chooses another one. True if a text has the form of an
// SPDX licence expression: "MIT", "Apache-2.0 OR MIT", "GPL-2.0-only WITH Classpath-exception-2.0", "LicenseRef-Own".
// Names are not looked up in a list. An accepted text contains nothing that ends a comment or string of any language.
bool is_licence_expression(std::string_view text);
// Reports [license-form]. An empty text (no licence) is valid.
Status check_licence(const std::string& licence, Diagnostics& diags);
// Sets the keys license_text, license_id, license_json, license_yaml and license_toml.
void add_licence_values(const std::string& licence, Values& values);
// Replaces 0BSD by the licence in the first two lines of a file's text.
std::string with_licence(std::string text, const std::string& licence);

// Template values for Arduino and PlatformIO. If neither supports the board, the values are for any board (Arduino) or
// for this machine (PlatformIO). Sets the keys architectures, platformio_environment and platformio_program, and the
// presets library_name and sketch_name. `camel_prefix`: the model's prefix as a type name; `folder`: the last component
// of the project's path.
void add_arduino_values(const Board& board, const std::string& camel_prefix, const std::string& folder, Values& values);

// Applies the option 'arena' for these project kinds: adds a macro with the linker section of the chosen memory to the
// key pool_places. Reports [template-option] if the board's Arduino core has no section in that memory.
Status place_arduino_arena(const TemplateDescription& description, const Board& board, const std::string& macro_prefix,
                           Values& values, Diagnostics& diags);

// The name of the MLPerf Tiny benchmark ("kws01", "sww01", ...) whose input and output shapes the model has; "raw" if
// none matches. A benchmark defines the meaning of inputs and results. Firmware without benchmark exchanges plain
// bytes.
std::string benchmark_of(const graph::Graph& graph);

// Sets the default of the option 'benchmark' for this model, if the project kind has that option. Reports
// [template-option] if the model does not match the chosen benchmark; warns with [no-benchmark] if none was chosen and
// none matches.
Status choose_benchmark(const TemplateDescription& description, const graph::Graph& graph, Values& values,
                        Diagnostics& diags);

}  // namespace aotc::project
