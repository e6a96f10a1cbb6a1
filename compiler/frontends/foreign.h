// SPDX-License-Identifier: Apache-2.0
// Files that are models, but of formats that aotc does not read: recognised by their content, so
// that the message can say what to type. The one thing to know: a file that is none of these gives
// nothing, and whoever asked says then that it is no model.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/diagnostics.h"

namespace aotc::frontends {

struct Foreign {
  std::string what;                // "an ONNX model"
  std::vector<std::string> helps;  // what to type
};

// `file` as the user named it; any bytes.
std::optional<Foreign> recognise_foreign(std::span<const uint8_t> bytes, const std::string& file);

// A directory that is a model, such as a SavedModel.
std::optional<Foreign> recognise_foreign_folder(const std::string& path);

// The formats that are read, for messages.
std::string readable_formats();

// Reports [model-format].
void report_foreign(Diagnostics& diags, const Location& at, const Foreign& foreign);

}  // namespace aotc::frontends
