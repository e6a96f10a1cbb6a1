// SPDX-License-Identifier: Apache-2.0
// Tells libFuzzer which way an input takes. gcc calls __sanitizer_cov_trace_pc in every block, which
// libFuzzer has no use for; a table in the section __libfuzzer_extra_counters, which it reads after
// each input, takes the edges instead: pairs of a block and the one before it. Comparisons are
// libFuzzer's own affair (-fsanitize-coverage=trace-cmp). The program is linked with --wrap for the
// two functions below. At its end it says how many inputs were run and how many edges were seen.
#include <cstddef>
#include <cstdint>
#include <cstdio>

extern "C" const char __executable_start;
extern "C" int __real_LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" int __wrap_LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" void __wrap___sanitizer_cov_trace_pc();
extern "C" void __sanitizer_cov_trace_cmpf(float, float);
extern "C" void __sanitizer_cov_trace_cmpd(double, double);

namespace {

constexpr int kBits = 17;
constexpr size_t kCounters = size_t{1} << kBits;

__attribute__((section("__libfuzzer_extra_counters"), used)) uint8_t counters[kCounters];
bool seen[kCounters];
size_t before = 0;
unsigned long long edges = 0, executions = 0;

struct Summary {
  ~Summary() { std::fprintf(stderr, "watch: %llu executions, %llu edges\n", executions, edges); }
} summary;

}  // namespace

// The address is taken from the program's start: runs are alike wherever it is loaded.
extern "C" void __wrap___sanitizer_cov_trace_pc() {
  auto at = reinterpret_cast<uintptr_t>(__builtin_return_address(0)) -
            reinterpret_cast<uintptr_t>(&__executable_start);
  auto block = static_cast<size_t>(at * 0x9E3779B97F4A7C15u >> (64 - kBits));
  size_t edge = block ^ before;
  before = block >> 1;
  if (counters[edge] != 255) ++counters[edge];
  if (seen[edge]) return;
  seen[edge] = true;
  ++edges;
}

extern "C" int __wrap_LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  before = 0;
  ++executions;
  return __real_LLVMFuzzerTestOneInput(data, size);
}

extern "C" void __sanitizer_cov_trace_cmpf(float, float) {}
extern "C" void __sanitizer_cov_trace_cmpd(double, double) {}
