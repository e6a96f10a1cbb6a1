// SPDX-License-Identifier: Apache-2.0
// WorkArea: the temporary directory in which aotc writes an output before it appears: ".out.aotc-PID" beside "out". A
// WorkArea holds the lock of their common folder. The holder of the lock owns all temporary directories of the output,
// so `open` can delete them or complete the change of a killed run.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "support/diagnostics.h"

namespace aotc {

// The help text for errors about a directory that cannot be written.
inline constexpr const char* kNeedsRoom = "check that the directory exists, is writable and has free space";

// Returns `path` as an absolute path, with links resolved and without a trailing slash.
std::filesystem::path resolve_output(const std::string& path);

class WorkArea {
 public:
  // `target`: the output, a result of `resolve_output`. `shown`: its name in messages.
  WorkArea(std::filesystem::path target, std::string shown) : target_(std::move(target)), shown_(std::move(shown)) {}
  // Deletes the area, unless it has the only copy of the old output. If `put` did not succeed, also deletes the folders
  // that `open` created.
  ~WorkArea();
  WorkArea(const WorkArea&) = delete;
  WorkArea& operator=(const WorkArea&) = delete;

  // Takes the lock, deletes leftovers and creates the area. `make_folders`: first creates missing folders above the
  // target. Waits while another run writes in this folder. Reports [file-write], [output-busy], [output-exists].
  Status open(bool make_folders, Diagnostics& diags);

  const std::filesystem::path& target() const { return target_; }
  // fresh(): the directory that the caller fills. retired(): after `put`, the directory with the previous content.
  std::filesystem::path fresh() const { return area_ / "new"; }
  std::filesystem::path retired() const { return area_ / (exchanged_ ? "new" : "old"); }
  // The area itself, in which in_place.h stores its journal and the files that it removes from the target.
  const std::filesystem::path& area() const { return area_; }

  // Replaces the target by fresh(), in one step if the system supports it. `lasting`: also syncs to the disk.
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
  std::vector<std::filesystem::path> made_;  // created folders above the target, outermost first
  int lock_ = -1;
  bool there_was_one_ = false, exchanged_ = false, put_ = false, can_go_back_ = true;
};

}  // namespace aotc
