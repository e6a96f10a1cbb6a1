// SPDX-License-Identifier: Apache-2.0
// Shared by the TIR tests: functions from text, and runs with typed memory.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tir/tir.h"

namespace aotc::tir::testing {

// The function of a text, null (and a test failure) if it does not parse.
inline FunctionPtr parsed(const std::string& text) {
  Diagnostics diags;
  Result<FunctionPtr> f = parse(text, "t.tir", diags);
  EXPECT_TRUE(f.ok()) << diags.str() << text;
  return f ? *f : nullptr;
}

// "func f(PARAMS) {BODY}"
inline FunctionPtr parsed(const std::string& params, const std::string& body) {
  return parsed("func f(" + params + ") {\n" + body + "\n}\n");
}

template <typename T>
Memory memory_of(std::vector<T>& v) {
  return {reinterpret_cast<uint8_t*>(v.data()), static_cast<int64_t>(v.size() * sizeof(T))};
}

// What interpret() reports; empty if it ran to its end.
inline std::string run(const FunctionPtr& f, const std::vector<Memory>& memory, AccessObserver* observer = nullptr) {
  Diagnostics diags;
  bool ok = interpret(*f, memory, diags, observer).ok();
  EXPECT_EQ(ok, diags.error_count() == 0);
  return diags.str();
}

inline std::string verified(const FunctionPtr& f) {
  Diagnostics diags;
  bool ok = verify(*f, diags).ok();
  EXPECT_EQ(ok, diags.error_count() == 0);
  return diags.str();
}

}  // namespace aotc::tir::testing
