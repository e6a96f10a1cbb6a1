// SPDX-License-Identifier: Apache-2.0
// Replaces files of a directory that must stay the same directory, because a shell is in it. There
// is no step that does this at once: what is to be done is written down first, in the work area,
// and the next run ends what a killed one began.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <system_error>

namespace aotc {

// In the work area while a change is under way.
inline constexpr const char* kInPlaceJournal = "in-place.json";

// Names are relative to the target. Values are the checksums of what is there now (output_list.h),
// empty if there is nothing or if it is a directory.
struct InPlaceChange {
  std::map<std::string, std::string> put;   // from area/new
  std::map<std::string, std::string> drop;  // to area/old
};

// All of the change, or after an error nothing of it.
std::error_code change_in_place(const std::filesystem::path& area,
                                const std::filesystem::path& target, const InPlaceChange& change);
// Ends the change of a killed run, if there is one in this area. Files that somebody changed since
// are left alone.
std::error_code finish_in_place(const std::filesystem::path& area,
                                const std::filesystem::path& target);

}  // namespace aotc
