// SPDX-License-Identifier: Apache-2.0
// external: an operator that is given as C, known by its symbol alone. The one thing to know: only
// its types are known, so nothing evaluates or rewrites it; it is lowered to a call that passes the
// operands and then the results.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "graph/attributes.h"
#include "ops/lowering.h"

namespace aotc::ops {

struct ExternalAttrs : graph::Attributes<ExternalAttrs> {
  std::string symbol;  // a C identifier
  CallingConvention convention = CallingConvention::kPacked;  // not kRegistry
  bool context = false;  // plain, unpacked: the device's context is the last argument
  bool flatten = false;  // packed: the tensors are passed with one dimension (TVM's flatten_data)
  std::string extra;     // what else the model says of it: a JSON object, or empty

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("symbol", self.symbol);
    field("convention", self.convention);
    field("context", self.context);
    field("flatten", self.flatten);
    field("extra", self.extra);
  }
};

// May `symbol` stand in C as the name of a function: an identifier of at most 255 characters that
// is no keyword and no function of the C library?
bool is_c_symbol(std::string_view symbol);

}  // namespace aotc::ops
