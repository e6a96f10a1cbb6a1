// SPDX-License-Identifier: Apache-2.0
// Preloaded into aotc by output_faults.py: makes one call of the file system fail, or ends the
// process there. Calls count that are about something below AOTC_FAULT_ROOT, from 1.
//
//   AOTC_FAULT_AT=N          the call that fails
//   AOTC_FAULT_ACTION=...    EIO, ENOSPC, kill (SIGKILL instead of the call), stop (SIGSTOP before
//   it) AOTC_FAULT_MEMORY=N      the N-th allocation after the first such call fails
//   AOTC_FAULT_MEMORY_ON=1   and all behind it
//   AOTC_FAULT_NO_EXCHANGE=1 renameat2 knows no flags, as on some file systems
//   AOTC_FAULT_NO_LINK=1     linkat is not permitted, as on FAT
//   AOTC_FAULT_LOG=FILE      names of the calls, one a line, and the number of allocations
//   AOTC_FAULT_BUSY=FILE     is made when a lock is held by somebody else
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
}

namespace {

long calls = 0, allocations = 0;
bool armed = false;

// Without an allocation: used below malloc.
const char* setting(const char* name) {
  const char* text = getenv(name);
  return text != nullptr && *text != '\0' ? text : nullptr;
}
long number(const char* name) {
  const char* text = setting(name);
  return text != nullptr ? strtol(text, nullptr, 10) : 0;
}

bool below_root(const char* path) {
  const char* root = setting("AOTC_FAULT_ROOT");
  return root != nullptr && strncmp(path, root, strlen(root)) == 0;
}

bool below_root(int fd, const char* path) {
  if (path != nullptr && path[0] == '/') return below_root(path);
  char link[64], name[4096];
  snprintf(link, sizeof link, fd == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, name, sizeof name - 1);
  if (n <= 0) return false;
  name[n] = '\0';
  return below_root(name);
}

void log_line(const char* text) {
  const char* path = setting("AOTC_FAULT_LOG");
  if (path == nullptr) return;
  const int fd = static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND, 0666));
  char line[200];
  const int n = snprintf(line, sizeof line, "%s\n", text);
  syscall(SYS_write, fd, line, n);
  syscall(SYS_close, fd);
}

// True: the call fails, errno is set.
bool fails(const char* function) {
  armed = true;
  log_line(function);
  if (++calls != number("AOTC_FAULT_AT")) return false;
  const char* action = setting("AOTC_FAULT_ACTION");
  if (action == nullptr) return false;
  if (strcmp(action, "kill") == 0) raise(SIGKILL);
  if (strcmp(action, "stop") == 0) {
    raise(SIGSTOP);
    return false;
  }
  errno = strcmp(action, "ENOSPC") == 0 ? ENOSPC : EIO;
  return true;
}

template <typename Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

bool memory_fails() {
  if (!armed) return false;
  const long wanted = number("AOTC_FAULT_MEMORY");
  ++allocations;
  if (wanted == 0 || allocations < wanted) return false;
  if (allocations > wanted && number("AOTC_FAULT_MEMORY_ON") == 0) return false;
  errno = ENOMEM;
  return true;
}

__attribute__((destructor)) void at_exit() {
  char text[64];
  snprintf(text, sizeof text, "allocations %ld", allocations);
  log_line(text);
}

int open_any(const char* name, int fd, const char* path, int flags, mode_t mode) {
  if (below_root(fd, path) && fails(name)) return -1;
  return static_cast<int>(syscall(SYS_openat, fd, path, flags, mode));
}

mode_t mode_of(int flags, va_list list) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? static_cast<mode_t>(va_arg(list, int)) : 0;
}

}  // namespace

