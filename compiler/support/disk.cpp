// SPDX-License-Identifier: Apache-2.0
#include "support/disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

namespace aotc {

namespace fs = std::filesystem;

namespace {

std::error_code last_error() { return {errno, std::generic_category()}; }
std::error_code done_or(int result) { return result == 0 ? std::error_code() : last_error(); }

int open_again(const char* path, int flags, mode_t mode = 0) {
  int fd = -1;
  do {
    fd = ::open(path, flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

std::error_code write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return last_error();
    content.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

// Some file systems report only here that there is no room.
std::error_code close_after(int fd, std::error_code before) {
  const int closed = ::close(fd);
  return before ? before : closed == 0 || errno == EINTR ? std::error_code() : last_error();
}

bool unsupported(int error) { return error == EINVAL || error == ENOSYS || error == ENOTSUP || error == EOPNOTSUPP; }

}  // namespace

// Not by the C++ library's iterator, which ends the process when there is no memory.
std::error_code list_directory(const fs::path& path, std::vector<std::string>& out) {
  out.clear();
  std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(path.c_str()), ::closedir);
  if (!directory) return last_error();
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(directory.get());
    if (entry == nullptr && errno != 0) return last_error();
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") out.emplace_back(name);
  }
  std::sort(out.begin(), out.end());
  return {};
}

std::error_code read_regular_file(const fs::path& path, std::optional<std::string>& out, uint64_t limit) {
  out.reset();
  auto unless_absent = [] {
    return errno == ENOENT || errno == ENOTDIR || errno == EACCES ? std::error_code() : last_error();
  };
  struct stat status;
  if (::lstat(path.c_str(), &status) != 0) return unless_absent();
  if (!S_ISREG(status.st_mode) || static_cast<uint64_t>(status.st_size) > limit) return {};
  std::string content(static_cast<size_t>(status.st_size), '\0');
  const int fd = open_again(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return unless_absent();
  size_t filled = 0;
  ssize_t n = 0;
  do {
    n = ::read(fd, content.data() + filled, content.size() - filled);
    if (n > 0) filled += static_cast<size_t>(n);
  } while (n > 0 || (n < 0 && errno == EINTR));
  const std::error_code ec = n < 0 ? last_error() : std::error_code();
  ::close(fd);
  content.resize(filled);
  if (!ec) out = std::move(content);
  return ec;
}

std::error_code write_new_file(const fs::path& path, std::string_view content, mode_t mode, bool lasting) {
  int fd = open_again(path.c_str(), O_WRONLY | O_CREAT | O_EXCL, mode);
  if (fd < 0) return last_error();
  std::error_code ec = write_all(fd, content);
  if (!ec && lasting) (void)::sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);  // only a hint
  return close_after(fd, ec);
}

std::error_code write_into(const fs::path& path, std::string_view content) {
  int fd = open_again(path.c_str(), O_WRONLY);
  if (fd < 0) return last_error();
  return close_after(fd, write_all(fd, content));
}

std::error_code sync_to_disk(const fs::path& path) {
  int fd = open_again(path.c_str(), O_RDONLY);
  if (fd < 0) return errno == EACCES ? std::error_code() : last_error();  // may be written, not read
  std::error_code ec;
  if (::fsync(fd) != 0 && !unsupported(errno)) ec = last_error();
  return close_after(fd, ec);
}

std::error_code make_directory(const fs::path& path) { return done_or(::mkdir(path.c_str(), 0777)); }

std::error_code rename_fresh(const fs::path& from, const fs::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (!unsupported(errno)) return last_error();
  if (is_there(to)) return std::make_error_code(std::errc::file_exists);
  return rename_over(from, to);
}

std::error_code rename_over(const fs::path& from, const fs::path& to) {
  return done_or(::rename(from.c_str(), to.c_str()));
}

std::error_code exchange(const fs::path& a, const fs::path& b) {
  if (::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0) return {};
  if (unsupported(errno)) return std::make_error_code(std::errc::function_not_supported);
  return last_error();
}

std::error_code link_or_copy(const fs::path& from, const fs::path& to) {
  if (::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), 0) == 0) return {};
  if (errno != EPERM && errno != EMLINK && !unsupported(errno)) return last_error();
  std::error_code ec;
  const fs::file_status status = fs::symlink_status(from, ec);
  if (ec) return ec;
  if (fs::is_symlink(status)) {
    fs::copy_symlink(from, to, ec);
    return ec;
  }
  if (!fs::is_regular_file(status)) return std::make_error_code(std::errc::not_supported);
  fs::copy_file(from, to, ec);
  if (!ec) fs::last_write_time(to, fs::last_write_time(from, ec), ec);
  return ec ? ec : sync_to_disk(to);
}

std::error_code remove_tree(const fs::path& path) {
  struct stat status;
  if (::lstat(path.c_str(), &status) != 0) return errno == ENOENT ? std::error_code() : last_error();
  if (!S_ISDIR(status.st_mode)) return done_or(::unlink(path.c_str()));
  std::vector<std::string> names;
  std::error_code first = list_directory(path, names);
  for (const std::string& name : names)
    if (std::error_code ec = remove_tree(path / name); ec && !first) first = ec;
  return first ? first : done_or(::rmdir(path.c_str()));
}

bool is_there(const fs::path& path) {
  struct stat status;
  return ::lstat(path.c_str(), &status) == 0;
}

}  // namespace aotc
