// SPDX-License-Identifier: Apache-2.0
#include "support/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "support/disk.h"
#include "support/text.h"
#include "support/work_area.h"

namespace aotc {

namespace fs = std::filesystem;

namespace {

constexpr size_t kPiece = 65536;
constexpr const char* kNoSuchFile = "no such file";

// Help for a missing file: names in its folder that are nearly its own, else files with its extension.
std::string instead_of(const fs::path& missing) {
  const fs::path folder = missing.has_parent_path() ? missing.parent_path() : fs::path(".");
  std::error_code ec;
  if (!fs::is_directory(folder, ec))
    return fmt::format("there is no directory '{}'", escape_for_display(folder.string(), 400));
  constexpr size_t kMostLooked = 4096, kMostNamed = 5;
  std::vector<std::string> names, same_kind;
  for (fs::directory_iterator at(folder, ec), end; !ec && at != end && names.size() < kMostLooked; at.increment(ec))
    names.push_back(at->path().filename().string());
  std::sort(names.begin(), names.end());
  auto listed = [](const std::vector<std::string>& all) {
    std::string out;
    for (size_t i = 0; i < all.size() && i < kMostNamed; ++i)
      out += (i > 0 ? ", '" : "'") + escape_for_display(all[i]) + "'";
    return out + (all.size() > kMostNamed ? ", ..." : "");
  };
  if (const auto near = closest(missing.filename().string(), names); !near.empty())
    return "similar names: " + listed(near);
  const std::string kind = missing.extension().string();
  for (const std::string& name : names)
    if (!kind.empty() && fs::path(name).extension() == kind) same_kind.push_back(name);
  const std::string where = fmt::format("'{}'", escape_for_display(folder.string(), 400));
  if (kind.empty()) return fmt::format("no file in {} has a similar name", where);
  if (same_kind.empty()) return fmt::format("there is no {} file in {}", escape_for_display(kind), where);
  return fmt::format("the {} files in {} are {}", escape_for_display(kind), where, listed(same_kind));
}

Failure unreadable(const Location& where, const std::string& why, Diagnostics& diags) {
  auto& d = diags.error(where, "file-read", "cannot read file: " + why);
  d.help(why == kNoSuchFile ? instead_of(where.file) : "give a file that can be read");
  return kFailure;
}

Failure too_large(const Location& where, uint64_t limit, Diagnostics& diags) {
  diags.error(where, "file-too-large",
              fmt::format("the file is larger than {} bytes", with_commas(static_cast<int64_t>(limit))));
  return kFailure;
}

std::string reason_of(int error) {
  if (error == ENOENT || error == ENOTDIR) return kNoSuchFile;
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

Result<std::vector<uint8_t>> read_to_end(int fd, uint64_t expected, const Location& where, uint64_t limit,
                                         Diagnostics& diags) {
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

Result<std::vector<uint8_t>> read_file(const std::string& path, Diagnostics& diags, uint64_t limit) {
  Location where;
  where.file = path;
  struct stat status;
  // Before it is opened: that alone may wait for somebody, or do something to a device.
  if (::stat(path.c_str(), &status) != 0) return unreadable(where, reason_of(errno), diags);
  if (const char* kind = other_kind(status.st_mode); *kind != '\0') return unreadable(where, kind, diags);
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
      .help("check that the directory exists, is writable and has free space");
  return kFailure;
}

}  // namespace

Status write_file(const std::string& path, const std::string& content, Diagnostics& diags) {
  struct stat status{};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) return unwritten(path, std::make_error_code(std::errc::is_a_directory), diags);
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
