// SPDX-License-Identifier: Apache-2.0
// Which benchmark of MLPerf Tiny a model is of. The one thing to know: a benchmark says what the bytes of
// an input are and what the results are, so a model that is of none is served as bytes, and that is said.
#pragma once

#include <string>

#include "graph/graph.h"
#include "project/template.h"

namespace aotc::project {

// By the shapes of its inputs and outputs: "kws01", "sww01" ...; "raw": of none.
std::string benchmark_of(const graph::Graph& graph);

// Of a kind of project with an option 'benchmark': its preset for this model. Reports [template-option] if the
// model cannot be of the one that was chosen; warns with [no-benchmark] where none was and the model is of none.
Status choose_benchmark(const TemplateDescription& description, const graph::Graph& graph, Values& values,
                        Diagnostics& diags);

}  // namespace aotc::project
