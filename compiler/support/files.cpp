// SPDX-License-Identifier: Apache-2.0
#include "support/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "support/disk.h"
#include "support/work_area.h"

namespace aotc {

namespace fs = std::filesystem;

namespace {

constexpr size_t kPiece = 65536;

Failure unreadable(const Location& where, const std::string& why, Diagnostics& diags) {
  diags.error(where, "file-read", "cannot read file: " + why);
  return kFailure;
}

Failure too_large(const Location& where, uint64_t limit, Diagnostics& diags) {
  diags.error(where, "file-too-large", fmt::format("file is larger than {} bytes", limit));
  return kFailure;
}

std::string reason_of(int error) {
  if (error == ENOENT || error == ENOTDIR) return "no such file";
  if (error == EACCES || error == EPERM) return "permission denied or not readable";
  return std::generic_category().message(error);
}

// Empty for a regular file.
const char* other_kind(mode_t mode) {
  if (S_ISREG(mode)) return "";
  if (S_ISDIR(mode)) return "it is a directory";
  if (S_ISFIFO(mode)) return "it is a pipe, not a file";
  if (S_ISSOCK(mode)) return "it is a socket, not a file";
  return "it is a device, not a file";
}

Result<std::vector<uint8_t>> read_to_end(int fd, uint64_t expected, const Location& where,
                                         uint64_t limit, Diagnostics& diags) {
  std::vector<uint8_t> bytes;
  size_t filled = 0;
  while (true) {
    // One byte more than was measured shows the end without another piece.
    const uint64_t wanted = std::max<uint64_t>(expected + 1, filled + kPiece);
    if (filled == bytes.size()) bytes.resize(std::min<uint64_t>(wanted, limit + 1));
    ssize_t n = ::read(fd, bytes.data() + filled, bytes.size() - filled);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return unreadable(where, reason_of(errno), diags);
    if (n == 0) break;
    filled += static_cast<size_t>(n);
    if (filled > limit) return too_large(where, limit, diags);
  }
  bytes.resize(filled);
  return bytes;
}

}  // namespace

Result<std::vector<uint8_t>> read_file(const std::string& path, Diagnostics& diags,
                                       uint64_t limit) {
  Location where;
  where.file = path;
  struct stat status;
  // Before it is opened: that alone may wait for somebody, or do something to a device.
  if (::stat(path.c_str(), &status) != 0) return unreadable(where, reason_of(errno), diags);
  if (const char* kind = other_kind(status.st_mode); *kind != '\0')
    return unreadable(where, kind, diags);
  if (static_cast<uint64_t>(status.st_size) > limit) return too_large(where, limit, diags);
  const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return unreadable(where, reason_of(errno), diags);
  auto bytes = read_to_end(fd, static_cast<uint64_t>(status.st_size), where, limit, diags);
  ::close(fd);
  return bytes;
}

Result<std::vector<uint8_t>> read_standard_input(Diagnostics& diags, uint64_t limit) {
  Location where;
  where.file = "standard input";
  return read_to_end(STDIN_FILENO, 0, where, limit, diags);
}

namespace {

Status unwritten(const std::string& path, const std::error_code& ec, Diagnostics& diags) {
  if (!ec) return success();
  Location where;
  where.file = path;
  diags.error(where, "file-write", fmt::format("cannot write file: {}", ec.message()))
      .help("check that the directory exists, is writable and has room");
  return kFailure;
}

}  // namespace

Status write_file(const std::string& path, const std::string& content, Diagnostics& diags) {
  struct stat status{};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode))
    return unwritten(path, std::make_error_code(std::errc::is_a_directory), diags);
  if (exists && !S_ISREG(status.st_mode)) return unwritten(path, write_into(path, content), diags);
  WorkArea area(resolve_output(path), path);
  if (!area.open(false, diags)) return kFailure;
  const fs::path fresh = area.fresh();
  std::error_code ec = write_new_file(fresh, content, 0666, true);
  if (!ec && exists) (void)::chmod(fresh.c_str(), status.st_mode & 07777);
  if (!ec) ec = sync_to_disk(fresh);
  if (!ec) ec = area.put(true);
  return unwritten(path, ec, diags);
}

Status write_scratch_file(const std::string& path, const std::string& content, Diagnostics& diags) {
  ::unlink(path.c_str());
  return unwritten(path, write_new_file(path, content, 0666, false), diags);
}

}  // namespace aotc
