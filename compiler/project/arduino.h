// SPDX-License-Identifier: Apache-2.0
// Template values for Arduino and PlatformIO. A board that neither supports gets values for any board, or none.
#pragma once

#include "project/template.h"

namespace aotc::project {

// Sets the keys architectures, platformio_environment and platformio_program, and the presets library_name and
// sketch_name. `camel_prefix`: the model's prefix as a type name; `folder`: the last component of the project's path.
void add_arduino_values(const Board& board, const std::string& camel_prefix, const std::string& folder, Values& values);

// The option 'arena' of these kinds: adds the section of that memory before pool_places. Reports [template-option] if
// the board's Arduino core has no section there.
Status place_arduino_arena(const TemplateDescription& description, const Board& board, const std::string& macro_prefix,
                           Values& values, Diagnostics& diags);

}  // namespace aotc::project
