// SPDX-License-Identifier: Apache-2.0
// Attributes<Self>: base of structs that hold the attributes of an operator, with enough reflection to print, parse and
// compare them. An operator declares a struct derived from Attributes<Self> and lists its fields once in `visit`. The
// text form, equality and hashing use that list.
//
//   struct LeakyReluAttrs : Attributes<LeakyReluAttrs> {
//     float alpha = 0.0f;
//     template <typename Self, typename F>
//     static void visit(Self& self, F&& field) { field("alpha", self.alpha); }
//   };
//
// Field types: bool, int32_t, int64_t, float, std::string, std::vector<int64_t>, DType, and enums
// with an `enum_names` overload found by argument-dependent lookup:
//   std::span<const std::string_view> enum_names(Activation);
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/text_value.h"

namespace aotc::graph {

// One attribute as text, e.g. {"stride_h", "2"}, {"axes", "[1, 2]"}, {"activation", "relu"}.
using AttributeText = std::pair<std::string, std::string>;

class AttributesBase {
 public:
  virtual ~AttributesBase() = default;
  virtual std::shared_ptr<AttributesBase> clone() const = 0;
  virtual std::vector<AttributeText> print() const = 0;
  // Sets the field `name` from text; false if there is no such field or the text is no value of the field's type.
  virtual bool parse(std::string_view name, std::string_view text) = 0;
};

namespace attribute_text = text_value;

template <typename Derived>
class Attributes : public AttributesBase {
 public:
  std::shared_ptr<AttributesBase> clone() const override {
    return std::make_shared<Derived>(static_cast<const Derived&>(*this));
  }
  std::vector<AttributeText> print() const override {
    std::vector<AttributeText> out;
    Derived::visit(static_cast<const Derived&>(*this), [&](const char* name, const auto& value) {
      out.emplace_back(name, attribute_text::print_any(value));
    });
    return out;
  }
  bool parse(std::string_view name, std::string_view text) override {
    bool done = false;
    Derived::visit(static_cast<Derived&>(*this), [&](const char* field, auto& value) {
      if (name == field) done = attribute_text::parse_any(text, value);
    });
    return done;
  }
};

// For operators without attributes.
struct NoAttributes : Attributes<NoAttributes> {
  template <typename Self, typename F>
  static void visit(Self&, F&&) {}
};

}  // namespace aotc::graph
