// SPDX-License-Identifier: Apache-2.0
// Puts a model's tables (weights and other constants) into a separate image file (--constants-file), and prints the C
// that loads the image. The image contains a layout hash: the hash of the emitted code without comments. Code loads
// only an image with its own hash, so new weights are accepted only if they give the same code.
//
//   bytes 0..7    "aotcTAB" and the version of the format
//   bytes 8..15   the layout hash, the low byte first
//   bytes 16..19  size of the tables in bytes
//   bytes 20..23  0
//   bytes 24..27  CRC-32 of bytes 0..23 and the tables
//   bytes 28..31  0
//   from 32 on    the tables, at their offsets in the pool of constants
#pragma once

#include <map>
#include <string>

#include "codegen/c_model.h"

namespace aotc::codegen {

inline constexpr int64_t kImageHeader = 32;

// True if the tables are in a separate image.
inline bool has_image(const CodegenOptions& options) { return options.constants_image; }

// Placeholder for the layout hash in the emitted C. When the hash is known, `set_hash` replaces it by eight C integer
// literals.
std::string hash_placeholder();

// Macros of the model's header: size, alignment and address of the image, and the statuses of PREFIX_load.
std::string image_macros(const plan::Program& program, const CodegenOptions& options);
// image_prototypes: the declaration of PREFIX_load. image_declarations: the variables that PREFIX_load sets, for
// PREFIX_data.h. image_definitions: PREFIX_load and these variables, for PREFIX_data.c.
std::string image_prototypes(const CodegenOptions& options);
std::string image_declarations(const CodegenOptions& options);
std::string image_definitions(const plan::Program& program, const CodegenOptions& options);

// C expressions in the run function: the address of the tables, and the condition that no image is loaded.
std::string image_tables(const CodegenOptions& options);
std::string image_missing(const CodegenOptions& options);

// Removes comments, trailing spaces and empty lines from C text.
std::string without_comments(const std::string& text);
// The hash of the .c and .h files, which must contain the placeholder instead of the hash.
uint64_t layout_hash(const std::map<std::string, std::string>& files);
// Replaces the placeholder by the hash.
void set_hash(std::map<std::string, std::string>& files, uint64_t hash);
// Replaces the hash by the placeholder.
void clear_hash(std::map<std::string, std::string>& files, uint64_t hash);
std::string image_of(const plan::Program& program, uint64_t hash);

}  // namespace aotc::codegen
