// SPDX-License-Identifier: Apache-2.0
// A model whose input is given a row at a time: NAME_row says where the next row goes, NAME_feed
// takes it. The one thing to know: rows go straight into the window that the first operators read,
// so nothing but NAME_feed moves them.
#pragma once

#include <string>

#include "codegen/c_model.h"

namespace aotc::codegen {

// NAME_ROWS, NAME_ROW_BYTES, ..., struct NAME_context, NAME_begin, NAME_row, NAME_feed, and with
// slices NAME_step.
std::string feed_declarations(const plan::Program& program, const CodegenOptions& options);

// By row: where its events begin, and its slot; private to the source.
std::string feed_tables(const plan::Program& program, const CodegenOptions& options);

}  // namespace aotc::codegen
