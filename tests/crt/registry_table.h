// SPDX-License-Identifier: Apache-2.0
// A registry as a compiler emits it, made at run time: names in one string, and on request hashes
// and offsets. The tables live as long as the RegistryTable.
#pragma once

#include <tvm/runtime/crt/func_registry.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

inline std::uint32_t fnv1a(const std::string& text) {
  std::uint32_t hash = 0x811c9dc5u;
  for (unsigned char byte : text) hash = (hash ^ byte) * 0x01000193u;
  return hash;
}

enum class Tables { kNames, kHashes, kHashesAndOffsets };

struct NamedFunction {
  std::string name;
  TVMBackendPackedCFunc function;
};

class RegistryTable {
 public:
  RegistryTable(std::vector<NamedFunction> functions, Tables tables)
      : functions_(std::move(functions)) {
    if (tables != Tables::kNames) {
      std::stable_sort(functions_.begin(), functions_.end(),
                       [](const auto& a, const auto& b) { return fnv1a(a.name) < fnv1a(b.name); });
    }
    const auto count = static_cast<std::uint16_t>(functions_.size());
    names_.resize(2);
    std::memcpy(names_.data(), &count, 2);
    for (const auto& [name, function] : functions_) {
      offsets_.push_back(static_cast<std::uint16_t>(names_.size()));
      names_.insert(names_.end(), name.c_str(), name.c_str() + name.size() + 1);
      pointers_.push_back(function);
      hashes_.push_back(fnv1a(name));
    }
    offsets_.push_back(static_cast<std::uint16_t>(names_.size()));
    registry_.names = names_.data();
    registry_.funcs = pointers_.data();
    registry_.hashes = tables == Tables::kNames ? nullptr : hashes_.data();
    registry_.offsets = tables == Tables::kHashesAndOffsets ? offsets_.data() : nullptr;
  }
  RegistryTable(const RegistryTable&) = delete;
  RegistryTable& operator=(const RegistryTable&) = delete;

  const TVMFuncRegistry* get() const { return &registry_; }
  const std::vector<NamedFunction>& functions() const { return functions_; }

 private:
  std::vector<NamedFunction> functions_;
  std::vector<char> names_;
  std::vector<TVMBackendPackedCFunc> pointers_;
  std::vector<std::uint32_t> hashes_;
  std::vector<std::uint16_t> offsets_;
  TVMFuncRegistry registry_{};
};
