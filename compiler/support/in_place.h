// SPDX-License-Identifier: Apache-2.0
// Replaces the files of a directory without replacing the directory itself, which may be the working directory of a
// shell. No system call does this in one step. Therefore a journal in the work area (work_area.h) first lists the
// changes, and the next run completes the changes of a killed run.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <system_error>

namespace aotc {

// Name of the journal, a file that is in the work area while a change is in progress.
inline constexpr const char* kInPlaceJournal = "in-place.json";

// Key: a name relative to the target. Value: the checksum of the target's present content (output_list.h); empty for a
// missing file or a directory.
struct InPlaceChange {
  std::map<std::string, std::string> put;   // files to move from area/new into the target
  std::map<std::string, std::string> drop;  // files to move from the target to area/old
};

// Applies the change completely, or not at all if an error occurs.
std::error_code change_in_place(const std::filesystem::path& area, const std::filesystem::path& target,
                                const InPlaceChange& change);
// Completes the change of a killed run if the area has a journal. Does not touch files that were changed after that
// run.
std::error_code finish_in_place(const std::filesystem::path& area, const std::filesystem::path& target);

}  // namespace aotc
