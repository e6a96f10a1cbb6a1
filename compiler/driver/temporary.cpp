// SPDX-License-Identifier: Apache-2.0
#include "driver/temporary.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/disk.h"

namespace aotc::driver {

namespace fs = std::filesystem;

namespace {

constexpr const char* kPrefix = "aotc-tmp-";
constexpr const char* kLock = ".lock";
constexpr size_t kRandom = 6;  // letters that mkdtemp chooses

// Its lock is a file in the directory, held as long as the owner lives; the directory itself is
// locked by whoever writes output into it. -1 with errno: there is none to be had, with EWOULDBLOCK
// because somebody else has it.
int lock_directory(const fs::path& path, int flags) {
  int fd = ::open((path / kLock).c_str(), flags | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0 || ::flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  const int error = errno;
  ::close(fd);
  errno = error;
  return -1;
}

// What runs left that were killed: directories of this user's that nobody has locked.
void clear_left_over(const fs::path& parent) {
  std::vector<std::string> names;
  if (list_directory(parent, names)) return;
  for (const std::string& name : names) {
    if (!name.starts_with(kPrefix) || name.size() != std::string_view(kPrefix).size() + kRandom) continue;
    const fs::path path = parent / name;
    struct stat status;
    if (::lstat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != ::geteuid()) continue;
    const int lock = lock_directory(path, 0);
    if (lock >= 0) (void)remove_tree(path);
    if (lock < 0 && errno == ENOENT) ::rmdir(path.c_str());  // killed before it had a lock, or about to lock
    if (lock >= 0) ::close(lock);
  }
}

}  // namespace

TemporaryDirectory::TemporaryDirectory() {
  std::error_code ec;
  const fs::path parent = fs::temp_directory_path(ec);
  if (ec) return;
  clear_left_over(parent);
  // Between its making and its lock it looks like one that was left: then it is gone, and made
  // again.
  for (int i = 0; i < 10 && path_.empty(); ++i) {
    std::string pattern = (parent / (kPrefix + std::string(kRandom, 'X'))).string();
    if (mkdtemp(pattern.data()) == nullptr) return;
    lock_ = lock_directory(pattern, O_CREAT);
    const bool no_locks = lock_ < 0 && errno != EWOULDBLOCK && errno != ENOENT;
    struct stat held, there;
    if (no_locks || (lock_ >= 0 && ::fstat(lock_, &held) == 0 &&
                     ::stat((fs::path(pattern) / kLock).c_str(), &there) == 0 && held.st_ino == there.st_ino))
      path_ = pattern;
    else if (lock_ >= 0) ::close(std::exchange(lock_, -1));
  }
}

TemporaryDirectory::~TemporaryDirectory() {
  if (!path_.empty()) (void)remove_tree(path_);
  if (lock_ >= 0) ::close(lock_);
}

Status TemporaryDirectory::made(Diagnostics& diags) const {
  if (!path_.empty()) return success();
  Location where;
  const char* parent = std::getenv("TMPDIR");
  where.file = parent != nullptr ? parent : "/tmp";
  diags.error(where, "file-write", "cannot make a temporary directory")
      .help("set TMPDIR to a writable directory with free space");
  return kFailure;
}

}  // namespace aotc::driver
