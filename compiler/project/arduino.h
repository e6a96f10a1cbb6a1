// SPDX-License-Identifier: Apache-2.0
// Values of templates that are Arduino's and PlatformIO's own. The one thing to know: a board that
// neither knows gets values that are for any board, or none.
#pragma once

#include "project/template.h"

namespace aotc::project {

// Keys architectures, platformio_environment, platformio_program; presets library_name,
// sketch_name. `camel_prefix` is the model's prefix as a type's name, `folder` the last part of the
// project's path.
void add_arduino_values(const Board& board, const std::string& camel_prefix,
                        const std::string& folder, Values& values);

// The option 'arena' of these kinds: puts the section of that memory in front of pool_places.
// Reports [template-option] if the board's Arduino core has none there.
Status place_arduino_arena(const TemplateDescription& description, const Board& board,
                           const std::string& macro_prefix, Values& values, Diagnostics& diags);

}  // namespace aotc::project
