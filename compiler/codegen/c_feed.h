// SPDX-License-Identifier: Apache-2.0
// Prints the C interface of a model that takes its input row by row: NAME_row returns the address of the next row, and
// NAME_feed processes this row. The caller writes each row directly into the window of rows that the first operators
// read. Only NAME_feed moves rows within the window.
#pragma once

#include <string>

#include "codegen/c_model.h"

namespace aotc::codegen {

// NAME_ROWS, NAME_ROW_BYTES, ..., struct NAME_context, NAME_begin, NAME_row, NAME_feed, and, with slices, NAME_step.
std::string feed_declarations(const plan::Program& program, const CodegenOptions& options);

// The static tables of the source. For each row they contain its first event (a step of the first call that needs the
// row) and its slot (position in the window).
std::string feed_tables(const plan::Program& program, const CodegenOptions& options);

}  // namespace aotc::codegen
