// SPDX-License-Identifier: Apache-2.0
// The row of ONNX in the table of formats.
#include "frontends/frontend.h"

#include "frontends/onnx/reader.h"

namespace aotc::frontends {

namespace {

Result<graph::Graph> read_this(FileBytes bytes, const std::string& file, Diagnostics& diags,
                               const ReadOptions& options) {
  return read_onnx(std::move(bytes), file, diags,
                   {options.shapes, options.dimensions, options.values, options.literal_rounding, options.images_last,
                    options.files});
}

// A rule makes several operators of ours: docs/onnx.md lists what is read.
std::vector<FormatOperator> no_single_operators() { return {}; }

}  // namespace

void add_frontend_onnx(std::vector<Frontend>& to) {
  to.push_back({.name = "onnx",
                .title = "ONNX",
                .files = "ONNX (.onnx)",
                .extension = ".onnx",
                .recognise = is_onnx_model,
                .read = read_this,
                .operators = no_single_operators,
                .signatures = false,
                .custom_operators = false,
                .values = true});
}

}  // namespace aotc::frontends
