// SPDX-License-Identifier: Apache-2.0
// Reads and writes Model Library Format archives: an uncompressed tar with a metadata.json. Reading checks the version,
// the style and every key that the version requires. Writing is deterministic. File names in this interface have no
// leading "./".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "support/diagnostics.h"

namespace aotc::mlf {

inline constexpr int kVersion = 7;  // the version that aotc writes, and the newest one that it reads
inline constexpr std::string_view kFullModel = "full-model";
inline constexpr std::string_view kOperator = "operator";
inline constexpr const char* kMetadata = "metadata.json";

// Limits for reading: a damaged or hostile archive is refused, not unpacked.
inline constexpr uint64_t kMaxBytes = uint64_t{1} << 29;  // size of the tar, and of all members together
inline constexpr size_t kMaxMembers = 1 << 16;
inline constexpr size_t kMaxMetadataBytes = size_t{1} << 24;
inline constexpr size_t kMaxMetadataDepth = 32;      // nesting of lists and objects
inline constexpr size_t kMaxMetadataKeys = 1 << 14;  // keys of one object

struct Archive {
  std::map<std::string, std::vector<uint8_t>> files;  // "codegen/host/src/x.c", no "./"
  int version = 0;
  std::string style;  // kFullModel or kOperator; before version 4 always kFullModel
  nlohmann::ordered_json metadata;

  // nullptr if there is no such file.
  const std::vector<uint8_t>* find(const std::string& name) const;
};

// `wanted_style`: the only accepted style; empty: any. It is checked before the rest of metadata.json. Reports
// [file-read], [mlf-not-tar], [mlf-compressed], [mlf-truncated], [mlf-path], [mlf-member], [mlf-limit],
// [mlf-no-metadata] and the errors of check_metadata.
Result<Archive> read_archive(const std::string& path, Diagnostics& diags, std::string_view wanted_style = {});
// Reads from bytes in memory; `name` is for messages.
Result<Archive> read_archive_bytes(const std::vector<uint8_t>& bytes, const std::string& name, Diagnostics& diags,
                                   std::string_view wanted_style = {});
// Reads a metadata.json without an archive: the result has no files.
Result<Archive> read_metadata_file(const std::string& path, Diagnostics& diags, std::string_view wanted_style = {});

// The archive of `files` as bytes, which Python's tarfile accepts with mode "r:". Its members are ".", then directories
// and files sorted by name, each with a leading "./". All are owned by root and have the time `mtime` (seconds since
// 1970).
Result<std::string> print_archive(const std::map<std::string, std::string>& files, int64_t mtime,
                                  const std::string& name, Diagnostics& diags);
// Writes the archive to a temporary file, then renames it.
Status write_archive(const std::string& path, const std::map<std::string, std::string>& files, int64_t mtime,
                     Diagnostics& diags);

}  // namespace aotc::mlf
