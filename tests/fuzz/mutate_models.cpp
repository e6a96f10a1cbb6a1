// SPDX-License-Identifier: Apache-2.0
// Damages each given model in N ways and demands of every case a result or a located error, within
// the limits of time and memory; build it with sanitizers (preset `dev`). Cases run in a child
// process that is started anew behind a case that killed it. The one thing to know: case numbers
// repeat, so `--only NUMBER` runs a failed case alone, in this process. Of every Nth case, the
// model is also run and compared with the reference evaluation if it is small (--run-every N).
//
//   mutate_models [--count N] [--seed S] [--seconds T] [--megabytes M] [--only NUMBER]
//                 [--run-every N] [--save DIR] MODEL...
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "model_case.h"
#include "mutations.h"
#include "support/text.h"
#include "tflite_schema_generated.h"

#if defined(AOTC_SANITIZED)
#define AOTC_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define AOTC_ASAN 1
#endif
#endif

// The limit on resident memory guards against many allocations, the one on sizes against a single
// one; both end the child with a report.
#ifdef AOTC_ASAN
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "hard_rss_limit_mb=1024:max_allocation_size_mb=1024:allocator_may_return_null=0:"
         "quarantine_size_mb=32:detect_leaks=0";
}
#endif

namespace {

using namespace aotc::fuzz;

struct Options {
  uint64_t count = 10'000;
  uint64_t seed = 1;
  uint64_t run_every = 10;
  int seconds = 120;
  long megabytes = 1024;
  int64_t only = -1;
  std::string save;
  std::vector<std::string> models;
};

// What the child tells its parent; lives in shared memory, so it survives the child.
struct Progress {
  uint64_t current;  // case being run
  uint64_t accepted;
  uint64_t refused;
  uint64_t ran;  // of those accepted: run and compared
  bool done;
};

constexpr int kExitTime = 101;
constexpr int kExitBroken = 102;
constexpr int kExitMemory = 103;

struct Model {
  std::string path;
  std::vector<uint8_t> bytes;
  std::vector<Site> sites;
  uint64_t seed = 0;
};

bool load(const std::string& path, uint64_t seed, Model& model) {
  std::ifstream in(path, std::ios::binary);
  model.path = path;
  model.bytes.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  if (model.bytes.size() < 12) return false;
  std::string_view text(reinterpret_cast<const char*>(model.bytes.data()), model.bytes.size());
  model.seed = seed ^ aotc::stable_hash(text);
  flatbuffers::Verifier verifier(model.bytes.data(), model.bytes.size());
  // Files of a corpus may be broken on purpose; those get truncations and flips only.
  if (tflite_schema::VerifyModelBuffer(verifier)) model.sites = find_sites(model.bytes);
  return true;
}

void arm(int seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = seconds;
  setitimer(ITIMER_PROF, &timer, nullptr);
}

CaseOptions case_options(const Options& options, uint64_t number) {
  return {options.only >= 0 || number % std::max<uint64_t>(options.run_every, 1) == 0, number};
}

extern "C" void out_of_time(int) { _exit(kExitTime); }

// Processor time, not time on the clock: other work on the machine must not fail a case.
[[noreturn]] void run_child(const Model& model, const Options& options, Progress& progress, uint64_t first) {
  std::signal(SIGPROF, out_of_time);
#ifndef AOTC_ASAN
  rlimit limit{};
  limit.rlim_cur = limit.rlim_max = static_cast<rlim_t>(options.megabytes) << 20;
  setrlimit(RLIMIT_AS, &limit);
#endif
  for (uint64_t i = first; i < options.count; ++i) {
    progress.current = i;
    Mutation mutation = mutate(model.bytes, model.sites, model.seed, i);
    arm(options.seconds);
    CaseResult result = run_tflite_case(std::move(mutation.bytes), case_options(options, i));
    arm(0);
    if (result.verdict == Verdict::kBroken) {
      std::fprintf(stderr, "%s\n", result.text.c_str());
      _exit(kExitBroken);
    }
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    if (usage.ru_maxrss > options.megabytes * 1024) _exit(kExitMemory);
    ++(result.verdict == Verdict::kAccepted ? progress.accepted : progress.refused);
    if (result.ran) ++progress.ran;
  }
  progress.done = true;
  _exit(0);
}

std::string reason_of(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  }
  switch (WEXITSTATUS(status)) {
    case kExitTime: return "over the time limit";
    case kExitBroken: return "broke a promise";
    case kExitMemory: return "over the memory limit";
    default: return fmt::format("ended with exit code {}", WEXITSTATUS(status));
  }
}

