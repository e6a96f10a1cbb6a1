// SPDX-License-Identifier: Apache-2.0
#include "passes/compact_tensors.h"

namespace aotc::passes {

Status compact_tensors(graph::Graph& graph, const PassOptions&, Diagnostics&) {
  graph::compact(graph);
  return success();
}

}  // namespace aotc::passes
