// SPDX-License-Identifier: Apache-2.0
// The events of a segment as a table: what is done stands once, and each event has a line that says which of it, and
// where.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/row_schedule.h"

namespace aotc::plan {

// Of the place where a row goes: rows are moved first.
inline constexpr int64_t kMoves = 128;

// What is done: all events of one kind with one operator or tensor and as many rows. Without bands they also move as
// many.
struct RowAction {
  RowEvent first;
  // By event: place of the row, places of what is read, and by how much rows are moved.
  std::vector<std::vector<int64_t>> values;
  int64_t shift = 0;                      // the least
  int64_t least_kept = 0, most_kept = 0;  // rows that are moved, where some are

  bool moves() const { return most_kept > 0; }
  size_t shift_value() const { return values[0].size() - 1; }
  bool varies(size_t value) const {
    return std::any_of(values.begin(), values.end(), [&](const auto& v) { return v[value] != values[0][value]; });
  }
  // Which number of an event's line a value that varies is; the first one is the action.
  int64_t column(size_t value) const {
    int64_t out = 1;
    for (size_t v = 0; v < value; ++v) out += varies(v);
    return out;
  }
};

struct RowActions {
  std::vector<RowAction> list;
  std::vector<int64_t> table;  // of `columns` numbers an event
  size_t columns = 1;
};

RowActions number_events(std::span<const RowEvent> events, bool banded);

}  // namespace aotc::plan
