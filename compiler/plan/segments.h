// SPDX-License-Identifier: Apache-2.0
// Segments: operators one behind the other that are computed row by row as one call, with windows of some rows in the
// place of the tensors between them. The one thing to know: a row of an operator is the same operator on a window's
// rows, lowered as any other, so every operator that states a RowFlow works on every CPU, in every type. Only the last
// may read all rows for one result, which it adds up as they come.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/lowering.h"
#include "plan/program.h"
#include "plan/row_schedule.h"

namespace aotc::plan {

// Of a fed segment whose windows stay from one inference to the next: its rows are frames in time.
struct Frames {
  int64_t first = 0;   // how many are fed up to the first result
  int64_t step = 1;    // of them between two results
  int64_t period = 1;  // of them, and the same is done again
  size_t events = 0;   // of the schedule that are needed: up to the frame behind the first period
};

// A segment as rows: tensor 0 is the input, and the result of stage i is tensor i + 1.
struct SegmentRows {
  graph::TensorId input;
  std::vector<graph::TensorId> ids;  // of the tensors
  std::vector<RowTensor> tensors;
  std::vector<RowStage> stages;
  std::vector<std::vector<uint8_t>> fills;  // by tensor: an element of its rows of padding; empty: there are none
  std::vector<size_t> ops;                  // by stage
  bool fed = false;                         // rows of the input come one at a time, into its window
  std::vector<int64_t> units;  // by tensor: how many of its rows are one of the image; 1, or all of its pixels
  bool banded = false;         // some stage makes more than a row at a time, or less
  // The last stage takes the rows of what it reads as pieces (ops/row_sums.h): a row of its result stands for each.
  bool sums = false;
  // The schedule then goes on for as many frames as show what is alive in a period.
  std::optional<Frames> frames;
  RowSchedule schedule;
};

// The operators as rows, or nothing if they cannot be: one of them has no rows, a tensor of theirs
// but the last is needed elsewhere, or they read more than one tensor from outside. `fed`: their
// input is given a row at a time.
std::optional<SegmentRows> rows_of_segment(const graph::Graph& graph, const Segment& segment, bool fed = false);

// The same, fed, of an input whose rows are frames that go on for ever: the result is one row, that of the window of
// frames which the input holds. Where that is none, `why` says so of operator `blamed`.
std::optional<SegmentRows> frames_of_segment(const graph::Graph& graph, const Segment& segment,
                                             std::string* why = nullptr, size_t* blamed = nullptr);

// Lowerings count on tensors that begin at words: does every row that an operator reads or makes?
bool rows_begin_at_words(const graph::Graph& graph, const SegmentRows& rows);

// Kernels that rows of operators are, shared by all segments of a program.
using RowKernels = std::vector<tir::KernelPtr>;

struct LoweredSegment {
  ops::Lowered lowered;  // operand 0 is the input, its result that of the last operator
  // In which order the input is read and the scratch written.
  ops::WriteOrder scratch_order;
  std::vector<graph::TensorId> rows;  // what is traced row by row: results 1, 2, ... of the call
  std::optional<Feeding> fed;         // of rows that are fed; its place is in the scratch memory
};

// Nothing where the rows of an operator cannot be had: where they would not begin at words, or it may fail.
std::optional<LoweredSegment> lower_segment(const graph::Graph& graph, const SegmentRows& rows,
                                            const ops::TargetInfo& target, RowKernels& kernels);

// Lists of segments that may make the arena smaller, the most promising first. What the caller preserves is no part of
// it.
std::vector<std::vector<Segment>> segment_candidates(const graph::Graph& graph, Contract inputs, Contract outputs);

// Is a tensor the model's one input, perhaps seen in another shape?
bool is_fed_input(const graph::Graph& graph, graph::TensorId id);

// Segments that begin with the model's first operator and whose input may be fed by rows, the most
// promising first.
std::vector<Segment> fed_candidates(const graph::Graph& graph, Contract outputs);

// Segments that begin with the model's first operator and are frames, the longest first.
std::vector<Segment> frame_candidates(const graph::Graph& graph);

// Reports [time-impossible] with the operator that is in the way of frames, and why it is.
void say_why_no_frames(const graph::Graph& graph, Diagnostics& diags);

// Reports [rows-impossible] with what is in the way of a segment that is fed.
void say_why_not_fed(const graph::Graph& graph, Diagnostics& diags);

}  // namespace aotc::plan
