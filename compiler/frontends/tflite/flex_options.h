// SPDX-License-Identifier: Apache-2.0
// Options of custom operators: a FlexBuffer map from names to numbers. The one thing to know: the
// bytes come from the file, so every place is checked before it is read; of the format only maps,
// numbers and bools are known.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "frontends/tflite/tflite_op.h"

namespace aotc::frontends {

class FlexOptions {
 public:
  // Reports [op-attribute] if the bytes are no FlexBuffer map.
  FlexOptions(const TfliteOp& from, const graph::Op& op, Diagnostics& diags);

  // The whole number (or bool) of this name; reports [op-attribute] unless it is there and within
  // [least, most].
  bool integer(const char* name, int64_t least, int64_t most, int64_t& out);
  bool read(const char* name, int32_t& out);
  bool read(const char* name, bool& out);
  bool read(const char* name, float& out);  // a whole number is one as well
  // Is an option of this name there, of whatever type?
  bool has(const char* name) const { return values_.contains(name); }
  // Whether the bytes were a map.
  bool good() const { return good_; }
  // The number of this name; nothing if it is not there or no number.
  std::optional<std::variant<int64_t, double>> number(const std::string& name) const;

 private:
  bool bad(const std::string& message);

  const graph::Op& op_;
  Diagnostics& diags_;
  bool good_ = false;
  // Values that are numbers; others are known by name alone.
  std::map<std::string, std::variant<std::monostate, int64_t, double>> values_;
};

}  // namespace aotc::frontends
