// SPDX-License-Identifier: Apache-2.0
// Finds the MLPerf Tiny benchmark to which a model belongs. A benchmark defines the meaning of inputs and results; the
// firmware of a model without benchmark exchanges plain bytes, and aotc prints a warning.
#pragma once

#include <string>

#include "graph/graph.h"
#include "project/template.h"

namespace aotc::project {

// The name of the benchmark ("kws01", "sww01", ...) whose input and output shapes the model has; "raw" if none matches.
std::string benchmark_of(const graph::Graph& graph);

// Sets the default of the option 'benchmark' for this model, if the project kind has that option. Reports
// [template-option] if the model does not match the chosen benchmark; warns with [no-benchmark] if none was chosen and
// none matches.
Status choose_benchmark(const TemplateDescription& description, const graph::Graph& graph, Values& values,
                        Diagnostics& diags);

}  // namespace aotc::project
