// SPDX-License-Identifier: Apache-2.0
// Recognises, by content, model files in formats that aotc cannot read. The error message then names the command that
// converts the file.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/diagnostics.h"

namespace aotc::frontends {

struct Foreign {
  std::string what;                // the format, for messages: "an ONNX model"
  std::vector<std::string> helps;  // commands that convert the file
};

// nullopt if the content matches none of these formats. `file`: the name that the user typed; `bytes`: untrusted.
std::optional<Foreign> recognise_foreign(std::span<const uint8_t> bytes, const std::string& file);

// As recognise_foreign, for a model that is a directory, such as TensorFlow's SavedModel.
std::optional<Foreign> recognise_foreign_folder(const std::string& path);

// Lists the formats that aotc reads, for messages.
std::string readable_formats();

// Reports [model-format].
void report_foreign(Diagnostics& diags, const Location& at, const Foreign& foreign);

}  // namespace aotc::frontends
