// SPDX-License-Identifier: Apache-2.0
// Replaces files of a directory that must stay the same directory, because a shell has it as its working directory. No
// system call does this in one step, so a journal in the work area lists the changes first, and the next run completes
// what a killed run began.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <system_error>

namespace aotc {

// File in the work area while a change is in progress.
inline constexpr const char* kInPlaceJournal = "in-place.json";

// Names are relative to the target. Values are the checksums of the present content (output_list.h), empty for a
// missing file or a directory.
struct InPlaceChange {
  std::map<std::string, std::string> put;   // from area/new
  std::map<std::string, std::string> drop;  // to area/old
};

// Applies the whole change, or nothing if an error occurs.
std::error_code change_in_place(const std::filesystem::path& area, const std::filesystem::path& target,
                                const InPlaceChange& change);
// Completes the change of a killed run, if the area has one. Files that were changed since are not touched.
std::error_code finish_in_place(const std::filesystem::path& area, const std::filesystem::path& target);

}  // namespace aotc
