// SPDX-License-Identifier: Apache-2.0
#include "support/calling_convention.h"

#include <algorithm>
#include <array>

namespace aotc {

namespace {

constexpr std::array<std::string_view, 4> kSpellings = {"plain", "unpacked", "packed", "registry"};

}  // namespace

std::string_view name_of(CallingConvention convention) { return kSpellings[static_cast<size_t>(convention)]; }

std::span<const std::string_view> enum_names(CallingConvention) { return kSpellings; }

std::optional<CallingConvention> calling_convention_from(std::string_view name) {
  const auto* at = std::find(kSpellings.begin(), kSpellings.end(), name);
  if (at == kSpellings.end()) return std::nullopt;
  return static_cast<CallingConvention>(at - kSpellings.begin());
}

}  // namespace aotc