void report(const Model& model, const Options& options, uint64_t number, const std::string& reason) {
  Mutation mutation = mutate(model.bytes, model.sites, model.seed, number);
  std::printf("%s: case %llu %s: %s\n", model.path.c_str(), static_cast<unsigned long long>(number), reason.c_str(),
              mutation.what.c_str());
  std::fflush(stdout);
  if (options.save.empty()) return;
  std::string file = fmt::format("{}/{:016x}-{}.tflite", options.save, model.seed, number);
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(mutation.bytes.data()), static_cast<std::streamsize>(mutation.bytes.size()));
}

// Number of failed cases.
uint64_t run_model(const Model& model, const Options& options) {
  auto* progress = static_cast<Progress*>(
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (progress == MAP_FAILED) {
    std::perror("mmap");
    std::exit(1);
  }
  *progress = {};
  uint64_t failed = 0;
  uint64_t first = 0;
  while (first < options.count) {
    std::fflush(stdout);
    pid_t child = fork();
    if (child < 0) {
      std::perror("fork");
      std::exit(1);
    }
    if (child == 0) run_child(model, options, *progress, first);
    int status = 0;
    waitpid(child, &status, 0);
    if (progress->done) break;
    ++failed;
    report(model, options, progress->current, reason_of(status));
    first = progress->current + 1;
  }
  std::printf("%s: %llu accepted (%llu run), %llu refused, %llu failed\n", model.path.c_str(),
              static_cast<unsigned long long>(progress->accepted), static_cast<unsigned long long>(progress->ran),
              static_cast<unsigned long long>(progress->refused), static_cast<unsigned long long>(failed));
  munmap(progress, sizeof(Progress));
  return failed;
}

// Runs one case here, for a debugger.
int run_only(const Model& model, const Options& options) {
  Mutation mutation = mutate(model.bytes, model.sites, model.seed, static_cast<uint64_t>(options.only));
  std::printf("%s\n", mutation.what.c_str());
  std::fflush(stdout);
  CaseResult result =
      run_tflite_case(std::move(mutation.bytes), case_options(options, static_cast<uint64_t>(options.only)));
  std::printf("%s%s\n", result.text.c_str(),
              result.verdict == Verdict::kAccepted  ? "accepted"
              : result.verdict == Verdict::kRefused ? "refused"
                                                    : "broke a promise");
  return result.verdict == Verdict::kBroken ? 1 : 0;
}

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    std::string arg = argv[i];
    if (arg.rfind("--", 0) != 0) {
      options.models.push_back(arg);
      continue;
    }
    if (i + 1 == argc) return false;
    const char* value = argv[++i];
    if (arg == "--count") options.count = std::strtoull(value, nullptr, 10);
    else if (arg == "--seed") options.seed = std::strtoull(value, nullptr, 10);
    else if (arg == "--seconds") options.seconds = std::atoi(value);
    else if (arg == "--megabytes") options.megabytes = std::atol(value);
    else if (arg == "--only") options.only = std::atoll(value);
    else if (arg == "--run-every") options.run_every = std::strtoull(value, nullptr, 10);
    else if (arg == "--save") options.save = value;
    else return false;
  }
  return !options.models.empty();
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr,
                 "usage: mutate_models [--count N] [--seed S] [--seconds T] [--megabytes M] "
                 "[--only NUMBER] [--run-every N] [--save DIR] MODEL...\n");
    return 2;
  }
  uint64_t failed = 0;
  for (const std::string& path : options.models) {
    Model model;
    if (!load(path, options.seed, model)) {
      std::fprintf(stderr, "%s: cannot be read, or is no model\n", path.c_str());
      return 1;
    }
    if (options.only >= 0) return run_only(model, options);
    failed += run_model(model, options);
  }
  uint64_t total = options.count * options.models.size();
  std::printf("%llu passed, %llu failed\n", static_cast<unsigned long long>(total - failed),
              static_cast<unsigned long long>(failed));
  return failed == 0 ? 0 : 1;
}
