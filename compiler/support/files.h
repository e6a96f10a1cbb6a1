// SPDX-License-Identifier: Apache-2.0
// Reads files, and writes output files and directories atomically.
// OutputDirectory and write_file write the new content beside the old content and swap the two at the end. If a command
// fails or is killed, the old content stays. The next command that writes to the same place removes the leftovers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "support/diagnostics.h"

namespace aotc {

// Returns the bytes of a regular file. Reports [file-read] if it cannot be read, and [file-too-large], without reading
// it, if it has more than `limit` bytes.
Result<std::vector<uint8_t>> read_file(const std::string& path, Diagnostics& diags, uint64_t limit = uint64_t{1} << 30);

// Reads standard input up to its end. Reports the errors of read_file.
Result<std::vector<uint8_t>> read_standard_input(Diagnostics& diags, uint64_t limit = uint64_t{1} << 30);

// Writes one file completely or not at all, as OutputDirectory does. If `path` is a device or pipe, writes into it.
// Reports [file-write], [output-busy].
Status write_file(const std::string& path, const std::string& content, Diagnostics& diags);

// Writes a file in a temporary directory, without swapping and without syncing to the disk. Reports [file-write].
Status write_scratch_file(const std::string& path, const std::string& content, Diagnostics& diags);

// The name of a marker file. If a directory in the top level of an output contains it, the directory is derived from
// the output, such as a build directory. aotc deletes it when it writes the output again.
inline constexpr const char* kDerivedMarker = ".made-by-aotc";

// A set of files written together under one directory.
// Nothing appears at `path` before commit(), which replaces the whole directory. The file `list_file` (one of the added
// files, JSON; empty: none) receives a list of the written files with their checksums. The next commit reads the list
// and replaces files that are unchanged since aotc wrote them. It reports any other file as [output-exists]. With
// `force`, it replaces files whose names collide ([output-replaced], a warning), and all other files stay.
class OutputDirectory {
 public:
  OutputDirectory(std::string path, std::string list_file, bool force = false)
      : path_(std::move(path)), list_file_(std::move(list_file)), force_(force) {}

  // Adds a file. `relative`: its path with '/', inside the directory. Adding the same path again replaces the content.
  void add(std::string relative, std::string content, bool executable = false);
  // Makes commit() skip syncing to the disk, for a directory that is deleted soon.
  void set_scratch() { scratch_ = true; }
  // Writes the files. Also reports [file-write] and [output-busy].
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
