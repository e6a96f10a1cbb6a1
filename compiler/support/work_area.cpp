// SPDX-License-Identifier: Apache-2.0
#include "support/work_area.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "support/disk.h"
#include "support/in_place.h"

namespace aotc {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMostOfName = 180;  // a name has 255 bytes at most
constexpr int kTries = 1500;         // of the lock: half a minute
constexpr long kPause = 20'000'000;  // nanoseconds between two
// Marks that the old directory is aside and the new one not yet in its place.
constexpr const char* kTwoSteps = "two-steps";

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

}  // namespace

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
  return is_there(area_ / kInPlaceJournal) || (there_was_one_ && !is_there(target_));
}

WorkArea::~WorkArea() {
  try {
    if (!area_.empty() && !holds_the_only_one()) (void)remove_tree(area_);  // or the next run does it
    if (!put_)
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
  if (std::error_code ec = finish_in_place(left, target_))
    return fail("file-write",
                fmt::format("an earlier run of aotc was killed, and its changes cannot be completed: {}", ec.message()),
                kNeedsRoom, diags);
  const bool old = is_there(left / kTwoSteps) && is_there(left / "old");
  if (old && is_there(left / "new")) {
    if (is_there(target_))
      return fail(
          "output-exists",
          fmt::format("an earlier run of aotc was killed; the previous content of the output directory is in '{}'",
                      left.string()),
          "move the files that you need out of that directory, delete the directory, and try again", diags);
    if (std::error_code ec = rename_fresh(left / "old", target_))
      return fail("file-write",
                  fmt::format("an earlier run of aotc was killed, and the files that it moved cannot be restored: {}",
                              ec.message()),
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

std::error_code WorkArea::put_in_two_steps() {
  if (std::error_code ec = write_new_file(area_ / kTwoSteps, "", 0666, false)) return ec;
  const fs::path old = area_ / "old", fresh_one = fresh();
  std::error_code not_there;
  if (!fs::is_directory(target_, not_there)) {
    can_go_back_ = false;
    return rename_over(fresh_one, target_);
  }
  if (std::error_code ec = rename_over(target_, old)) return ec;
  std::error_code ec = rename_over(fresh_one, target_);
  if (ec) (void)rename_over(old, target_);
  return ec;
}

std::error_code WorkArea::put(bool lasting) {
  const fs::path fresh_one = fresh();
  there_was_one_ = is_there(target_);
  exchanged_ = false;
  can_go_back_ = true;
  std::error_code ec = there_was_one_ ? exchange(fresh_one, target_) : rename_fresh(fresh_one, target_);
  exchanged_ = there_was_one_ && !ec;
  if (there_was_one_ && ec == std::errc::function_not_supported) ec = put_in_two_steps();
  if (ec) return ec;
  put_ = true;
  if (lasting) ec = sync_to_disk(target_.parent_path());
  if (ec && can_go_back_) (void)put_back();
  return ec;
}

std::error_code WorkArea::put_back() {
  std::error_code ec;
  const fs::path fresh_one = fresh();
  if (exchanged_) {
    ec = exchange(fresh_one, target_);
  } else {
    ec = rename_over(target_, fresh_one);
    if (!ec && there_was_one_) ec = rename_over(area_ / "old", target_);
  }
  if (!ec) put_ = false;
  return ec;
}

}  // namespace aotc
