// SPDX-License-Identifier: Apache-2.0
#include "support/file_bytes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <mutex>

#include "support/files.h"

namespace aotc {

namespace {

// What the handler of a signal may look at: a row is taken while `start` is set, which is set last.
struct Mapping {
  std::atomic<uintptr_t> start{0};
  size_t size = 0;
  int fd = -1;
  struct stat before{};
  char path[512] = {};
};

constexpr int kMostMappings = 64;
std::array<Mapping, kMostMappings> mappings;
std::mutex mappings_change;

constexpr const char* kShorter = ": error: the file became shorter while aotc read it [file-changed]\n";

void put(const char* text) {
  for (size_t left = std::strlen(text); left > 0;) {
    const ssize_t n = ::write(STDERR_FILENO, text, left);
    if (n <= 0) return;
    text += n;
    left -= static_cast<size_t>(n);
  }
}

// The kernel's word for a page of a mapping whose file has ended before it.
void page_is_gone(int signal, siginfo_t* info, void*) {
  const auto at = reinterpret_cast<uintptr_t>(info->si_addr);
  for (const Mapping& m : mappings) {
    const uintptr_t start = m.start.load();
    if (start == 0 || at < start || at - start >= m.size) continue;
    put(m.path);
    put(kShorter);
    ::_exit(1);
  }
  // Nothing of ours: what it would have been without us, when the access is made again.
  ::signal(signal, SIG_DFL);
}

void watch_pages() {
  struct sigaction action{};
  action.sa_sigaction = page_is_gone;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &action, nullptr);
}

void release(Mapping& m) {
  std::lock_guard lock(mappings_change);
  ::munmap(reinterpret_cast<void*>(m.start.load()), m.size);
  m.start = 0;
  ::close(m.fd);
}

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

// A page that is looked at brings the whole of its large folio along, megabytes of it. Folios that reach out of an area
// of memory come page by page, so the mapping is made of small areas: neighbours differ in a flag that says nothing
// here.
void keep_small(uint8_t* start, size_t size) {
  constexpr size_t kArea = size_t{256} << 10;
  for (size_t at = 0; at < size; at += 2 * kArea) (void)::madvise(start + at, std::min(kArea, size - at), MADV_RANDOM);
}

// Null: it cannot be mapped, and has to be read.
Mapping* map_descriptor(int fd, const std::string& path, uint64_t limit) {
  struct stat status{};
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return nullptr;
  const auto size = static_cast<uint64_t>(status.st_size);
  if (size < kSmallestMapped || size > limit) return nullptr;
  std::lock_guard lock(mappings_change);
  static std::once_flag watching;
  std::call_once(watching, watch_pages);
  for (Mapping& m : mappings) {
    if (m.start != 0) continue;
    void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (start == MAP_FAILED) return nullptr;
    keep_small(static_cast<uint8_t*>(start), size);
    m.size = size;
    m.fd = fd;
    m.before = status;
    m.path[path.copy(m.path, sizeof m.path - 1)] = '\0';
    m.start = reinterpret_cast<uintptr_t>(start);
    return &m;
  }
  return nullptr;
}

}  // namespace

FileBytes::FileBytes(std::vector<uint8_t> bytes) {
  auto kept = std::make_shared<const std::vector<uint8_t>>(std::move(bytes));
  bytes_ = *kept;
  owner_ = std::move(kept);
}

Result<FileBytes> map_file(const std::string& path, Diagnostics& diags, uint64_t limit) {
  struct stat status{};
  // Opening alone may wait for somebody, or do something to a device.
  const bool large = ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
                     static_cast<uint64_t>(status.st_size) >= kSmallestMapped;
  const int fd = large ? ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
  Mapping* mapping = fd < 0 ? nullptr : map_descriptor(fd, path, limit);
  if (mapping != nullptr) {
    const auto* start = reinterpret_cast<const uint8_t*>(mapping->start.load());
    std::shared_ptr<const void> owner(start, [mapping](const void*) { release(*mapping); });
    return FileBytes(std::move(owner), {start, mapping->size});
  }
  if (fd >= 0) ::close(fd);
  auto bytes = read_file(path, diags, limit);
  if (!bytes) return kFailure;
  return FileBytes(std::move(*bytes));
}

Status check_mapped_files(Diagnostics& diags) {
  std::lock_guard lock(mappings_change);
  bool same = true;
  for (const Mapping& m : mappings) {
    struct stat now{};
    if (m.start == 0 || (::fstat(m.fd, &now) == 0 && same_file(now, m.before))) continue;
    Location where;
    where.file = m.path;
    diags.error(where, "file-changed", "the file changed while aotc read it").help("run the command again");
    same = false;
  }
  return same ? success() : Status(kFailure);
}

}  // namespace aotc
