// SPDX-License-Identifier: Apache-2.0
#include "plan/row_schedule.h"

#include <algorithm>
#include <utility>

namespace aotc::plan {

namespace {

class RowScheduler {
 public:
  RowScheduler(const std::vector<RowTensor>& tensors, const std::vector<RowStage>& stages)
      : tensors_(tensors), stages_(stages), next_(stages.size(), 0), state_(tensors.size()) {
    for (const RowStage& s : stages)
      for (const RowRead& r : s.reads) state_[r.tensor].before = std::max(state_[r.tensor].before, r.flow.before);
    for (size_t t = 0; t < tensors.size(); ++t) {
      state_[t].newest = -state_[t].before - 1;
      if (tensors[t].fed && tensors[t].place == RowPlace::kWhole) state_[t].newest = tensors[t].rows - 1;
    }
    out_.slots.assign(tensors.size(), 0);
  }

  std::optional<RowSchedule> run() {
    while (!done()) {
      if (out_.events.size() > kMostRowEvents || (!advance() && !feed())) return std::nullopt;
    }
    settle();
    return std::move(out_);
  }

 private:
  struct State {
    int64_t before = 0;  // the most that a reader wants above it
    int64_t newest = 0;  // row that came last
    int64_t base = 0;    // row in slot 0: of the second walk
  };

  bool done() const {
    for (size_t s = 0; s < stages_.size(); ++s)
      if (left(s) > 0) return false;
    return true;
  }

  // Rows of a stage's result that are to come, and how many of them are computed next.
  int64_t left(size_t stage) const {
    return tensors_[stages_[stage].result].rows - next_[stage] * stages_[stage].makes;
  }
  int64_t count(size_t stage) const { return std::min(stages_[stage].makes, left(stage)); }

  static int64_t first(const RowRead& r, int64_t y) { return y * r.flow.stride - r.flow.before; }

  // The first row of a tensor that a row to come still needs; behind all rows if none does.
  int64_t needed(size_t tensor) const {
    int64_t least = INT64_MAX;
    for (size_t s = 0; s < stages_.size(); ++s)
      for (const RowRead& r : stages_[s].reads)
        if (r.tensor == tensor && left(s) > 0) least = std::min(least, first(r, next_[s]));
    return least;
  }

  void push(RowEvent event, size_t tensor, int64_t count) {
    State& t = state_[tensor];
    event.tensor = tensor;
    event.count = count;
    event.row = t.newest + 1;
    t.newest += count;
    if (tensors_[tensor].place == RowPlace::kWindow) {
      // Kept for the second walk: the row that is to be in slot 0 when this one comes.
      event.shift = std::min(needed(tensor), event.row);
      out_.slots[tensor] = std::max(out_.slots[tensor], event.row + count - event.shift);
    }
    out_.events.push_back(std::move(event));
  }

  // Rows of padding, down to one.
  void pad_to(size_t tensor, int64_t row) {
    while (state_[tensor].newest < row)
      push({RowEvent::Kind::kPad, tensor, 0, 0, 0, 0, 0, {}}, tensor, tensors_[tensor].step);
  }

  // The last row that a stage reads next.
  int64_t last(size_t stage, size_t read) const {
    const RowStage& s = stages_[stage];
    return first(s.reads[read], next_[stage]) + s.rows_read(read, count(stage)) - 1;
  }

  // Are all rows of what a stage does next there, or only rows of padding missing?
  bool ready(size_t stage) const {
    for (size_t r = 0; r < stages_[stage].reads.size(); ++r) {
      const size_t tensor = stages_[stage].reads[r].tensor;
      if (std::min(last(stage, r), tensors_[tensor].rows - 1) > state_[tensor].newest) return false;
    }
    return true;
  }

  // The next rows of the deepest stage that can be computed.
  bool advance() {
    for (size_t s = stages_.size(); s-- > 0;) {
      const RowStage& stage = stages_[s];
      if (left(s) <= 0 || !ready(s)) continue;
      RowEvent event{RowEvent::Kind::kStage, s, 0, 0, 0, 0, 0, {}};
      for (size_t r = 0; r < stage.reads.size(); ++r) {
        const RowRead& read = stage.reads[r];
        if (tensors_[read.tensor].place == RowPlace::kWindow) pad_to(read.tensor, last(s, r));
        event.sources.push_back(first(read, next_[s]));
      }
      pad_to(stage.result, -1);
      push(std::move(event), stage.result, count(s));
      ++next_[s];
      return true;
    }
    return false;
  }

  bool feed() {
    for (size_t t = 0; t < tensors_.size(); ++t) {
      if (!tensors_[t].fed || tensors_[t].place == RowPlace::kWhole) continue;
      if (state_[t].newest >= tensors_[t].rows - 1) continue;
      pad_to(t, -1);
      push({RowEvent::Kind::kFeed, t, 0, 0, 0, 0, 0, {state_[t].newest + 1}}, t, tensors_[t].step);
      return true;
    }
    return false;
  }

  // With the size of every window known: when rows are moved, and in which slots all is.
  void settle() {
    for (size_t t = 0; t < tensors_.size(); ++t) state_[t].base = -state_[t].before;
    for (RowEvent& e : out_.events) {
      if (e.kind == RowEvent::Kind::kStage)
        for (size_t r = 0; r < e.sources.size(); ++r) {
          const size_t tensor = stages_[e.index].reads[r].tensor;
          if (tensors_[tensor].place == RowPlace::kWindow) e.sources[r] -= state_[tensor].base;
        }
      e.slot = e.row;
      if (tensors_[e.tensor].place == RowPlace::kWhole) continue;
      State& t = state_[e.tensor];
      const int64_t wanted = std::exchange(e.shift, 0);
      if (e.row + e.count - t.base > out_.slots[e.tensor]) {
        e.shift = wanted - t.base;
        e.kept = std::max<int64_t>(0, e.row - wanted);
        t.base = wanted;
      }
      e.slot = e.row - t.base;
    }
  }

  const std::vector<RowTensor>& tensors_;
  const std::vector<RowStage>& stages_;
  std::vector<int64_t> next_;  // by stage: how often it was done
  std::vector<State> state_;   // by tensor
  RowSchedule out_;
};

}  // namespace

std::optional<RowSchedule> schedule_rows(const std::vector<RowTensor>& tensors, const std::vector<RowStage>& stages) {
  return RowScheduler(tensors, stages).run();
}

}  // namespace aotc::plan
