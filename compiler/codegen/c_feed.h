// SPDX-License-Identifier: Apache-2.0
// Prints the C interface of a model that takes its input row by row: NAME_row returns the address of the next row,
// NAME_feed processes it. The caller writes rows directly into the window that the first operators read, so only
// NAME_feed moves them.
#pragma once

#include <string>

#include "codegen/c_model.h"

namespace aotc::codegen {

// NAME_ROWS, NAME_ROW_BYTES, ..., struct NAME_context, NAME_begin, NAME_row, NAME_feed, and with slices NAME_step.
std::string feed_declarations(const plan::Program& program, const CodegenOptions& options);

// The tables that are private to the source: the first event and the slot of each row.
std::string feed_tables(const plan::Program& program, const CodegenOptions& options);

}  // namespace aotc::codegen
