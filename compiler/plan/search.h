// SPDX-License-Identifier: Apache-2.0
// Searches the arrangement of a graph that needs the least memory: an order of the operators, windows of states, and
// segments that are computed row by row. Proposers name arrangements worth a try, each of which is planned whole.
#pragma once

#include "plan/program.h"

namespace aotc::plan {

// Is the graph planned as one program, for one device, without branches or loops?
bool is_plain(const graph::Graph& graph, const PlanOptions& options);

// True if the program takes its input by rows as the options ask, first of all calls. True without `feed`.
bool is_fed(const Program& program, const PlanOptions& options);

// The program of the best arrangement. Arena and state together decide; of equal ones, the estimated instructions.
// `options.stream` limits the instructions of streams of rows, relative to the program without them. Reports the errors
// of plan_program.
Result<Program> search_arrangement(const graph::Graph& graph, const PlanOptions& options, Diagnostics& diags);

}  // namespace aotc::plan
