// SPDX-License-Identifier: Apache-2.0
// Recognises models of formats that aotc does not read, by their content, so that the message can name the command that
// converts them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/diagnostics.h"

namespace aotc::frontends {

struct Foreign {
  std::string what;                // for messages: "an ONNX model"
  std::vector<std::string> helps;  // the commands that convert it
};

// nullopt if the file is of none of these formats. `file`: the name that the user typed; `bytes`: untrusted.
std::optional<Foreign> recognise_foreign(std::span<const uint8_t> bytes, const std::string& file);

// Recognises a directory that is a model, such as a SavedModel.
std::optional<Foreign> recognise_foreign_folder(const std::string& path);

// The formats that aotc reads, for messages.
std::string readable_formats();

// Reports [model-format].
void report_foreign(Diagnostics& diags, const Location& at, const Foreign& foreign);

}  // namespace aotc::frontends
