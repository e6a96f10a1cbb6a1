// SPDX-License-Identifier: Apache-2.0
#include "support/work_area.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "support/disk.h"
#include "support/json.h"
#include "support/text.h"

namespace aotc {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMostOfName = 180;  // a name has 255 bytes at most
constexpr int kTries = 1500;         // of the lock: half a minute
constexpr long kPause = 20'000'000;  // nanoseconds between two
// In the area: the previous directory if the system cannot exchange two names, the files that a change in place removed
// from the target, and the list of such a change.
constexpr const char *kOld = "old", *kRemoved = "removed", *kJournal = "in-place.json";
constexpr const char* kDirectory = "directory";  // state of an entry that is one

std::string area_prefix(const fs::path& target) {
  return "." + target.filename().string().substr(0, kMostOfName) + ".aotc-";
}

// A directory of this user's whose name is the prefix and digits.
bool is_area(const fs::path& path, const std::string& prefix) {
  const std::string name = path.filename().string();
  if (!name.starts_with(prefix) || name.size() == prefix.size()) return false;
  if (name.find_first_not_of("0123456789-", prefix.size()) != std::string::npos) return false;
  struct stat status;
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid();
}

// Renames that can be undone.
class Moves {
 public:
  std::error_code move(const fs::path& from, const fs::path& to) {
    std::error_code ec;
    fs::create_directories(to.parent_path(), ec);
    if (ec) return ec;
    done_.reserve(done_.size() + 1);
    std::pair<fs::path, fs::path> step(from, to);
    ec = rename_over(from, to);
    if (!ec) done_.push_back(std::move(step));
    return ec;
  }
  std::error_code undo() {
    std::error_code ec;
    for (; !ec && !done_.empty(); done_.pop_back()) {
      const auto& [from, to] = done_.back();
      fs::create_directories(from.parent_path(), ec);
      if (!ec) ec = rename_over(to, from);
    }
    return ec;
  }

 private:
  std::vector<std::pair<fs::path, fs::path>> done_;
};

// Removes the folders above a file of the target that became empty.
void remove_empty_folders(const fs::path& target, const std::string& name) {
  for (fs::path p = fs::path(name).parent_path(); !p.empty(); p = p.parent_path())
    if (::rmdir((target / p).c_str()) != 0) return;
}

// Makes the changes of a journal that are not made yet. `resumed`: a killed run made the journal, so entries of the
// target whose state differs belong to somebody else and stay.
std::error_code apply(const fs::path& area, const fs::path& target, const Checksums& changed, bool resumed,
                      Moves& moves) {
  // Removed files first: new files may need a folder in their place, or the reverse.
  for (const bool has_new : {false, true})
    for (const auto& [name, state] : changed) {
      const fs::path fresh = area / "new" / name, removed = area / kRemoved / name, place = target / name;
      if (is_there(fresh) != has_new) continue;
      if (is_there(place)) {
        std::string now = state;
        if (resumed)
          if (std::error_code ec = state_of(place, now)) return ec;
        if ((resumed && state.empty()) || now != state || is_there(removed)) continue;
        if (std::error_code ec = moves.move(place, removed)) return ec;
      }
      if (has_new) {
        if (std::error_code ec = moves.move(fresh, place)) return ec;
      } else {
        remove_empty_folders(target, name);
      }
    }
  return {};
}

}  // namespace

std::string checksum_of(std::string_view content) { return fmt::format("{:016x}", stable_hash(content)); }

std::error_code state_of(const fs::path& path, std::string& out) {
  std::error_code ec;
  std::optional<std::string> content;
  if (fs::is_directory(fs::symlink_status(path, ec))) {
    out = kDirectory;
    return {};
  }
  ec = read_regular_file(path, content);
  out = content ? checksum_of(*content) : "";
  return ec;
}

fs::path resolve_output(const std::string& path) {
  std::error_code ec;
  fs::path out = fs::weakly_canonical(fs::absolute(path, ec), ec);
  if (ec || out.empty()) out = fs::absolute(path, ec).lexically_normal();
  if (!out.has_filename() && out.has_relative_path()) out = out.parent_path();
  return out;
}

Failure WorkArea::fail(const char* slug, const std::string& what, const char* help, Diagnostics& diags) const {
  Location where;
  where.file = shown_;
  diags.error(where, slug, what).help(help);
  return kFailure;
}

// What was there before is in the area and nowhere else: the next run brings it back.
bool WorkArea::holds_the_only_one() const {
  return is_there(area_ / kJournal) || (there_was_one_ && !is_there(target_));
}

WorkArea::~WorkArea() {
  try {
    if (!area_.empty() && !holds_the_only_one()) (void)remove_tree(area_);  // or the next run does it
    for (auto it = made_.rbegin(); it != made_.rend(); ++it) ::rmdir(it->c_str());
  } catch (...) {  // no memory for a name: as if it was killed
  }
  if (lock_ >= 0) ::close(lock_);
}

Status WorkArea::make_folders(Diagnostics& diags) {
  std::vector<fs::path> missing;
  std::error_code ec;
  for (fs::path p = target_.parent_path(); !fs::exists(p, ec) && p.has_relative_path(); p = p.parent_path())
    missing.push_back(p);
  for (auto it = missing.rbegin(); it != missing.rend(); ++it) {
    made_.reserve(made_.size() + 1);
    ec = make_directory(*it);
    if (ec && ec != std::errc::file_exists)
      return fail("file-write", fmt::format("cannot create directory '{}': {}", it->string(), ec.message()), kNeedsRoom,
                  diags);
    if (!ec) made_.push_back(*it);
  }
  return success();
}

