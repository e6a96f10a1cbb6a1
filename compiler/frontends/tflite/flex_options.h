// SPDX-License-Identifier: Apache-2.0
// FlexOptions: reads the options of a custom operator, which TFLite stores as a FlexBuffer map from names to numbers.
// The bytes are untrusted, so every offset is checked before it is followed. Of FlexBuffer's types, only maps, numbers
// and bools are supported.
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
  // Reports [op-attribute] if the bytes are not a FlexBuffer map.
  FlexOptions(const TfliteOp& from, const graph::Op& op, Diagnostics& diags);

  // Reads an integer or bool option. False, after an [op-attribute] error, if the option is missing or outside of
  // [least, most].
  bool integer(const char* name, int64_t least, int64_t most, int64_t& out);
  bool read(const char* name, int32_t& out);
  bool read(const char* name, bool& out);
  bool read(const char* name, float& out);  // accepts an integer as well
  // True if an option of this name exists, of any type.
  bool has(const char* name) const { return values_.contains(name); }
  // True if the bytes were a map.
  bool good() const { return good_; }
  // The value of an option; nullopt if it is missing or not a number.
  std::optional<std::variant<int64_t, double>> number(const std::string& name) const;

 private:
  bool bad(const std::string& message);

  const graph::Op& op_;
  Diagnostics& diags_;
  bool good_ = false;
  // By name: the option's value; monostate if it is not a number.
  std::map<std::string, std::variant<std::monostate, int64_t, double>> values_;
};

}  // namespace aotc::frontends
