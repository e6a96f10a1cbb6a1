// SPDX-License-Identifier: Apache-2.0
// Problems: reports the errors of one graph, in order and up to a limit. Without the limit, a mistake that every entry
// repeats would fill the terminal. Call `finish` at the end.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "frontends/graph_json/json.h"
#include "support/diagnostics.h"
#include "support/result.h"

namespace aotc::graph_json {

class Problems {
 public:
  Problems(std::string file, Diagnostics& diags) : file_(std::move(file)), diags_(diags) {}

  bool any() const { return count_ > 0; }

  Location where(Position at) const {
    Location out;
    out.file = file_;
    out.line = at.line;
    out.column = at.column;
    return out;
  }

  // Returns the diagnostic, so that the caller can add notes and helps. Diagnostics over the limit are discarded.
  Diagnostic& error(const Location& at, const char* slug, std::string message) {
    if (++count_ <= kMost) return diags_.error(at, slug, std::move(message));
    return surplus_ = Diagnostic();
  }
  Diagnostic& error(Position at, const char* slug, std::string message) {
    return error(where(at), slug, std::move(message));
  }

  Failure finish() {
    if (count_ > kMost) {
      Location at;
      at.file = file_;
      diags_.error(at, "graph-form", fmt::format("{} more problems like these", count_ - kMost));
    }
    return kFailure;
  }

 private:
  static constexpr int kMost = 50;
  std::string file_;
  Diagnostics& diags_;
  int count_ = 0;
  Diagnostic surplus_;
};

}  // namespace aotc::graph_json
