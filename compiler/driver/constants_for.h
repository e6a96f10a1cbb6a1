// SPDX-License-Identifier: Apache-2.0
// Writes new weights for existing code: compile --constants-for OLD/aotc.json. The new model is compiled with the
// options of the old one. Its tables are written only if the code is identical except for comments. Then all facts that
// the compiler derived from the old weights (ranges, constant channels, cheap scaling) hold for the new weights.
#pragma once

#include <string>

#include "driver/commands.h"
#include "driver/compilation.h"

namespace aotc::driver {

// The entry of aotc.json that a compilation with --constants-file writes.
nlohmann::ordered_json constants_file_json(const Compiled& compiled);

// A line of text that compares the cost of code for any weights (`open`) with code for these weights only. Empty if the
// core has no cost model.
std::string price_of_open(const Compiled& open);

// `given`: the model, without other compile options. Writes the image to `out`. If `out` is empty, the file is in the
// current directory and has the name that the manifest states. Reports [constants-for] if the manifest names no
// constants file, or if the C code beside the manifest was changed after aotc wrote it. Reports [constants-differ] if
// the C code for the new model differs from the C code beside the manifest.
int constants_for_command(const CompileOptions& given, const std::string& manifest, const std::string& out,
                          const CommonOptions& common);

}  // namespace aotc::driver
