// SPDX-License-Identifier: Apache-2.0
// Reads and writes files atomically.
// OutputDirectory and write_file write the new content beside the old and swap the two at the end. A command that fails
// or is killed leaves the old content; the next command that writes there removes the leftovers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "support/diagnostics.h"

namespace aotc {

// The bytes of `path`, a regular file whose size is checked before it is read. Reports [file-read] if it cannot be
// read, [file-too-large] over `limit`.
Result<std::vector<uint8_t>> read_file(const std::string& path, Diagnostics& diags, uint64_t limit = uint64_t{1} << 30);

// Reads standard input up to its end. Reports the errors of read_file.
Result<std::vector<uint8_t>> read_standard_input(Diagnostics& diags, uint64_t limit = uint64_t{1} << 30);

// Writes one file, all or nothing, as OutputDirectory does; streams into a device or pipe. Reports [file-write],
// [output-busy].
Status write_file(const std::string& path, const std::string& content, Diagnostics& diags);

// Writes a file of a temporary directory: neither swapped in nor synced to the disk. Reports [file-write].
Status write_scratch_file(const std::string& path, const std::string& content, Diagnostics& diags);

// A directory at the top of an output that contains a file of this name is derived from the output (a build directory)
// and is deleted when aotc writes the output again.
inline constexpr const char* kDerivedMarker = ".made-by-aotc";

// A set of files written together under one directory.
// Nothing appears at `path` before commit(), which swaps the whole directory in. The file `list_file` (JSON, one of the
// added files; empty: none) stores a list of the written files with their checksums. From this list the next commit
// knows which files aotc wrote and nobody changed, and replaces those; any other file is reported as [output-exists].
// With `force`, files whose names collide are replaced ([output-replaced], a warning) and all others stay.
class OutputDirectory {
 public:
  OutputDirectory(std::string path, std::string list_file, bool force = false)
      : path_(std::move(path)), list_file_(std::move(list_file)), force_(force) {}

  // `relative` uses '/' and stays inside the directory; a second add of a name replaces the first.
  void add(std::string relative, std::string content, bool executable = false);
  // Skips syncing to the disk, for a directory that is deleted soon.
  void set_scratch() { scratch_ = true; }
  // Also reports [file-write] and [output-busy].
  Status commit(Diagnostics& diags);
  const std::string& path() const { return path_; }
  std::vector<std::string> names() const;

  struct File {
    std::string content;
    bool executable = false;
  };

 private:
  std::string path_;
  std::string list_file_;
  bool force_;
  bool scratch_ = false;
  std::map<std::string, File> files_;
};

}  // namespace aotc
