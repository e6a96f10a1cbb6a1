// SPDX-License-Identifier: Apache-2.0
// Random damage to ONNX models: mutate_onnx COUNT FILE.onnx...; each mutation is a result that
// keeps its promises or a located error. A failure writes the case to broken.onnx.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>

#include "damage.h"
#include "onnx_case.h"

namespace {

using Bytes = std::vector<uint8_t>;

void mutate(Bytes& bytes, std::mt19937_64& random) {
  using aotc::fuzz::below;
  constexpr uint8_t kBytes[] = {0, 1, 2, 3, 7, 8, 0x7f, 0x80, 0xff};
  if (bytes.empty()) return;
  const size_t at = below(random, bytes.size()), kind = below(random, 5);
  if (!aotc::fuzz::damage(bytes, at, kind, random)) bytes[at] = kBytes[below(random, std::size(kBytes))];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  long count = std::atol(argv[1]), accepted = 0, all = 0;
  for (int i = 2; i < argc; ++i) {
    std::ifstream in(argv[i], std::ios::binary);
    const Bytes original{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    for (long n = 0; n <= count; ++n, ++all) {
      std::mt19937_64 random(static_cast<uint64_t>(n));
      Bytes bytes = original;
      for (uint64_t k = n == 0 ? 0 : 1 + random() % 4; k > 0; --k) mutate(bytes, random);
      bool good = false;
      std::string bad = aotc::fuzz::check_onnx_case(bytes, &good);
      accepted += good ? 1 : 0;
      if (bad.empty()) continue;
      std::ofstream("broken.onnx", std::ios::binary)
          .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
      std::fprintf(stderr, "%s, mutation %ld: %s\n", argv[i], n, bad.c_str());
      return 1;
    }
  }
  std::printf("%ld cases, %ld accepted\n", all, accepted);
  return accepted > 0 ? 0 : 1;
}
