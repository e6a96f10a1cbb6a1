// SPDX-License-Identifier: Apache-2.0
// Output lists: which files of an output directory aotc wrote, by checksum.
// The file that describes an output (aotc.json) ends with the checksums of all files that were written with it, itself
// included. A file is aotc's own if its checksum matches, whatever its date.
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

// 16 hexadecimal digits: FNV-1a of 64 bits.
std::string checksum_of(std::string_view content);
// The checksum of a file; empty if it is not a readable regular file, because such an entry is not aotc's own.
std::error_code checksum_of_file(const std::filesystem::path& path, std::string& out);
// The content, also if the file is larger than any list; nullopt if it is not a readable regular file.
std::error_code content_of_list(const std::filesystem::path& path, std::optional<std::string>& out);

using Checksums = std::map<std::string, std::string>;  // by name relative to the output

// The text of a JSON object with the list as its last member, "written".
std::string with_list(std::string_view json, const Checksums& files);
// The list in such a text, including the file `name`, which is the text itself; nullopt if it has none.
std::optional<Checksums> read_list(const std::string& json, const std::string& name);

enum class Owner {
  kOurs,     // written by aotc and not touched since, or the same as what is to be written
  kDerived,  // a directory derived from the output, such as a build directory
  kChanged,  // written by aotc and changed since
  kAdded,
};

struct Present {
  std::string name;  // relative, with '/'
  Owner owner = Owner::kAdded;
  bool directory = false;  // kDerived, or a directory without any file
  ino_t inode = 0;
  off_t size = 0;
  timespec changed{};

  bool same_as(const Present& other) const;
};

// Everything below `root` sorted by name, without non-empty directories. Links are not followed.
std::error_code list_present(const std::filesystem::path& root, std::vector<Present>& out);
// Sets the owner of each entry.
std::error_code judge_present(const std::filesystem::path& root, const std::optional<Checksums>& list,
                              const std::map<std::string, OutputDirectory::File>& to_write,
                              std::vector<Present>& present);

// "changed: digits.c", "added: notes/ (3 files)": the entries that aotc does not own, one line each, at most `limit`.
std::vector<std::string> describe_not_ours(const std::vector<Present>& present, size_t limit);

}  // namespace aotc
