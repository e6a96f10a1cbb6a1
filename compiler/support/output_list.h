// SPDX-License-Identifier: Apache-2.0
// Output lists: checksums of the files that aotc wrote into an output directory.
// The file that describes an output (aotc.json) ends with the checksums of all files of the output, itself included. A
// file whose checksum matches is unchanged since aotc wrote it, whatever its date, so aotc may replace it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "support/files.h"

namespace aotc {

// Returns the 64-bit FNV-1a hash as 16 hexadecimal digits.
std::string checksum_of(std::string_view content);
// Computes the checksum of a file; empty if it is not a readable regular file of at most 1 GiB. An empty checksum
// matches no file of aotc.
std::error_code checksum_of_file(const std::filesystem::path& path, std::string& out);
// Reads the content of a file that may contain a list; nullopt if it is not a readable regular file of at most 64 MiB.
std::error_code content_of_list(const std::filesystem::path& path, std::optional<std::string>& out);

using Checksums = std::map<std::string, std::string>;  // by file name relative to the output

// Returns the text of JSON object `json` with the list added as its last member, "written".
std::string with_list(std::string_view json, const Checksums& files);
// Returns the list in such a text, including the checksum of the text itself under `name`; nullopt if the text has no
// list.
std::optional<Checksums> read_list(const std::string& json, const std::string& name);

enum class Owner {
  kOurs,     // written by aotc and unchanged since, or equal to the file to write
  kDerived,  // a directory derived from the output (kDerivedMarker), such as a build directory
  kChanged,  // written by aotc and changed since by somebody else
  kAdded,
};

struct Present {
  std::string name;  // relative, with '/'
  Owner owner = Owner::kAdded;
  bool directory = false;  // true for kDerived, and for a directory without files
  ino_t inode = 0;
  off_t size = 0;
  timespec changed{};

  bool same_as(const Present& other) const;
};

// Lists all entries below `root`, sorted by name, except directories that contain files. Links are not followed.
std::error_code list_present(const std::filesystem::path& root, std::vector<Present>& out);
// Sets the owner of each entry. `list`: checksums of the files that aotc wrote, or nullopt. `to_write`: the new files.
std::error_code judge_present(const std::filesystem::path& root, const std::optional<Checksums>& list,
                              const std::map<std::string, OutputDirectory::File>& to_write,
                              std::vector<Present>& present);

// Describes the entries that aotc does not own: "changed: digits.c", "added: notes/ (3 files)". One line for each, at
// most `limit` lines.
std::vector<std::string> describe_not_ours(const std::vector<Present>& present, size_t limit);

}  // namespace aotc
