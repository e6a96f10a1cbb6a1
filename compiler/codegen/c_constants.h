// SPDX-License-Identifier: Apache-2.0
// Tables in a file of their own, beside the code (--constants-file): the image, and the C that takes one. The one thing to
// know: an image is for code of one text. The layout hash is that of the emitted code without comments, so code that
// would be other for other weights has another hash.
//
//   bytes 0..7    "aotcTAB" and the version of the format
//   bytes 8..15   the layout hash, the low byte first
//   bytes 16..19  bytes of tables
//   bytes 20..23  0
//   bytes 24..27  CRC-32 of bytes 0..23 and the tables
//   bytes 28..31  0
//   from 32 on    the tables, at the offsets of the pool of constants
#pragma once

#include <map>
#include <string>

#include "codegen/c_model.h"

namespace aotc::codegen {

inline constexpr int64_t kImageHeader = 32;

// Are the tables in a file of their own?
inline bool has_image(const CodegenOptions& options) { return options.constants_image; }

// What stands in the place of the layout hash in the code before it is known: eight numbers of C.
std::string hash_placeholder();

// PREFIX_CONSTANTS_SIZE and the statuses of PREFIX_load.
std::string image_macros(const plan::Program& program, const CodegenOptions& options);
// PREFIX_load, declared; defined with what it sets, for PREFIX_data.c.
std::string image_prototypes(const CodegenOptions& options);
std::string image_declarations(const CodegenOptions& options);
std::string image_definitions(const plan::Program& program, const CodegenOptions& options);

// The tables as the run function names them, and the condition that no image was loaded.
std::string image_tables(const CodegenOptions& options);
std::string image_missing(const CodegenOptions& options);

// C without its comments, spaces at the ends of lines and empty lines.
std::string without_comments(const std::string& text);
// Of what is in the .c and .h files, in which the placeholder stands for the hash.
uint64_t layout_hash(const std::map<std::string, std::string>& files);
// Puts the hash in the place of the placeholder.
void set_hash(std::map<std::string, std::string>& files, uint64_t hash);
// The other way round.
void clear_hash(std::map<std::string, std::string>& files, uint64_t hash);
std::string image_of(const plan::Program& program, uint64_t hash);

}  // namespace aotc::codegen
