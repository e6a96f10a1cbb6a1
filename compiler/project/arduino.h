// SPDX-License-Identifier: Apache-2.0
// Template values for Arduino and PlatformIO. If neither supports the board, the values are for any board (Arduino) or
// for this machine (PlatformIO).
#pragma once

#include "project/template.h"

namespace aotc::project {

// Sets the keys architectures, platformio_environment and platformio_program, and the presets library_name and
// sketch_name. `camel_prefix`: the model's prefix as a type name; `folder`: the last component of the project's path.
void add_arduino_values(const Board& board, const std::string& camel_prefix, const std::string& folder, Values& values);

// Applies the option 'arena' for these project kinds: adds a macro with the linker section of the chosen memory to the
// key pool_places. Reports [template-option] if the board's Arduino core has no section in that memory.
Status place_arduino_arena(const TemplateDescription& description, const Board& board, const std::string& macro_prefix,
                           Values& values, Diagnostics& diags);

}  // namespace aotc::project
