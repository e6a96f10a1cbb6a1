// SPDX-License-Identifier: Apache-2.0
// A target with bugs, to show that the fuzz lanes find them: behind "aotc++", to which only somebody
// comes who sees the way that inputs take (the first letters) and what they are compared with (the
// others), is what AOTC_PLANTED names.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace {

void* volatile lost = nullptr;

void bug(const std::string& kind, uint8_t byte) {
  if (kind == "overflow") {
    std::vector<int> three(3);
    int* data = three.data();
    data[3 + byte % 2] = 1;
  } else if (kind == "undefined") {
    volatile int most = std::numeric_limits<int>::max();
    most = most + 1 + byte % 2;
  } else if (kind == "leak") {
    lost = std::malloc(100);
    lost = nullptr;
  } else if (kind == "hang") {
    while (true) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  } else if (kind == "memory") {
    std::vector<std::string> much;
    while (true) much.emplace_back(size_t{1} << 20, 'x');
  } else if (kind == "promise") {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const char* kind = std::getenv("AOTC_PLANTED");
  if (kind == nullptr || size < 7) return 0;
  uint32_t rest = 0;
  std::memcpy(&rest, data + 2, sizeof rest);
  if (data[0] == 'a')
    if (data[1] == 'o')
      if (rest == 0x2b2b6374) bug(kind, data[6]);
  return 0;
}
