// SPDX-License-Identifier: Apache-2.0
// Floats that are stored in fewer bits than aotc computes in, or in more. The one thing to know:
// what is stored is an unsigned integer (u16 or u8, one number in each, also of four bits), but for
// f64.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "graph/attributes.h"

namespace aotc::ops {

// Letters and digits say how many bits exponent and mantissa have; `fn` has no infinities, `fnuz`
// neither these nor a negative zero. e8m0 is a power of two.
enum class FloatFormat : uint8_t { kF16, kBf16, kE4m3fn, kE4m3fnuz, kE5m2, kE5m2fnuz, kE2m1, kE8m0, kF64 };
std::span<const std::string_view> enum_names(FloatFormat);

// Of powers of two; all others round to the nearest, ties to even.
enum class PowerRounding : uint8_t { kUp, kDown, kNearest };
std::span<const std::string_view> enum_names(PowerRounding);

struct FloatFormatAttrs : graph::Attributes<FloatFormatAttrs> {
  FloatFormat format = FloatFormat::kF16;
  bool saturate = false;  // what is too large becomes the largest number
  PowerRounding powers = PowerRounding::kUp;
  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("format", self.format);
    field("saturate", self.saturate);
    field("powers", self.powers);
  }
};

// The type that one number is stored in.
DType storage_of(FloatFormat format);

}  // namespace aotc::ops
