// SPDX-License-Identifier: Apache-2.0
// Calls of the file system that output is made of, with errors as std::error_code. The one thing to
// know: each function is one step that is done or not done, so that a caller can tell where it
// stands.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace aotc {

// A file that is not there yet. `lasting`: its way to the disk begins now; see `sync_to_disk`.
std::error_code write_new_file(const std::filesystem::path& path, std::string_view content,
                               mode_t mode, bool lasting);
// The names in a directory, in order.
std::error_code list_directory(const std::filesystem::path& path, std::vector<std::string>& out);
// The content of a regular file of at most `limit` bytes; links are not followed.
std::error_code read_regular_file(const std::filesystem::path& path, uint64_t limit,
                                  std::string& out);

// Into what is there: a device or a pipe.
std::error_code write_into(const std::filesystem::path& path, std::string_view content);
// A file or directory itself, not what is in it. File systems that cannot do it are no error.
std::error_code sync_to_disk(const std::filesystem::path& path);

std::error_code make_directory(const std::filesystem::path& path);
// Fails if `to` exists, where the system can tell; never replaces anything but an empty directory.
std::error_code rename_fresh(const std::filesystem::path& from, const std::filesystem::path& to);
std::error_code rename_over(const std::filesystem::path& from, const std::filesystem::path& to);
// Swaps two names in one step; std::errc::function_not_supported where the system has no such call.
std::error_code exchange(const std::filesystem::path& a, const std::filesystem::path& b);
// The file at `from` under a second name, or a copy of it where there are no second names.
std::error_code link_or_copy(const std::filesystem::path& from, const std::filesystem::path& to);
// The file, link or directory with all that is in it; what is not there is no error.
std::error_code remove_tree(const std::filesystem::path& path);

// There is something of this name, if only a link to nothing.
bool is_there(const std::filesystem::path& path);

}  // namespace aotc