extern "C" {

void* malloc(size_t n) { return memory_fails() ? nullptr : __libc_malloc(n); }
void* calloc(size_t n, size_t m) { return memory_fails() ? nullptr : __libc_calloc(n, m); }
void* realloc(void* p, size_t n) { return memory_fails() ? nullptr : __libc_realloc(p, n); }

#define OPEN(NAME)                                        \
  int NAME(const char* path, int flags, ...) {            \
    va_list list;                                         \
    va_start(list, flags);                                \
    const mode_t mode = mode_of(flags, list);             \
    va_end(list);                                         \
    return open_any("open", AT_FDCWD, path, flags, mode); \
  }
OPEN(open)
OPEN(open64)
#define OPENAT(NAME)                                   \
  int NAME(int fd, const char* path, int flags, ...) { \
    va_list list;                                      \
    va_start(list, flags);                             \
    const mode_t mode = mode_of(flags, list);          \
    va_end(list);                                      \
    return open_any("openat", fd, path, flags, mode);  \
  }
OPENAT(openat)
OPENAT(openat64)

ssize_t write(int fd, const void* data, size_t size) {
  if (fd > 2 && below_root(fd, nullptr) && fails("write")) return -1;
  return syscall(SYS_write, fd, data, size);
}
int close(int fd) {
  const bool bad = fd > 2 && below_root(fd, nullptr) && fails("close");
  const int error = errno;
  const long done = syscall(SYS_close, fd);
  if (!bad) return static_cast<int>(done);
  errno = error;
  return -1;
}
int fsync(int fd) {
  if (below_root(fd, nullptr) && fails("fsync")) return -1;
  return 0;  // who is killed here has the kernel's view of the files: the disk would only take time
}
int flock(int fd, int operation) {
  if (below_root(fd, nullptr) && fails("flock")) return -1;
  const long done = syscall(SYS_flock, fd, operation);
  const char* busy = setting("AOTC_FAULT_BUSY");
  if (done != 0 && errno == EWOULDBLOCK && busy != nullptr) {
    syscall(SYS_close, syscall(SYS_openat, AT_FDCWD, busy, O_WRONLY | O_CREAT, 0666));
    errno = EWOULDBLOCK;
  }
  return static_cast<int>(done);
}
int mkdir(const char* path, mode_t mode) {
  if (below_root(AT_FDCWD, path) && fails("mkdir")) return -1;
  return static_cast<int>(syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}
int rename(const char* from, const char* to) {
  if (below_root(AT_FDCWD, from) && fails("rename")) return -1;
  return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
int renameat2(int a, const char* from, int b, const char* to, unsigned flags) {
  if (flags != 0 && number("AOTC_FAULT_NO_EXCHANGE") != 0) {
    errno = EINVAL;
    return -1;
  }
  if (below_root(a, from) && fails("renameat2")) return -1;
  return static_cast<int>(syscall(SYS_renameat2, a, from, b, to, flags));
}
int linkat(int a, const char* from, int b, const char* to, int flags) {
  if (number("AOTC_FAULT_NO_LINK") != 0) {
    errno = EPERM;
    return -1;
  }
  if (below_root(a, from) && fails("linkat")) return -1;
  return static_cast<int>(syscall(SYS_linkat, a, from, b, to, flags));
}
int unlink(const char* path) {
  if (below_root(AT_FDCWD, path) && fails("unlink")) return -1;
  return static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}
int unlinkat(int fd, const char* path, int flags) {
  if (below_root(fd, path) && fails("unlinkat")) return -1;
  return static_cast<int>(syscall(SYS_unlinkat, fd, path, flags));
}
int rmdir(const char* path) {
  if (below_root(AT_FDCWD, path) && fails("rmdir")) return -1;
  return static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR));
}
int remove(const char* path) {
  if (below_root(AT_FDCWD, path) && fails("remove")) return -1;
  return real<int(const char*)>("remove")(path);
}
int chmod(const char* path, mode_t mode) {
  if (below_root(AT_FDCWD, path) && fails("chmod")) return -1;
  return static_cast<int>(syscall(SYS_fchmodat, AT_FDCWD, path, mode));
}
DIR* opendir(const char* path) {
  if (below_root(AT_FDCWD, path) && fails("opendir")) return nullptr;
  return real<DIR*(const char*)>("opendir")(path);
}
DIR* fdopendir(int fd) {
  if (below_root(fd, nullptr) && fails("fdopendir")) return nullptr;
  return real<DIR*(int)>("fdopendir")(fd);
}
}
