// SPDX-License-Identifier: Apache-2.0
// A model schedule: every decision about a program that a search may take. `plan_schedule` (plan/program.h) follows a
// schedule and decides nothing that a schedule can say, so equal schedules of a graph give equal programs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "graph/graph.h"
#include "ops/schedule.h"

namespace aotc::plan {

struct Window;

// The operators [first, last] of a graph, which are computed row by row (plan/segments.h).
struct Segment {
  size_t first = 0, last = 0;
  // By operator, beginning with the first: the number of pixels of its result that are computed at a time. These are
  // whole rows, or any number if the operator computes each pixel by itself. 0, or an empty list: the pixels of a row.
  std::vector<int64_t> bands = {};
  bool operator==(const Segment&) const = default;
};

// The decisions about a graph as a whole. Operators are counted in the graph after the passes.
struct Arrangement {
  std::vector<int> order = {};         // the operators in order of execution; empty: the graph's order
  std::vector<int> windows = {};       // states that keep a window (plan/windows.h), ascending
  std::vector<Segment> segments = {};  // ascending; operators are counted after `order` and windows have moved them
  bool operator==(const Arrangement&) const = default;

  // "order 0 2 1; windows of states 0; rows 0-3, bands 8 0 0 0"; empty if nothing is decided. A long order is not
  // listed.
  std::string text() const;
};

struct ModelSchedule {
  Arrangement arrangement;
  // Schedules of single operators. The cost model chooses the others.
  ops::Schedules operators;
};

// The part of each operator (ops::OperatorKey) in a program's graph. -1 if it is the only one with its index.
std::vector<int> parts_of(const graph::Graph& graph);

// {"order": [0, 2, 1], "windows": [0], "segments": [{"first": 0, "last": 3, "bands": [8, 0, 0, 0]}]}; lists that are
// empty are left out.
nlohmann::ordered_json to_json(const Arrangement& arrangement);
// Returns nullopt if `json` does not have this form; `problem` then says why. The arrangement may still be impossible
// for a graph.
std::optional<Arrangement> arrangement_from_json(const nlohmann::json& json, std::string& problem);

// Brings the operators of `graph` into the order of the arrangement. Returns the windows, with operators counted in
// that order. Returns nullopt if the order does not list each operator once, if it lists an operator before one whose
// result it reads, or if a state cannot keep a window; `problem` then says which.
std::optional<std::vector<Window>> arrange(graph::Graph& graph, const Arrangement& arrangement, std::string& problem);

}  // namespace aotc::plan