Status WorkArea::lock(Diagnostics& diags) {
  lock_ = ::open(target_.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // A folder that may be written but not listed has no lock; nor do some network file systems.
  if (lock_ < 0 && errno == EACCES) return success();
  if (lock_ < 0)
    return fail("file-write",
                fmt::format("cannot open the parent directory: {}", std::generic_category().message(errno)), kNeedsRoom,
                diags);
  for (int i = 0; i < kTries; ++i) {
    if (::flock(lock_, LOCK_EX | LOCK_NB) == 0) return success();
    if (errno != EWOULDBLOCK && errno != EINTR) break;
    const timespec pause{0, kPause};
    ::nanosleep(&pause, nullptr);
  }
  const bool busy = errno == EWOULDBLOCK;
  ::close(lock_);
  lock_ = -1;
  if (!busy) return success();
  return fail("output-busy", "another aotc is still writing to this directory",
              "wait until the other aotc has ended, or end it", diags);
}

Status WorkArea::finish(const fs::path& left, Diagnostics& diags) {
  constexpr const char* kKilled = "an earlier run of aotc was killed";
  std::optional<std::string> text;
  std::error_code ec = read_regular_file(left / kJournal, text);
  nlohmann::json journal;
  if (text && !parse_json(*text, journal) && journal.is_object()) {
    Checksums changed;
    for (const auto& [name, state] : journal.items())
      if (state.is_string()) changed[name] = state.get<std::string>();
    Moves moves;
    ec = apply(left, target_, changed, true, moves);
  }
  if (ec)
    return fail("file-write", fmt::format("{}, and its changes cannot be completed: {}", kKilled, ec.message()),
                kNeedsRoom, diags);
  if (is_there(left / kOld) && is_there(left / "new")) {
    if (is_there(target_))
      return fail("output-exists",
                  fmt::format("{}; the previous content of the output directory is in '{}'", kKilled, left.string()),
                  "move the files that you need out of that directory, delete the directory, and try again", diags);
    if ((ec = rename_fresh(left / kOld, target_)))
      return fail("file-write",
                  fmt::format("{}, and the files that it moved cannot be restored: {}", kKilled, ec.message()),
                  kNeedsRoom, diags);
  }
  (void)remove_tree(left);
  return success();
}

Status WorkArea::clear_left_over(Diagnostics& diags) {
  if (lock_ < 0) return success();  // somebody may be at work there
  const std::string prefix = area_prefix(target_);
  std::vector<std::string> names;
  if (std::error_code ec = list_directory(target_.parent_path(), names))
    return fail("file-write", fmt::format("cannot read the parent directory: {}", ec.message()), kNeedsRoom, diags);
  for (const std::string& name : names)
    if (const fs::path left = target_.parent_path() / name; is_area(left, prefix))
      if (!finish(left, diags)) return kFailure;
  return success();
}

Status WorkArea::open(bool folders, Diagnostics& diags) {
  if (folders && !make_folders(diags)) return kFailure;
  if (!lock(diags) || !clear_left_over(diags)) return kFailure;
  const std::string name = area_prefix(target_) + std::to_string(::getpid());
  std::error_code ec;
  for (int n = 0; n < 100; ++n) {
    fs::path area = target_.parent_path() / (n == 0 ? name : fmt::format("{}-{}", name, n));
    ec = make_directory(area);
    if (!ec) area_ = std::move(area);
    if (ec != std::errc::file_exists) break;
  }
  if (!ec) return success();
  return fail("file-write", fmt::format("cannot write to the parent directory: {}", ec.message()), kNeedsRoom, diags);
}

std::error_code WorkArea::put(bool lasting) {
  const fs::path fresh_one = fresh(), old = area_ / kOld;
  there_was_one_ = is_there(target_);
  std::error_code ec = there_was_one_ ? exchange(fresh_one, target_) : rename_fresh(fresh_one, target_);
  bool can_go_back = true;
  if (there_was_one_ && !ec) {
    retired_ = fresh_one;
  } else if (there_was_one_ && ec == std::errc::function_not_supported) {
    std::error_code no_directory;
    can_go_back = fs::is_directory(target_, no_directory);
    ec = can_go_back ? rename_over(target_, old) : std::error_code();
    if (ec) return ec;
    ec = rename_over(fresh_one, target_);
    if (ec && can_go_back) (void)rename_over(old, target_);
    retired_ = old;
  }
  if (ec || !lasting) return ec;
  ec = sync_to_disk(target_.parent_path());
  if (ec && can_go_back) (void)put_back();
  return ec;
}

std::error_code WorkArea::put_back() {
  const fs::path fresh_one = fresh();
  if (retired_ == fresh_one) return exchange(fresh_one, target_);
  const std::error_code ec = rename_over(target_, fresh_one);
  return !ec && there_was_one_ ? rename_over(retired_, target_) : ec;
}

std::error_code WorkArea::put_in_place(const Checksums& changed) {
  const fs::path draft = area_ / "draft", journal = area_ / kJournal;
  std::error_code ec = write_new_file(draft, json_text(nlohmann::json(changed), 1), 0666, true);
  if (!ec) ec = sync_to_disk(draft);
  if (!ec) ec = rename_over(draft, journal);
  if (ec) return ec;
  Moves moves;
  try {
    ec = apply(area_, target_, changed, false, moves);
  } catch (const std::bad_alloc&) {
    ec = std::make_error_code(std::errc::not_enough_memory);
  }
  if (ec) {
    if (moves.undo()) return ec;  // the next run completes the change
    for (const auto& [name, state] : changed) remove_empty_folders(target_, name);
  }
  ::unlink(journal.c_str());
  return ec;
}

}  // namespace aotc
