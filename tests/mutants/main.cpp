// SPDX-License-Identifier: Apache-2.0
// Runs tests with one change of the sources in force, or says which changes each test reaches.
//
//   mutation_tests --reach FILE I N S [SUITE...]
//                                        of all tests (of these suites) the Ith of every N, each in
//                                        a process of its own, those left out that take more than S
//                                        seconds of CPU: one line of name, whether it passed, steps,
//                                        CPU microseconds and numbers of changes
//   AOTC_MUTANT=N mutation_tests --tests FILE
//                                        lines of name, most steps and most CPU seconds: the tests
//                                        in this order, up to the first that fails, whose name is
//                                        the last line of output. Ends with 1 if one failed, 0 if
//                                        none did
//
// Other arguments are gtest's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sys/mman.h>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "mutant.h"

namespace {

constexpr int kTooManySteps = 99;

// Of some suites, or of all where none is named.
std::vector<std::string> all_tests(const std::vector<std::string>& suites) {
  std::vector<std::string> names;
  const testing::UnitTest& unit = *testing::UnitTest::GetInstance();
  for (int s = 0; s < unit.total_test_suite_count(); ++s) {
    const testing::TestSuite& suite = *unit.GetTestSuite(s);
    if (!suites.empty() && std::find(suites.begin(), suites.end(), suite.name()) == suites.end()) continue;
    for (int t = 0; t < suite.total_test_count(); ++t) {
      std::string name = suite.GetTestInfo(t)->name();
      if (name.rfind("DISABLED_", 0) != 0) names.push_back(std::string(suite.name()) + "." + name);
    }
  }
  return names;
}

bool passes(const std::string& name) {
  testing::GTEST_FLAG(filter) = name;
  return RUN_ALL_TESTS() == 0;
}

int64_t cpu_microseconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  auto us = [](const timeval& t) { return int64_t{t.tv_sec} * 1000000 + t.tv_usec; };
  return us(usage.ru_utime) + us(usage.ru_stime);
}

struct Shared {
  int64_t steps, cpu;
  unsigned char reached[mutants::kMost];
};

// The kernel ends the process where a loop that passes through no changed code has no end.
void allow_seconds(int64_t seconds) {
  rlimit limit{};
  getrlimit(RLIMIT_CPU, &limit);
  limit.rlim_cur = static_cast<rlim_t>(cpu_microseconds() / 1000000 + 1 + seconds);
  setrlimit(RLIMIT_CPU, &limit);
}

int reach(const char* path, size_t first, size_t every, int64_t seconds, const std::vector<std::string>& suites) {
  std::vector<std::string> names;
  for (size_t i = 0; const std::string& name : all_tests(suites))
    if (i++ % every == first) names.push_back(name);
  auto* shared =
      static_cast<Shared*>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (shared == MAP_FAILED) return 2;
  std::ofstream out(path);
  int failed = 0;
  for (const std::string& name : names) {
    std::memset(shared, 0, sizeof *shared);
    std::fflush(nullptr);
    pid_t child = fork();
    if (child == 0) {
      mutants::state.reached = shared->reached;
      int64_t before = cpu_microseconds();
      allow_seconds(seconds);
      bool good = passes(name);
      shared->steps = mutants::state.steps;
      shared->cpu = cpu_microseconds() - before;
      _exit(good ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) continue;
    bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    failed += !good;
    if (!good) std::fprintf(stderr, "FAILED without any change: %s\n", name.c_str());
    out << name << "\t" << good << "\t" << shared->steps << "\t" << shared->cpu << "\t";
    for (int id = 0; id < mutants::kMost; ++id)
      if (shared->reached[id]) out << id << " ";
    out << "\n";
  }
  return failed == 0 ? 0 : 1;
}

int run(const char* path) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::string name;
    int64_t seconds = 0;
    fields >> name >> mutants::state.most_steps >> seconds;
    mutants::state.steps = 0;
    allow_seconds(seconds);
    // If it crashes, this is the last line.
    std::fprintf(stderr, "%s\n", name.c_str());
    if (!passes(name)) return 1;
  }
  return 0;
}

}  // namespace

void mutants::too_many_steps() { _exit(kTooManySteps); }

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  testing::GTEST_FLAG(death_test_style) = "fast";
  if (const char* chosen = std::getenv("AOTC_MUTANT")) mutants::state.chosen = std::atoi(chosen);
  if (argc >= 6 && std::strcmp(argv[1], "--reach") == 0)
    return reach(argv[2], static_cast<size_t>(std::atoi(argv[3])), static_cast<size_t>(std::atoi(argv[4])),
                 std::atoi(argv[5]), {argv + 6, argv + argc});
  if (argc == 3 && std::strcmp(argv[1], "--tests") == 0) return run(argv[2]);
  return RUN_ALL_TESTS();
}
