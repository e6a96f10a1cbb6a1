// SPDX-License-Identifier: Apache-2.0
#include "support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>

namespace aotc {

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : "";
  const char* path = std::getenv("PATH");
  std::string list = path ? path : "/usr/local/bin:/usr/bin:/bin";
  for (size_t begin = 0; begin <= list.size();) {
    size_t end = std::min(list.find(':', begin), list.size());
    std::string candidate = list.substr(begin, end - begin) + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    begin = end + 1;
  }
  return "";
}

void become_program(const std::vector<std::string>& argv, const std::string& program, const std::string& directory,
                    int in, int out, int error) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // What aotc ignores, programs are not used to ignore.
  for (int s : {SIGPIPE, SIGXFSZ}) signal(s, SIG_DFL);
  dup2(in, 0);
  dup2(out, 1);
  dup2(error, 2);
  if (!directory.empty() && chdir(directory.c_str()) != 0) _exit(127);
  std::vector<char*> args;
  for (const std::string& a : argv) args.push_back(const_cast<char*>(a.c_str()));
  args.push_back(nullptr);
  execv(program.c_str(), args.data());
  _exit(127);
}

ProcessResult run_process(const std::vector<std::string>& argv, const std::string& directory, int timeout_seconds,
                          const std::function<bool(const std::string&)>& on_output) {
  ProcessResult result;
  std::string program = find_program(argv[0]);
  int pipe_ends[2];
  if (program.empty() || pipe2(pipe_ends, O_CLOEXEC) != 0) return result;
  pid_t pid = fork();
  if (pid == 0) become_program(argv, program, directory, open("/dev/null", O_RDONLY), pipe_ends[1], pipe_ends[1]);
  close(pipe_ends[1]);
  if (pid < 0) {
    close(pipe_ends[0]);
    return result;
  }
  result.started = true;
  using Clock = std::chrono::steady_clock;
  auto deadline = Clock::now() + std::chrono::seconds(timeout_seconds);
  char chunk[4096];
  while (true) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd p{pipe_ends[0], POLLIN, 0};
    int ready = left > 0 ? poll(&p, 1, static_cast<int>(std::min<long long>(left, 1 << 30))) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      result.timed_out = true;
      kill(-pid, SIGKILL);
      break;
    }
    ssize_t n = read(pipe_ends[0], chunk, sizeof chunk);
    if (n <= 0) break;
    std::string piece(chunk, static_cast<size_t>(n));
    result.output += piece;
    if (result.output.size() > 2 * kMostProcessOutput)
      result.output.erase(0, result.output.size() - kMostProcessOutput);
    if (on_output && !on_output(piece)) {
      result.stopped = true;
      kill(-pid, SIGKILL);
      break;
    }
  }
  if (result.output.size() > kMostProcessOutput) result.output.erase(0, result.output.size() - kMostProcessOutput);
  close(pipe_ends[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace aotc
