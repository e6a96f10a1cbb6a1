// SPDX-License-Identifier: Apache-2.0
// Operators that exist in tests only, and shorthand for reading text graphs. `everything` has an
// attribute of every kind; `plain` has none.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "graph/graph.h"

namespace aotc::graph {

enum class Mood : uint8_t { kCalm, kCross };
inline std::span<const std::string_view> enum_names(Mood) {
  static constexpr std::string_view kNames[] = {"calm", "cross"};
  return kNames;
}

struct EverythingAttrs : Attributes<EverythingAttrs> {
  bool flag = false;
  int32_t small = 1;
  int64_t large = 0;
  float ratio = 0.5f;
  std::string label;
  std::vector<int64_t> axes;
  DType type = DType::kF32;
  Mood mood = Mood::kCalm;
  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("flag", self.flag);
    field("small", self.small);
    field("large", self.large);
    field("ratio", self.ratio);
    field("label", self.label);
    field("axes", self.axes);
    field("type", self.type);
    field("mood", self.mood);
  }
};

template <typename Attrs>
class TestDefinition : public OpDefinition {
 public:
  explicit TestDefinition(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  std::shared_ptr<AttributesBase> default_attributes() const override { return std::make_shared<Attrs>(); }

 private:
  std::string name_;
};

inline const OpDefinition* find_test_definition(std::string_view name) {
  static const TestDefinition<EverythingAttrs> everything("everything");
  static const TestDefinition<NoAttributes> plain("plain");
  for (const OpDefinition* op :
       {static_cast<const OpDefinition*>(&everything), static_cast<const OpDefinition*>(&plain)})
    if (op->name() == name) return op;
  return nullptr;
}

// Parses and expects success.
inline Graph parse_ok(const std::string& text) {
  Diagnostics diags;
  auto graph = parse(text, "t.air", find_test_definition, diags);
  EXPECT_TRUE(graph.ok()) << diags.str();
  return graph ? std::move(*graph) : Graph();
}

// Parses and expects failure; what was reported.
inline std::string parse_error(const std::string& text) {
  Diagnostics diags;
  auto graph = parse(text, "t.air", find_test_definition, diags);
  EXPECT_FALSE(graph.ok()) << text;
  EXPECT_EQ(diags.error_count(), 1);
  return diags.str();
}

}  // namespace aotc::graph
