// SPDX-License-Identifier: Apache-2.0
// Tables in a separate image file (--constants-file): the image, and the C that loads it. The layout hash of an image
// is that of the emitted code without comments, so an image is accepted only by code that would be the same for its
// weights.
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

// True if the tables are in a separate image.
inline bool has_image(const CodegenOptions& options) { return options.constants_image; }

// The placeholder for the layout hash in the emitted C until the hash is known: eight C integer literals.
std::string hash_placeholder();

// PREFIX_CONSTANTS_SIZE and the statuses of PREFIX_load.
std::string image_macros(const plan::Program& program, const CodegenOptions& options);
// The declaration of PREFIX_load; its definition and its variables for PREFIX_data.c.
std::string image_prototypes(const CodegenOptions& options);
std::string image_declarations(const CodegenOptions& options);
std::string image_definitions(const plan::Program& program, const CodegenOptions& options);

// The expressions for tables in the run function, and the condition that no image was loaded.
std::string image_tables(const CodegenOptions& options);
std::string image_missing(const CodegenOptions& options);

// C text without comments, trailing spaces and empty lines.
std::string without_comments(const std::string& text);
// The hash of the .c and .h files, in which the placeholder represents the hash.
uint64_t layout_hash(const std::map<std::string, std::string>& files);
// Replaces the placeholder by the hash.
void set_hash(std::map<std::string, std::string>& files, uint64_t hash);
// Replaces the hash by the placeholder.
void clear_hash(std::map<std::string, std::string>& files, uint64_t hash);
std::string image_of(const plan::Program& program, uint64_t hash);

}  // namespace aotc::codegen
