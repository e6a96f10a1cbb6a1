// SPDX-License-Identifier: Apache-2.0
// external: an operator that is given as C, known by its symbol alone. The one thing to know: only
// its types are known, so nothing rewrites it or folds it; it is lowered to a call that passes the
// operands and then the results. It is evaluated by its own C if its attributes say what runs that.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "graph/attributes.h"
#include "ops/lowering.h"
#include "ops/operator.h"

namespace aotc::ops {

// Runs functions that are given as C where aotc runs.
class ExternalReference {
 public:
  virtual ~ExternalReference() = default;
  // Fills `results`; with zeros if the function fails, which is noted.
  virtual void run(const std::string& symbol, const EvalData& data) = 0;
};

struct ExternalAttrs : graph::Attributes<ExternalAttrs> {
  std::string symbol;                                         // a C identifier
  CallingConvention convention = CallingConvention::kPacked;  // not kRegistry
  bool context = false;  // plain, unpacked: the device's context is the last argument
  bool flatten = false;  // packed: the tensors are passed with one dimension (TVM's flatten_data)
  std::string extra;     // what else the model says of it: a JSON object, or empty
  // Of each result its rank and its dimensions, if more is known of them than what the model says.
  std::vector<int64_t> shapes;
  std::shared_ptr<ExternalReference> reference;  // what evaluates it; null: nothing can

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("symbol", self.symbol);
    field("convention", self.convention);
    field("context", self.context);
    field("flatten", self.flatten);
    field("extra", self.extra);
    field("shapes", self.shapes);
  }
};

// May `symbol` stand in C as the name of a function: an identifier of at most 255 characters that
// is no keyword and no function of the C library?
bool is_c_symbol(std::string_view symbol);

}  // namespace aotc::ops
