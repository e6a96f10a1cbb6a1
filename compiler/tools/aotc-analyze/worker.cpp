// SPDX-License-Identifier: Apache-2.0
#include "worker.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

namespace aotc::analyze {

namespace {

constexpr int kOutOfMemory = 250, kThrew = 251;  // exit codes of the work itself are below

void limit_resources(rlim_t seconds) {
  rlimit time = {seconds, seconds + 5};
  setrlimit(RLIMIT_CPU, &time);
  rlimit core = {0, 0};
  setrlimit(RLIMIT_CORE, &core);
#if !defined(AOTC_SANITIZED)
  rlimit memory = {rlim_t{2} << 30, rlim_t{2} << 30};
  setrlimit(RLIMIT_AS, &memory);
#endif
}

std::string death_of(int status) {
  if (WIFEXITED(status)) {
    if (WEXITSTATUS(status) == kOutOfMemory) return "ran out of memory";
    if (WEXITSTATUS(status) == kThrew) return "failed";
    return "";
  }
  switch (WTERMSIG(status)) {
    case SIGXCPU:
    case SIGKILL: return "ran out of time";
    case SIGSEGV:
    case SIGBUS: return "crashed, perhaps because of deep nesting,";
    default: return "crashed";
  }
}

}  // namespace

void Worker::begin(const std::string& what) {
  size_t n = std::min(what.size(), kRoom - 1);
  std::memcpy(begun_, what.data(), n);
  begun_[n] = 0;
}

void Worker::speak() {
  std::fflush(stderr);
  dup2(stderr_, STDERR_FILENO);
}

Worker::Outcome Worker::run(const std::function<int(Worker&)>& work, unsigned seconds) {
  Outcome out;
  void* room = mmap(nullptr, kRoom, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) {
    out.failed = "cannot be started";
    return out;
  }
  begun_ = static_cast<char*>(room);
  std::fflush(stdout);
  std::fflush(stderr);
  pid_t pid = fork();
  if (pid == 0) {
    limit_resources(seconds);
    stderr_ = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(null, STDERR_FILENO);
    int code = kThrew;
    try {
      code = work(*this);
    } catch (const std::bad_alloc&) {
      code = kOutOfMemory;
    } catch (const std::exception&) {
    }
    // No destructors: Clang's are slow, and nothing is left to do.
    std::fflush(stderr);
    _exit(code);
  }
  int status = 0;
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  out.failed = pid > 0 ? death_of(status) : "cannot be started";
  out.during = begun_;
  if (out.failed.empty()) out.exit_code = WEXITSTATUS(status);
  munmap(room, kRoom);
  begun_ = nullptr;
  return out;
}

}  // namespace aotc::analyze
