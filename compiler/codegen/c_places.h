// SPDX-License-Identifier: Apache-2.0
// Names of offsets in the arena: PREFIX_CALL3_OUT is the byte offset of the result of call 3. All calls that read a
// buffer use the name from the call that wrote the buffer. Inputs and outputs in the arena use the macros of PREFIX.h
// instead.
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

  // The offset in C: its name, or a number if it has no name. `call`: for a scratch buffer, the call that uses it.
  std::string offset(const plan::Storage& storage, size_t call) const;

  // "enum { PREFIX_CALL0_OUT = 896, ... };" and an empty line; empty if no offset has a name.
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
