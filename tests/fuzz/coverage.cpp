// SPDX-License-Identifier: Apache-2.0
// What the compiler calls at every branch of the readers: counts it where libFuzzer looks. By the
// caller's address, so that nothing needs to be known of the program.
#include <cstddef>
#include <cstdint>

namespace {

constexpr size_t kCounters = 1 << 16;
__attribute__((section("__libfuzzer_extra_counters"))) uint8_t counters[kCounters];

}  // namespace

extern "C" __attribute__((no_sanitize("address", "undefined"))) void __sanitizer_cov_trace_pc() {
  auto pc = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
  ++counters[(pc ^ (pc >> 16)) % kCounters];
}
