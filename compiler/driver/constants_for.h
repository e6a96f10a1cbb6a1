// SPDX-License-Identifier: Apache-2.0
// Writes new weights for existing code: compile --constants-for OLD/aotc.json. The new model is compiled with the
// options of the old one, and its tables are written only if the code, comments aside, is identical. Everything that
// the compiler derived from the old weights (ranges, constant channels, cheap scaling) then holds for the new ones.
#pragma once

#include <string>

#include "driver/commands.h"
#include "driver/compilation.h"

namespace aotc::driver {

// The entry of aotc.json that a compilation with --constants-file writes.
nlohmann::ordered_json constants_file_json(const Compiled& compiled);

// The cost of code for any weights compared with code for these: a line for people; empty if the core has no cost
// model.
std::string price_of_open(const Compiled& open);

// `given`: the model, without other compile options. Writes the image to `out`, or, if `out` is empty, to its old name
// in the current directory. Reports [constants-for] for a manifest without such a file or with modified code, and
// [constants-differ].
int constants_for_command(const CompileOptions& given, const std::string& manifest, const std::string& out,
                          const CommonOptions& common);

}  // namespace aotc::driver
