// SPDX-License-Identifier: Apache-2.0
// How libFuzzer changes .tflite files: half of the changes to a valid file are those of mutations.h,
// which know its fields, for bytes changed anywhere mostly break what the FlatBuffers verifier checks.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "mutations.h"
#include "tflite_schema_generated.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed);

namespace {

// A small number becomes another one: a tensor, an operator or a subgraph refers to another.
bool set_index(std::vector<uint8_t>& bytes, const std::vector<aotc::fuzz::Site>& sites, aotc::fuzz::Random& random) {
  constexpr uint32_t kMost = 64, kNew = 12;
  for (int tries = 0; tries < 20; ++tries) {
    const aotc::fuzz::Site& site = sites[random.below(sites.size())];
    uint32_t value = kMost;
    if (site.width != 4 || site.position + 4 > bytes.size()) continue;
    std::memcpy(&value, &bytes[site.position], 4);
    if (value >= kMost) continue;
    value = static_cast<uint32_t>(random.below(kNew));
    std::memcpy(&bytes[site.position], &value, 4);
    return true;
  }
  return false;
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  using namespace aotc;
  fuzz::Random random(seed);
  if (random.below(2) == 0 || size < 12) return LLVMFuzzerMutate(data, size, max_size);
  std::vector<uint8_t> bytes(data, data + size);
  flatbuffers::Verifier verifier(bytes.data(), bytes.size());
  if (!tflite_schema::VerifyModelBuffer(verifier)) return LLVMFuzzerMutate(data, size, max_size);
  std::vector<fuzz::Site> sites = fuzz::find_sites(bytes);
  if (random.below(3) == 0 && set_index(bytes, sites, random)) {
    std::copy(bytes.begin(), bytes.end(), data);
    return size;
  }
  fuzz::Mutation changed = fuzz::mutate(bytes, sites, seed, random.next());
  if (changed.bytes.empty() || changed.bytes.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::copy(changed.bytes.begin(), changed.bytes.end(), data);
  return changed.bytes.size();
}
