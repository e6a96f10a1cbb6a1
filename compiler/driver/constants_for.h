// SPDX-License-Identifier: Apache-2.0
// New weights for code that exists: compile --constants-for OLD/aotc.json. The one thing to know: the new model is compiled
// as the old was, and its tables are written only if the code comes out the same, comments aside. Whatever the compiler
// made of the old weights in code (ranges, channels that are constant, cheap forms of scaling) is then true of the new.
#pragma once

#include <string>

#include "driver/commands.h"
#include "driver/compilation.h"

namespace aotc::driver {

// What a compilation with --constants-file leaves in aotc.json.
nlohmann::ordered_json constants_file_json(const Compiled& compiled);

// `given`: the model, and nothing else said of how to compile. Writes the image to `out`; empty: the name it had, here.
// Reports [constants-for] for a manifest without such a file, or with code that was changed, and [constants-differ].
// What code for any weights costs beside code for these: a line for people, or empty where nothing is known of the core.
std::string price_of_open(const Compiled& open);

int constants_for_command(const CompileOptions& given, const std::string& manifest, const std::string& out,
                          const CommonOptions& common);

}  // namespace aotc::driver
