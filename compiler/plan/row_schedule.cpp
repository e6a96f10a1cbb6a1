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
      for (const RowRead& r : s.reads)
        state_[r.tensor].before = std::max(state_[r.tensor].before, r.flow.before);
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
      if (next_[s] < tensors_[stages_[s].result].rows) return false;
    return true;
  }

  static int64_t first(const RowRead& r, int64_t y) { return y * r.flow.stride - r.flow.before; }

  // The first row of a tensor that a row to come still needs; behind all rows if none does.
  int64_t needed(size_t tensor) const {
    int64_t least = INT64_MAX;
    for (size_t s = 0; s < stages_.size(); ++s)
      for (const RowRead& r : stages_[s].reads)
        if (r.tensor == tensor && next_[s] < tensors_[stages_[s].result].rows)
          least = std::min(least, first(r, next_[s]));
    return least;
  }

  void push(RowEvent event, size_t tensor) {
    State& t = state_[tensor];
    event.tensor = tensor;
    event.row = ++t.newest;
    if (tensors_[tensor].place == RowPlace::kWindow) {
      // Kept for the second walk: the row that is to be in slot 0 when this one comes.
      event.shift = std::min(needed(tensor), event.row);
      out_.slots[tensor] = std::max(out_.slots[tensor], event.row - event.shift + 1);
    }
    out_.events.push_back(std::move(event));
  }

  // Rows of padding, down to one.
  void pad_to(size_t tensor, int64_t row) {
    while (state_[tensor].newest < row) push({RowEvent::Kind::kPad, tensor, 0, 0, 0, 0, 0, {}}, tensor);
  }

  // Are all rows of a stage's next row there, or only rows of padding missing?
  bool ready(size_t stage) const {
    for (const RowRead& r : stages_[stage].reads) {
      const int64_t last = first(r, next_[stage]) + r.flow.rows - 1;
      if (std::min(last, tensors_[r.tensor].rows - 1) > state_[r.tensor].newest) return false;
    }
    return true;
  }

  // The next row of the deepest stage that can be computed.
  bool advance() {
    for (size_t s = stages_.size(); s-- > 0;) {
      const RowStage& stage = stages_[s];
      if (next_[s] == tensors_[stage.result].rows || !ready(s)) continue;
      RowEvent event{RowEvent::Kind::kStage, s, 0, 0, 0, 0, 0, {}};
      for (const RowRead& r : stage.reads) {
        if (tensors_[r.tensor].place == RowPlace::kWindow) pad_to(r.tensor, first(r, next_[s]) + r.flow.rows - 1);
        event.sources.push_back(first(r, next_[s]));
      }
      pad_to(stage.result, -1);
      push(std::move(event), stage.result);
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
      push({RowEvent::Kind::kFeed, t, 0, 0, 0, 0, 0, {state_[t].newest + 1}}, t);
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
      if (e.row - t.base >= out_.slots[e.tensor]) {
        e.shift = wanted - t.base;
        e.kept = std::max<int64_t>(0, e.row - wanted);
        t.base = wanted;
      }
      e.slot = e.row - t.base;
    }
  }

  const std::vector<RowTensor>& tensors_;
  const std::vector<RowStage>& stages_;
  std::vector<int64_t> next_;  // by stage: row
  std::vector<State> state_;   // by tensor
  RowSchedule out_;
};

}  // namespace

std::optional<RowSchedule> schedule_rows(const std::vector<RowTensor>& tensors, const std::vector<RowStage>& stages) {
  return RowScheduler(tensors, stages).run();
}

}  // namespace aotc::plan
