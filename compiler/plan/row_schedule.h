// SPDX-License-Identifier: Apache-2.0
// In which order the rows of a chain of operators are computed so that of every tensor between them only some rows are
// there at a time: the deepest operator first that has what it reads. The one thing to know: a window's rows are
// contiguous, the oldest in slot 0; where a new row finds the window full, the rows that are still needed are first
// moved to its front. A row is what a tensor is counted in: a row of its image or, where an operator takes so many
// pixels at a time that rows are no measure, a pixel.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ops/row_flow.h"

namespace aotc::plan {

enum class RowPlace : uint8_t {
  kWindow,  // some rows at a time
  kWhole,   // in memory as a whole: the chain's result, or its input where nothing is read above or below it
};

// A tensor of a chain.
struct RowTensor {
  int64_t rows = 0;
  RowPlace place = RowPlace::kWindow;
  bool fed = false;  // it is there when the chain begins
  int64_t step = 1;  // rows that are fed or padded at a time: the pixels of an image's row
};

struct RowRead {
  size_t tensor = 0;
  ops::RowFlow flow;  // of what is computed at a time
};

// An operator of a chain, behind those whose results it reads.
struct RowStage {
  std::vector<RowRead> reads;
  size_t result = 0;
  int64_t makes = 1;  // rows of the result at a time; the last ones may be fewer

  // Rows of read `r` that `count` rows of the result need.
  int64_t rows_read(size_t r, int64_t count) const {
    return reads[r].flow.rows - (makes - count) * reads[r].flow.stride / makes;
  }
};

// One thing that is done.
struct RowEvent {
  enum class Kind : uint8_t {
    kStage,  // rows of stage `index`
    kFeed,   // the next rows of the input are copied to its window: `index` is the tensor
    kPad,    // rows of what is read above or below tensor `index`
  };
  Kind kind = Kind::kStage;
  size_t index = 0;
  size_t tensor = 0;             // that gets rows
  int64_t row = 0;               // the first, of the tensor: negative or behind the last for rows of padding
  int64_t shift = 0;             // rows that the window loses first
  int64_t kept = 0;              // rows that are moved for it
  int64_t slot = 0;              // where the row goes: of the window, or of the whole
  std::vector<int64_t> sources;  // kStage: by read, the slot of the first row; kFeed: the input's row
  int64_t count = 1;             // rows that come
};

struct RowSchedule {
  std::vector<int64_t> slots;  // by tensor: rows of its window, 0 for whole ones
  std::vector<RowEvent> events;
};

// More than any image for a microcontroller has.
inline constexpr size_t kMostRowEvents = 1 << 14;

// Nothing where a reader would wait for ever, or for chains with more events than kMostRowEvents.
std::optional<RowSchedule> schedule_rows(const std::vector<RowTensor>& tensors, const std::vector<RowStage>& stages);

}  // namespace aotc::plan
