// SPDX-License-Identifier: Apache-2.0
// Random damage to graphs and parameters: mutate_graphs COUNT FILE.json...; each mutation is a
// result that keeps its promises or a located error. A failure writes the case to broken_graph.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "damage.h"
#include "graph_case.h"
#include "support/tvm_params.h"

namespace {

using Bytes = std::vector<uint8_t>;

// What a number, a string or a bracket may be replaced by.
const char* const kTexts[] = {"0",   "-1", "1",         "2",         "4294967296", "9223372036854775807",
                              "1e9", "[]", "{}",        "null",      "\"\"",       "\"null\"",
                              "[",   "}",  "\"__nop\"", "\"int16\"", ",",          "\"__copy\""};

struct Mutator {
  std::mt19937_64 random;

  size_t below(size_t n) { return aotc::fuzz::below(random, n); }

  void replace_number(Bytes& bytes) {
    std::vector<size_t> digits;
    for (size_t i = 0; i < bytes.size(); ++i)
      if (bytes[i] >= '0' && bytes[i] <= '9') digits.push_back(i);
    if (digits.empty()) return;
    size_t at = digits[below(digits.size())];
    std::string text = below(2) ? std::to_string(below(8)) : kTexts[below(std::size(kTexts))];
    bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(at));
    bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), text.begin(), text.end());
  }

  void mutate(Bytes& bytes) {
    if (bytes.empty()) return;
    const size_t at = below(bytes.size()), kind = below(6);
    if (!aotc::fuzz::damage(bytes, at, kind, random)) replace_number(bytes);
  }
};

Bytes with_params(Bytes graph) {
  using namespace aotc::tvm;
  std::vector<Param> params = {{"w", {DataType::kInt, 8, 1}, {1, 4}, {1, 2, 3, 4}}};
  Bytes bytes = write_params(params);
  graph.push_back(0);
  graph.insert(graph.end(), bytes.begin(), bytes.end());
  return graph;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  int count = std::atoi(argv[1]), accepted = 0, refused = 0;
  for (int f = 2; f < argc; ++f) {
    std::ifstream in(argv[f], std::ios::binary);
    Bytes seed{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    for (const Bytes& start : {seed, with_params(seed)})
      for (int i = 0; i < count; ++i) {
        Mutator mutator{std::mt19937_64(static_cast<uint64_t>(i) * 1000 + static_cast<uint64_t>(f))};
        Bytes bytes = start;
        for (size_t n = i == 0 ? 0 : 1 + mutator.below(4) * mutator.below(2); n > 0; --n) mutator.mutate(bytes);
        bool taken = false;
        std::string bad = aotc::fuzz::check_graph_case(bytes, &taken);
        (taken ? accepted : refused) += 1;
        if (bad.empty()) continue;
        std::ofstream("broken_graph", std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        std::printf("FAILED %s, mutation %d: %s\n", argv[f], i, bad.c_str());
        return 1;
      }
  }
  std::printf("%d accepted, %d refused\n", accepted, refused);
  return accepted > 0 && refused > 0 ? 0 : 1;
}
