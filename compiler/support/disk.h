// SPDX-License-Identifier: Apache-2.0
// File system calls for writing output, with errors as std::error_code. Each function is one step that is either done
// or not done, so the caller can recover.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace aotc {

// Creates a file; fails if it exists. `lasting`: starts writing it to the disk now; see `sync_to_disk`.
std::error_code write_new_file(const std::filesystem::path& path, std::string_view content, mode_t mode, bool lasting);
// Lists the names in a directory, sorted.
std::error_code list_directory(const std::filesystem::path& path, std::vector<std::string>& out);
// Reads a file; nullopt if `path` is not a readable regular file of at most `limit` bytes. Does not follow links.
std::error_code read_regular_file(const std::filesystem::path& path, std::optional<std::string>& out,
                                  uint64_t limit = uint64_t{1} << 30);

// Writes into an existing device or pipe.
std::error_code write_into(const std::filesystem::path& path, std::string_view content);
// Syncs a file, or a directory itself without its content, to the disk. A file system that cannot sync is no error.
std::error_code sync_to_disk(const std::filesystem::path& path);

std::error_code make_directory(const std::filesystem::path& path);
// Renames directory `from` to `to`; fails if `to` exists. Some systems cannot check this in the same step: if a
// directory `to` appears in between, it is replaced only if it is empty.
std::error_code rename_fresh(const std::filesystem::path& from, const std::filesystem::path& to);
std::error_code rename_over(const std::filesystem::path& from, const std::filesystem::path& to);
// Swaps two files or directories in one step; std::errc::function_not_supported if the system has no such call.
std::error_code exchange(const std::filesystem::path& a, const std::filesystem::path& b);
// Gives the file `from` the second name `to` (a hard link), or copies it if the file system has no hard links.
std::error_code link_or_copy(const std::filesystem::path& from, const std::filesystem::path& to);
// Removes a file, link or directory tree; a path that does not exist is no error.
std::error_code remove_tree(const std::filesystem::path& path);

// True if `path` exists; also for a link whose target does not exist.
bool is_there(const std::filesystem::path& path);

}  // namespace aotc
