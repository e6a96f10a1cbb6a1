// SPDX-License-Identifier: Apache-2.0
// Names of offsets in the arena: PREFIX_CALL3_OUT is the byte offset of the result of call 3. A name belongs to a
// buffer; all its readers use the name of the call that wrote it. Inputs and outputs in the arena have their macros in
// the header.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "codegen/c_model.h"

namespace aotc::codegen {

class PlaceNames {
 public:
  PlaceNames(const plan::Program& program, const CodegenOptions& options, const ModelFiles& names);

  // The offset in C: its name, or a number if it has none. `call`: the call that owns the scratch buffer.
  std::string offset(const plan::Storage& storage, size_t call) const;

  // "enum { PREFIX_CALL0_OUT = 896, ... };" and an empty line; empty if nothing is stored in the arena.
  std::string definition() const;

 private:
  using Key = std::tuple<int, int64_t, int, int>;  // pool, offset, buffer, and the call of a scratch buffer

  static Key key(const plan::Storage& storage, int call);
  void add(const Key& key, const std::string& name, const plan::CallArgument& argument, bool scratch);

  struct Place {
    std::string name, comment;
    int64_t offset = 0;
  };
  std::string up_;
  std::map<Key, std::string> names_;
  std::vector<Place> places_;
};

}  // namespace aotc::codegen
