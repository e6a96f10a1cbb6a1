// SPDX-License-Identifier: Apache-2.0
// WorkArea: the directory in which an output is written before it appears (".out.aotc-PID" beside "out"), and the lock
// of their common folder. The holder of the lock owns all such directories of the output, so `open` deletes or
// completes what a killed run left.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "support/diagnostics.h"

namespace aotc {

// Help of messages about a directory that cannot be written.
inline constexpr const char* kNeedsRoom = "check that the directory exists, is writable and has free space";

// `path` made absolute, with links followed and without a trailing slash.
std::filesystem::path resolve_output(const std::string& path);

class WorkArea {
 public:
  // `target`: a result of `resolve_output`. `shown`: the name in messages.
  WorkArea(std::filesystem::path target, std::string shown) : target_(std::move(target)), shown_(std::move(shown)) {}
  // Deletes the area, and the folders created for it if the target did not appear.
  ~WorkArea();
  WorkArea(const WorkArea&) = delete;
  WorkArea& operator=(const WorkArea&) = delete;

  // Creates the folders above, takes the lock, deletes leftovers and creates the area. Waits for another run that
  // writes in this folder. Reports [file-write], [output-busy], [output-exists].
  Status open(bool make_folders, Diagnostics& diags);

  const std::filesystem::path& target() const { return target_; }
  // The directory that the caller fills; after `put` it holds the previous content.
  std::filesystem::path fresh() const { return area_ / "new"; }
  std::filesystem::path retired() const { return area_ / (exchanged_ ? "new" : "old"); }
  // The folder of the journal of `in_place.h` and of the files it removes.
  const std::filesystem::path& area() const { return area_; }

  // Replaces the target by `fresh`, in one step if the system supports it.
  std::error_code put(bool lasting);
  // Undoes `put`.
  std::error_code put_back();

 private:
  Status make_folders(Diagnostics& diags);
  Status lock(Diagnostics& diags);
  Status clear_left_over(Diagnostics& diags);
  Status finish(const std::filesystem::path& left, Diagnostics& diags);
  std::error_code put_in_two_steps();
  bool holds_the_only_one() const;
  Failure fail(const char* slug, const std::string& what, const char* help, Diagnostics& diags) const;

  std::filesystem::path target_, area_;
  std::string shown_;
  std::vector<std::filesystem::path> made_;  // folders above the target, outermost first
  int lock_ = -1;
  bool there_was_one_ = false, exchanged_ = false, put_ = false, can_go_back_ = true;
};

}  // namespace aotc
