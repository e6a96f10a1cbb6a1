// SPDX-License-Identifier: Apache-2.0
// Where an output is made before it appears: a directory beside it, ".out.aotc-PID" for "out", and
// the lock of the folder that both lie in. The one thing to know: whoever holds the lock owns all
// such directories of the output, so what a killed run left is cleared, or brought to its end, by
// `open`.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "support/diagnostics.h"

namespace aotc {

// What to do where nothing can be written.
inline constexpr const char* kNeedsRoom = "check that the directory exists, is writable and has room";

// `path` made absolute, with links followed and without a slash at its end.
std::filesystem::path resolve_output(const std::string& path);

class WorkArea {
 public:
  // `target`: as `resolve_output` gives it. `shown`: how messages name it.
  WorkArea(std::filesystem::path target, std::string shown)
      : target_(std::move(target)), shown_(std::move(shown)) {}
  // Clears the area, and folders that were made for it if the target did not appear.
  ~WorkArea();
  WorkArea(const WorkArea&) = delete;
  WorkArea& operator=(const WorkArea&) = delete;

  // Makes the folders above, takes the lock, clears, makes the area. Another run that writes in
  // this folder is waited for. Reports [file-write], [output-busy], [output-exists].
  Status open(bool make_folders, Diagnostics& diags);

  const std::filesystem::path& target() const { return target_; }
  // To be filled by the caller; holds what was there before after `put`.
  std::filesystem::path fresh() const { return area_ / "new"; }
  std::filesystem::path retired() const { return area_ / (exchanged_ ? "new" : "old"); }
  // Where the journal of `in_place.h` and what it takes away lie.
  const std::filesystem::path& area() const { return area_; }

  // The target becomes what `fresh` is, in one step wherever the system has one.
  std::error_code put(bool lasting);
  // And back.
  std::error_code put_back();

 private:
  Status make_folders(Diagnostics& diags);
  Status lock(Diagnostics& diags);
  Status clear_left_over(Diagnostics& diags);
  Status finish(const std::filesystem::path& left, Diagnostics& diags);
  std::error_code put_in_two_steps();
  bool holds_the_only_one() const;
  Failure fail(const char* slug, const std::string& what, const char* help,
               Diagnostics& diags) const;

  std::filesystem::path target_, area_;
  std::string shown_;
  std::vector<std::filesystem::path> made_;  // folders above the target, outermost first
  int lock_ = -1;
  bool there_was_one_ = false, exchanged_ = false, put_ = false, can_go_back_ = true;
};

}  // namespace aotc
