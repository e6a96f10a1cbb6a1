// SPDX-License-Identifier: Apache-2.0
// Operators of a TFLite subgraph: from opcode and index lists to Graph IR operators. The one thing
// to know: it works in two steps, because unsupported operators are reported all together before
// any tensor is read.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "frontends/tflite/source.h"
#include "frontends/tflite/tensors.h"
#include "graph/graph.h"
#include "ops/operator.h"
#include "support/result.h"

namespace aotc::frontends {

class OperatorReader {
 public:
  OperatorReader(Source& source, const ops::OperatorSet& set) : source_(source), set_(set) {}

  // Finds the definition of each operator, checks its index lists, and marks the tensors that
  // supported operators use. Reports all unsupported operators as one error.
  Status resolve(std::vector<Role>& roles);

  // Appends the operators to the graph: operands, results, attributes through each operator's
  // import rule, and shapes where the file leaves them open. After a successful `resolve` only.
  Status build(const std::vector<graph::TensorId>& ids, graph::Graph& graph);

 private:
  struct Resolved {
    const ops::Operator* definition = nullptr;
    int builtin = 0;
    int version = 1;
  };

  const tflite_schema::Operator& raw(size_t index) const;
  Location where(size_t index) const;
  bool resolve_code(size_t index, Resolved& out);
  bool check_indices(size_t index, const char* what, const flatbuffers::Vector<int32_t>* list,
                     bool optional_allowed, size_t tensors);
  void mark(size_t index, std::vector<Role>& roles);
  void report_unsupported(const std::vector<size_t>& unsupported);
  bool build_one(size_t index, const std::vector<graph::TensorId>& ids, graph::Graph& graph,
                 std::vector<bool>& defined);
  void settle_shapes(size_t index, const graph::Op& op, graph::Graph& graph);

  Source& source_;
  const ops::OperatorSet& set_;
  std::vector<Resolved> resolved_;
  std::map<int, const ops::Operator*> found_;  // by builtin code
};

}  // namespace aotc::frontends
