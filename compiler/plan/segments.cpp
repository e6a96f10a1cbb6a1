// SPDX-License-Identifier: Apache-2.0
// Which operators can be a segment, and which are worth it.
#include "plan/segments.h"

#include <algorithm>

#include "ops/operator.h"
#include "plan/row_operator.h"

namespace aotc::plan {

using graph::Graph;
using graph::TensorId;

namespace {

// One image of rows.
bool is_image(const graph::TensorType& type) { return type.shape.size() == 4 && type.shape[0] == 1; }

int64_t row_bytes(const graph::TensorType& type) { return type.shape[1] == 0 ? 0 : type.bytes() / type.shape[1]; }

class SegmentReader {
 public:
  // `uses` of the graph, if the caller has them for many segments.
  SegmentReader(const Graph& graph, const Segment& segment, bool fed, bool frames = false,
                const graph::UseDef* uses = nullptr)
      : graph_(graph), segment_(segment), uses_(uses), frames_(frames) {
    out_.fed = fed;
  }

  const std::string& why() const { return why_; }
  size_t blamed() const { return blamed_; }

  std::optional<SegmentRows> run() {
    add_tensor(TensorId());
    for (size_t i = segment_.first; i <= segment_.last; ++i)
      if (out_.sums || !(add_view(graph_.ops[i]) || add_sums(i) || add_stage(i))) return std::nullopt;
    if (out_.ops.empty() || out_.ops.back() != segment_.last) return std::nullopt;
    if (!out_.input.valid() || !used_inside()) return std::nullopt;
    out_.tensors[0].fed = true;
    if (out_.fills[0].empty() && !out_.fed) out_.tensors[0].place = RowPlace::kWhole;
    out_.tensors.back().place = RowPlace::kWhole;
    out_.units.assign(out_.tensors.size(), 1);
    if (frames_) return in_time() ? std::optional(std::move(out_)) : std::nullopt;
    if (!segment_.bands.empty() && !take_bands()) return std::nullopt;
    auto schedule = schedule_rows(out_.tensors, out_.stages);
    if (!schedule) return std::nullopt;
    out_.schedule = std::move(*schedule);
    return std::move(out_);
  }

 private:
  void add_tensor(TensorId id) {
    out_.ids.push_back(id);
    out_.tensors.push_back({id.valid() ? graph_[id].type.shape[1] : 0});
    out_.fills.emplace_back();
  }

  // What is seen in another shape here is read by sums only.
  bool add_view(const graph::Op& op) {
    if (!ops::definition_of(op).traits().view || op.device != 0) return false;
    const auto seen = made_here(op.operands[0]);
    if (!seen) return false;
    views_.push_back({op.results[0], *seen});
    return true;
  }

  static bool is_plain(const graph::Op& op) {
    const ops::Traits traits = ops::definition_of(op).traits();
    return !traits.view && !traits.external && op.regions.empty() && op.device == 0 && op.results.size() == 1;
  }

  // An operator that takes all rows for its result, as they come: also where it could have a window of all.
  bool add_sums(size_t index) {
    const graph::Op& op = graph_.ops[index];
    const ops::OpView view{graph_, op};
    if (frames_ || !is_plain(op) || view.constant(0) != nullptr || view.result().elements() == 0) return false;
    for (size_t i = 1; i < op.operands.size(); ++i)
      if (view.has_operand(i) && view.constant(i) == nullptr) return false;
    auto tensor = made_here(op.operands[0]);
    if (!tensor) tensor = tensor_of(op.operands[0]);
    if (!tensor) return false;
    const int64_t rows = out_.tensors[*tensor].rows;
    if (!ops::sums_pieces(view, rows)) return false;
    out_.stages.push_back({{{*tensor, {}}}, out_.ids.size()});
    out_.ops.push_back(index);
    out_.ids.push_back(op.results[0]);
    out_.tensors.push_back({rows});
    out_.fills.emplace_back();
    out_.sums = true;
    return true;
  }

  bool add_stage(size_t index) {
    const graph::Op& op = graph_.ops[index];
    const ops::OpView view{graph_, op};
    if (!is_plain(op) || !is_image(view.result())) return false;
    const auto flow = ops::row_flow(view);
    if (!flow || view.result().elements() == 0) return false;
    RowStage stage;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      if (!view.has_operand(i)) continue;
      if (view.constant(i) != nullptr) {
        if (!same_in_all_rows(view, i, *flow)) return false;
        continue;
      }
      const auto tensor = tensor_of(op.operands[i]);
      if (!tensor || !is_image(view.operand(i))) return false;
      if (i > 0 && view.operand(i).shape[1] != view.result().shape[1]) return false;
      if (!add_read(stage, *tensor, i == 0 ? *flow : ops::RowFlow())) return false;
    }
    if (stage.reads.empty() ||
        (flow->rows == 1 && flow->stride == 1 && flow->before == 0 && view.operand(0).shape.size() == 4 &&
         view.constant(0) == nullptr && view.operand(0).shape[1] < view.result().shape[1]))
      return false;
    add_tensor(op.results[0]);
    stage.result = out_.ids.size() - 1;
    out_.stages.push_back(std::move(stage));
    out_.ops.push_back(index);
    return true;
  }

  // Weights are none of the image; what is added to it is the same in every row.
  static bool same_in_all_rows(const ops::OpView& op, size_t operand, const ops::RowFlow& flow) {
    const auto axes = ops::axis_flow(op);
    if (!axes || !axes->broadcasts) return operand > 0;
    const graph::Shape& shape = op.operand(operand).shape;
    return flow.rows == 1 && (shape.size() < 3 || shape[shape.size() - 3] == 1);
  }

  bool add_read(RowStage& stage, size_t tensor, const ops::RowFlow& flow) {
    if (flow.before > 0 || flow.after > 0) {
      std::vector<uint8_t>& fill = out_.fills[tensor];
      if (flow.fill.empty() || (!fill.empty() && fill != flow.fill)) return false;
      fill = flow.fill;
    }
    stage.reads.push_back({tensor, flow});
    return true;
  }

  // A result of the segment, perhaps seen in another shape.
  std::optional<size_t> made_here(TensorId id) const {
    for (size_t t = 1; t < out_.ids.size(); ++t)
      if (out_.ids[t] == id) return t;
    for (const auto& [view, tensor] : views_)
      if (view == id) return tensor;
    return std::nullopt;
  }

  // One of the segment as it is, or the one from outside.
  std::optional<size_t> tensor_of(TensorId id) {
    for (size_t t = 1; t < out_.ids.size(); ++t)
      if (out_.ids[t] == id) return t;
    if (!out_.input.valid()) {
      if (!is_image(graph_[id].type) || graph_[id].device != 0) return std::nullopt;
      out_.input = out_.ids[0] = id;
      out_.tensors[0].rows = graph_[id].type.shape[1];
    }
    return out_.input == id ? std::optional<size_t>(0) : std::nullopt;
  }

  // Is every result but the last read in the segment, and there only?
  bool used_inside() const {
    for (size_t t = 1; t + 1 < out_.ids.size(); ++t)
      if (is_read(out_.ids[t], false) || !is_read(out_.ids[t], true)) return false;
    for (const auto& [view, tensor] : views_)
      if (is_read(view, false)) return false;
    return !is_read(out_.ids.back(), true);
  }

  // By an operator of the segment, or by others or the caller.
  bool is_read(TensorId id, bool inside) const {
    if (!inside && graph_.is_kept(id)) return true;
    if (uses_ != nullptr) {
      const std::vector<int>& users = uses_->users[static_cast<size_t>(id.value)];
      return std::any_of(users.begin(), users.end(), [&](int op) {
        const auto i = static_cast<size_t>(op);
        return (i >= segment_.first && i <= segment_.last) == inside;
      });
    }
    for (size_t i = 0; i < graph_.ops.size(); ++i) {
      const bool here = i >= segment_.first && i <= segment_.last;
      const auto& operands = graph_.ops[i].operands;
      if (here == inside && std::find(operands.begin(), operands.end(), id) != operands.end()) return true;
    }
    return false;
  }

  // ---------------------------------------------------------------- bands

  int64_t width(size_t stage) const { return graph_[graph_.ops[out_.ops[stage]].results[0]].type.shape[2]; }
  bool is_sums(size_t stage) const { return out_.sums && stage + 1 == out_.stages.size(); }
  // What the segment says of a stage; 0: a row.
  int64_t band(size_t stage) const { return segment_.bands[out_.ops[stage] - segment_.first]; }
  bool takes_pixels(size_t stage) const { return band(stage) != 0 && band(stage) % width(stage) != 0; }

  // False where a stage cannot be done so.
  bool take_bands() {
    if (segment_.bands.size() != segment_.last + 1 - segment_.first) return false;
    for (size_t s = 0; s < out_.stages.size(); ++s) {
      if (band(s) == 0) continue;
      out_.banded = true;
      if (band(s) < 0 || is_sums(s) || band(s) > out_.tensors[out_.stages[s].result].rows * width(s)) return false;
      if (takes_pixels(s) && !count_pixels(s)) return false;
    }
    for (size_t t = 0; t < out_.tensors.size(); ++t) {
      out_.tensors[t].step = out_.units[t];
      out_.tensors[t].rows *= out_.units[t];
    }
    for (size_t s = 0; s < out_.stages.size(); ++s) widen(s);
    for (size_t s = 0; s < out_.stages.size(); ++s)
      if (band(s) != 0 && !makes_so_many(s)) return false;
    return true;
  }

  // Not so of what is told by its attributes how many rows it makes.
  bool makes_so_many(size_t stage) const {
    const RowOperator row(graph_, out_, stage, out_.stages[stage].makes);
    const ops::OpView view{row.graph, row.op};
    Diagnostics unsaid;
    const auto shapes = ops::definition_of(row.op).infer(view, unsaid);
    return shapes && (*shapes)[0] == view.result().shape;
  }

  // What a stage reads and makes is counted in pixels from here on; rows that are fed stay rows.
  bool count_pixels(size_t stage) {
    const std::vector<RowRead>& reads = out_.stages[stage].reads;
    const graph::Op& op = graph_.ops[out_.ops[stage]];
    if (reads.size() != 1 || (out_.fed && reads[0].tensor == 0) || !ops::is_pointwise({graph_, op})) return false;
    out_.units[reads[0].tensor] = out_.units[out_.stages[stage].result] = width(stage);
    return true;
  }

  void widen(size_t stage) {
    RowStage& s = out_.stages[stage];
    if (!is_sums(stage) && takes_pixels(stage)) {
      s.makes = s.reads[0].flow.rows = s.reads[0].flow.stride = band(stage);
      return;
    }
    const int64_t rows = is_sums(stage) ? 1 : std::max<int64_t>(1, band(stage) / width(stage));
    s.makes = rows * out_.units[s.result];
    for (RowRead& r : s.reads) {
      const int64_t unit = out_.units[r.tensor];
      r.flow.rows = (r.flow.rows + (rows - 1) * r.flow.stride) * unit;
      r.flow.stride *= rows * unit;
      r.flow.before *= unit;
    }
  }

  // ---------------------------------------------------------------- frames

  bool blame(size_t stage, std::string why) {
    blamed_ = out_.ops[stage];
    why_ = std::move(why);
    return false;
  }

  bool in_time() { return sees_frames_only() && find_steps() && find_period(); }

  // Does the one row of the result depend on frames of the window alone, and not on rows of padding? Those would be
  // other frames in the windows that come.
  bool sees_frames_only() {
    const size_t last = out_.stages.size() - 1;
    if (out_.tensors.back().rows != 1)
      return blame(last, "its result has " + std::to_string(out_.tensors.back().rows) + " rows of time");
    std::vector<std::pair<int64_t, int64_t>> seen(out_.tensors.size(), {INT64_MAX, INT64_MIN});
    seen.back() = {0, 0};
    for (size_t s = out_.stages.size(); s-- > 0;)
      for (const RowRead& r : out_.stages[s].reads) {
        const auto [from, to] = seen[out_.stages[s].result];
        const int64_t begin = from * r.flow.stride - r.flow.before,
                      end = to * r.flow.stride - r.flow.before + r.flow.rows;
        if (begin < 0) return blame(s, "the result depends on its padding before the first frame of a window");
        if (end > out_.tensors[r.tensor].rows)
          return blame(s, "it is padded behind the last frame of a window, where other frames are to come");
        auto& [least, most] = seen[r.tensor];
        least = std::min(least, begin);
        most = std::max(most, end - 1);
      }
    return true;
  }

  // How many frames a row of each tensor steps on.
  bool find_steps() {
    steps_.assign(out_.tensors.size(), 1);
    for (size_t s = 0; s < out_.stages.size(); ++s) {
      const RowStage& stage = out_.stages[s];
      for (const RowRead& r : stage.reads)
        if (steps_[r.tensor] * r.flow.stride != steps_[stage.reads[0].tensor] * stage.reads[0].flow.stride)
          return blame(s, "its operands step on in time by different strides");
      steps_[stage.result] = steps_[stage.reads[0].tensor] * stage.reads[0].flow.stride;
    }
    return true;
  }

  // The schedule of so many frames that the windows are full, and as many again that periods repeat in.
  bool find_period() {
    std::vector<int64_t> rows;
    for (const RowTensor& t : out_.tensors) rows.push_back(t.rows);
    const int64_t step = steps_.back();
    out_.tensors[0].rows = 2 * rows[0] + kMostSteps * step;
    for (const RowStage& stage : out_.stages) {
      int64_t least = INT64_MAX;
      for (const RowRead& r : stage.reads)
        least = std::min(least, (out_.tensors[r.tensor].rows + r.flow.before - r.flow.rows) / r.flow.stride + 1);
      out_.tensors[stage.result].rows = least;
    }
    const size_t last = out_.stages.size() - 1;
    auto schedule = schedule_rows(out_.tensors, out_.stages);
    if (!schedule) return blame(last, "so many frames take more steps than are planned");
    out_.schedule = std::move(*schedule);
    for (RowEvent& e : out_.schedule.events)
      if (e.tensor + 1 == out_.tensors.size()) e.slot = 0;
    std::vector<size_t> begins;
    std::vector<int64_t> made(rows.size(), 0);
    int64_t first = 0;
    const auto& events = out_.schedule.events;
    for (size_t e = 0; e < events.size(); ++e) {
      if (events[e].kind == RowEvent::Kind::kFeed) begins.push_back(e + 1);
      if (events[e].kind != RowEvent::Kind::kStage || first > 0) continue;
      ++made[events[e].tensor];
      if (events[e].index == last) first = static_cast<int64_t>(begins.size());
    }
    for (size_t s = 0; s < last; ++s) {
      const size_t t = out_.stages[s].result;
      const int64_t less = rows[t] - made[t];
      if (less > 0)
        return blame(s, "the last " + std::to_string(less) + " rows of its result are not part of the model's");
      if (less < 0)
        return blame(s, "its result is " + std::to_string(-less) +
                            " rows ahead of what it is used with: let both end with "
                            "the same frame, as [:, n:] does where a convolution takes n frames more");
    }
    return find_period(begins, first, step) || blame(last, "what is done for a frame does not come again");
  }

  bool find_period(const std::vector<size_t>& begins, int64_t first, int64_t step) {
    auto begin_of = [&](int64_t frame) { return begins[static_cast<size_t>(frame)]; };
    for (int64_t period = step; first + 2 * period < static_cast<int64_t>(begins.size()); period += step) {
      const size_t from = begin_of(first), to = begin_of(first + period), end = begin_of(first + 2 * period);
      if (to - from != end - to) continue;
      bool same = true;
      for (size_t e = from; same && e < to; ++e)
        same = is_again(out_.schedule.events[e], out_.schedule.events[e + to - from]);
      if (!same) continue;
      out_.frames = Frames{first, step, period, to};
      return true;
    }
    return false;
  }

  static bool is_again(const RowEvent& a, const RowEvent& b) {
    const bool fed = a.kind == RowEvent::Kind::kFeed;
    return a.kind == b.kind && a.index == b.index && a.shift == b.shift && a.kept == b.kept && a.slot == b.slot &&
           (fed || a.sources == b.sources);
  }

  static constexpr int64_t kMostSteps = 16;

  const Graph& graph_;
  const Segment& segment_;
  const graph::UseDef* uses_ = nullptr;
  bool frames_ = false;
  std::vector<int64_t> steps_;  // by tensor
  std::string why_;
  size_t blamed_ = 0;
  SegmentRows out_;
  std::vector<std::pair<TensorId, size_t>> views_;  // of a tensor of the segment
};

}  // namespace

std::optional<SegmentRows> rows_of_segment(const Graph& graph, const Segment& segment, bool fed) {
  return SegmentReader(graph, segment, fed).run();
}

std::optional<SegmentRows> frames_of_segment(const Graph& graph, const Segment& segment, std::string* why,
                                             size_t* blamed) {
  SegmentReader reader(graph, segment, true, true);
  auto rows = reader.run();
  if (why != nullptr) *why = reader.why();
  if (blamed != nullptr) *blamed = reader.blamed();
  return rows;
}

bool rows_begin_at_words(const Graph& graph, const SegmentRows& rows) {
  auto good = [&](size_t tensor, int64_t slot) {
    return slot * (row_bytes(graph[rows.ids[tensor]].type) / rows.units[tensor]) % 4 == 0;
  };
  for (const RowEvent& e : rows.schedule.events) {
    if (e.kind != RowEvent::Kind::kStage || (rows.sums && e.index + 1 == rows.stages.size())) continue;
    if (!good(e.tensor, e.slot)) return false;
    for (size_t r = 0; r < e.sources.size(); ++r)
      if (!good(rows.stages[e.index].reads[r].tensor, e.sources[r])) return false;
  }
  return true;
}

namespace {

// By tensor: does it lie in the caller's memory, and so take nothing of the arena?
std::vector<bool> tensors_of_caller(const Graph& graph, Contract inputs, Contract outputs) {
  std::vector<bool> out(graph.tensors.size(), false);
  auto lies = [&](TensorId id) -> std::vector<bool>::reference { return out[static_cast<size_t>(id.value)]; };
  auto is_view = [](const graph::Op& op) { return ops::definition_of(op).traits().view && op.operands[0].valid(); };
  if (inputs == Contract::kPreserve) {
    for (const graph::Port& port : graph.inputs) lies(port.tensor) = true;
    for (const graph::Op& op : graph.ops)
      if (is_view(op) && lies(op.operands[0])) lies(op.results[0]) = true;
  }
  if (outputs == Contract::kPreserve) {
    for (const graph::Port& port : graph.outputs) lies(port.tensor) = true;
    for (auto op = graph.ops.rbegin(); op != graph.ops.rend(); ++op)
      if (is_view(*op) && lies(op->results[0])) lies(op->operands[0]) = true;
  }
  return out;
}

// What a segment takes at its fullest moment, estimated: rows of windows, what is left of the input and what is there
// of the result.
int64_t peak_of_rows(const Graph& graph, const SegmentRows& rows, const std::vector<bool>& callers) {
  auto type_of = [&](size_t t) -> const graph::TensorType& { return graph[rows.ids[t]].type; };
  auto bytes_of = [&](size_t t) { return row_bytes(type_of(t)) / rows.units[t]; };
  auto is_callers = [&](size_t t) { return callers[static_cast<size_t>(rows.ids[t].value)]; };
  // A row, and no more, in the arena.
  auto passes = [&](size_t t) {
    return rows.schedule.slots[t] == rows.units[t] && !(is_callers(t) && rows.tensors[t].place == RowPlace::kWhole);
  };
  int64_t windows = 0;
  for (size_t t = 0; t < rows.ids.size(); ++t)
    if (rows.schedule.slots[t] > rows.units[t]) windows += rows.schedule.slots[t] * bytes_of(t);
  const size_t last = rows.ids.size() - 1;
  const int64_t input = is_callers(0) ? 0 : type_of(0).bytes(), in_row = is_callers(0) ? 0 : bytes_of(0);
  const int64_t out_row = rows.sums || is_callers(last) ? 0 : bytes_of(last);
  if (rows.sums) windows += type_of(last).elements() * int64_t{sizeof(int32_t)};
  int64_t peak = input, out = 0, gone = 0;
  for (const RowEvent& e : rows.schedule.events) {
    if (e.kind == RowEvent::Kind::kFeed) gone = e.sources[0] * in_row;
    int64_t passing = 0;  // the row that is read and the one that is made
    if (e.kind == RowEvent::Kind::kStage)
      for (size_t r = 0; r < e.sources.size(); ++r) {
        const size_t t = rows.stages[e.index].reads[r].tensor;
        if (t == 0 && rows.tensors[0].place == RowPlace::kWhole) gone = e.sources[r] * in_row;
        if (passes(t)) passing += row_bytes(type_of(t));
      }
    if (rows.tensors[e.tensor].place == RowPlace::kWhole) out = (e.slot + e.count) * out_row;
    if (passes(e.tensor)) passing += row_bytes(type_of(e.tensor));
    peak = std::max(peak, input - gone + windows + passing + out);
  }
  return peak;
}

// What each operator takes by itself, roughly: its result may lie over most of an operand that dies.
std::vector<int64_t> peaks_of_ops(const Graph& graph, const std::vector<bool>& callers) {
  const graph::UseDef uses = graph::compute_use_def(graph);
  std::vector<int64_t> last(graph.tensors.size(), -1), out;
  for (size_t i = 0; i < graph.ops.size(); ++i)
    for (TensorId id : graph.ops[i].operands)
      if (id.valid()) last[static_cast<size_t>(id.value)] = static_cast<int64_t>(i);
  for (const graph::Port& port : graph.outputs) last[static_cast<size_t>(port.tensor.value)] = INT64_MAX;
  const auto count = static_cast<int64_t>(graph.ops.size());
  std::vector<int64_t> made(graph.ops.size(), 0), dying(graph.ops.size(), 0), change(graph.ops.size() + 1, 0);
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    if (graph.tensors[t].constant || callers[t]) continue;
    const int64_t bytes = graph.tensors[t].type.bytes(), from = uses.definer[t], to = last[t];
    if (from >= 0) made[static_cast<size_t>(from)] += bytes;
    if (to <= from) continue;
    if (to < count) dying[static_cast<size_t>(to)] = std::max(dying[static_cast<size_t>(to)], bytes);
    // Alive behind the operator that makes it, up to the last that reads it.
    change[static_cast<size_t>(from + 1)] += bytes;
    if (to < count) change[static_cast<size_t>(to + 1)] -= bytes;
  }
  int64_t alive = 0;
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    alive += change[i];
    out.push_back(alive + made[i] - std::min(dying[i], made[i]));
  }
  return out;
}

constexpr size_t kMostOpsOfSegment = 64, kMostCandidates = 6;

struct RatedSegment {
  Segment segment;
  int64_t peak = 0;
  bool sums = false;
};

// All that can be, with what each takes.
std::vector<RatedSegment> all_segments(const Graph& graph, const std::vector<bool>& callers) {
  std::vector<RatedSegment> out;
  const graph::UseDef uses = graph::compute_use_def(graph);
  for (size_t first = 0; first < graph.ops.size(); ++first)
    for (size_t last = first + 1; last < graph.ops.size() && last - first < kMostOpsOfSegment; ++last) {
      const ops::OpView view{graph, graph.ops[last]};
      if (ops::definition_of(graph.ops[last]).traits().view) continue;
      const bool goes_on = ops::row_flow(view).has_value();
      if (!goes_on && !ops::sums_pieces(view, 1)) break;
      const Segment segment{first, last};
      const auto rows = SegmentReader(graph, segment, false, false, &uses).run();
      if (rows && rows_begin_at_words(graph, *rows))
        out.push_back({{first, last}, peak_of_rows(graph, *rows, callers), rows->sums});
      if (!goes_on || (rows && rows->sums)) break;
    }
  return out;
}

}  // namespace

namespace {

// From the largest peak down: of the segments around it the one that leaves the least.
std::vector<std::vector<Segment>> from_largest_peak(const std::vector<int64_t>& peaks,
                                                    const std::vector<RatedSegment>& all) {
  std::vector<std::vector<Segment>> out;
  std::vector<Segment> chosen;
  std::vector<int64_t> now = peaks;
  while (chosen.size() < kMostCandidates) {
    const auto peak = std::max_element(now.begin(), now.end());
    if (peak == now.end()) break;
    const auto at = static_cast<size_t>(peak - now.begin());
    const RatedSegment* best = nullptr;
    int64_t least = *peak;
    for (const RatedSegment& s : all) {
      if (at < s.segment.first || at > s.segment.last) continue;
      const bool free = std::none_of(chosen.begin(), chosen.end(), [&](const Segment& c) {
        return c.first <= s.segment.last && s.segment.first <= c.last;
      });
      int64_t left = s.peak;
      for (size_t i = 0; i < now.size(); ++i)
        if (i < s.segment.first || i > s.segment.last) left = std::max(left, now[i]);
      if (free && left < least) {
        least = left;
        best = &s;
      }
    }
    if (best == nullptr) break;
    chosen.push_back(best->segment);
    std::sort(chosen.begin(), chosen.end(), [](const Segment& a, const Segment& b) { return a.first < b.first; });
    for (size_t i = best->segment.first; i <= best->segment.last; ++i) now[i] = best->peak;
    out.insert(out.begin(), chosen);
  }
  return out;
}

}  // namespace

std::vector<std::vector<Segment>> segment_candidates(const Graph& graph, Contract inputs, Contract outputs) {
  const std::vector<bool> callers = tensors_of_caller(graph, inputs, outputs);
  const std::vector<int64_t> peaks = peaks_of_ops(graph, callers);
  std::vector<RatedSegment> all = all_segments(graph, callers);
  std::vector<std::vector<Segment>> out = from_largest_peak(peaks, all);
  // What sums take is a guess: others are worth a try, too.
  if (std::erase_if(all, [](const RatedSegment& s) { return s.sums; }) > 0)
    for (std::vector<Segment>& segments : from_largest_peak(peaks, all))
      if (std::find(out.begin(), out.end(), segments) == out.end()) out.push_back(std::move(segments));
  return out;
}

namespace {

// By tensor: is it the model's one input, perhaps seen in another shape?
std::vector<bool> seen_as_input(const Graph& graph) {
  std::vector<bool> out(graph.tensors.size(), false);
  if (graph.inputs.size() != 1) return out;
  out[static_cast<size_t>(graph.inputs[0].tensor.value)] = true;
  for (const graph::Op& op : graph.ops)
    if (ops::definition_of(op).traits().view && op.operands[0].valid() &&
        out[static_cast<size_t>(op.operands[0].value)])
      out[static_cast<size_t>(op.results[0].value)] = true;
  return out;
}

constexpr size_t kMostFedCandidates = 8;

// The operator that a fed segment begins with: the first one that computes.
std::optional<size_t> first_operator(const Graph& graph) {
  for (size_t i = 0; i < graph.ops.size(); ++i)
    if (!ops::definition_of(graph.ops[i]).traits().view) return i;
  return std::nullopt;
}

// Nobody but operators [first, last] reads the input or what it is seen as.
bool reads_alone(const Graph& graph, const Segment& segment) {
  const std::vector<bool> input = seen_as_input(graph);
  for (size_t t = 0; t < input.size(); ++t)
    if (input[t] && graph.is_kept(TensorId{static_cast<int32_t>(t)})) return false;
  for (size_t i = 0; i < graph.ops.size(); ++i)
    for (TensorId id : graph.ops[i].operands) {
      if (!id.valid() || !input[static_cast<size_t>(id.value)]) continue;
      const bool inside = i >= segment.first && i <= segment.last;
      if (!inside && !ops::definition_of(graph.ops[i]).traits().view) return false;
    }
  return true;
}

}  // namespace

bool is_fed_input(const Graph& graph, TensorId id) { return seen_as_input(graph)[static_cast<size_t>(id.value)]; }

std::vector<Segment> fed_candidates(const Graph& graph, Contract outputs) {
  const auto first = first_operator(graph);
  if (!first || graph.inputs.size() != 1) return {};
  // No whole input is anywhere.
  const std::vector<bool> callers = tensors_of_caller(graph, Contract::kPreserve, outputs);
  const std::vector<int64_t> peaks = peaks_of_ops(graph, callers);
  std::vector<RatedSegment> rated;
  for (size_t last = *first; last < graph.ops.size() && last - *first < kMostOpsOfSegment; ++last) {
    const auto rows = rows_of_segment(graph, {*first, last}, true);
    if (!rows || !is_fed_input(graph, rows->input) || !reads_alone(graph, {*first, last})) continue;
    int64_t peak = peak_of_rows(graph, *rows, callers);
    for (size_t i = last + 1; i < graph.ops.size(); ++i) peak = std::max(peak, peaks[i]);
    rated.push_back({{*first, last}, peak, rows->sums});
  }
  std::stable_sort(rated.begin(), rated.end(),
                   [](const RatedSegment& a, const RatedSegment& b) { return a.peak < b.peak; });
  if (rated.size() > kMostFedCandidates) rated.resize(kMostFedCandidates);
  std::vector<Segment> out;
  for (const RatedSegment& r : rated) out.push_back(r.segment);
  return out;
}

std::vector<Segment> frame_candidates(const Graph& graph) {
  const auto first = first_operator(graph);
  std::vector<Segment> out;
  if (!first || graph.inputs.size() != 1 || !graph.states.empty()) return out;
  for (size_t last = *first; last < graph.ops.size() && last - *first < kMostOpsOfSegment; ++last) {
    const auto rows = frames_of_segment(graph, {*first, last});
    if (rows && is_fed_input(graph, rows->input) && reads_alone(graph, {*first, last}))
      out.insert(out.begin(), {*first, last});
  }
  if (out.size() > kMostFedCandidates) out.resize(kMostFedCandidates);
  return out;
}

void say_why_no_frames(const Graph& graph, Diagnostics& diags) {
  const std::string what = "the model does not go on in time: ";
  const char* help = "docs/streaming.md says what a model of frames is; leave --stream time out for others";
  Location where;
  where.file = graph.source_file;
  const auto first = first_operator(graph);
  if (graph.inputs.size() != 1 || !graph.states.empty() || !first) {
    const std::string why = !first                 ? "no operator computes anything of the input"
                            : graph.states.empty() ? "it has " + std::to_string(graph.inputs.size()) + " inputs"
                                                   : "it has states of its own";
    auto& error = diags.error(where, "time-impossible", what + why);
    if (graph.states.empty()) error.help(help);
    else
      error.help(
          "leave --stream time out: each run takes the next frames, and the states keep what it needs of those before; "
          "see docs/state.md");
    return;
  }
  std::string why;
  size_t blamed = *first;
  if (!reads_alone(graph, {*first, graph.ops.size() - 1})) why = "the input is an output as well";
  for (size_t last = *first; why.empty() && last < graph.ops.size(); ++last) {
    const ops::OpView view{graph, graph.ops[last]};
    blamed = last;
    if (!is_image(view.operand(0))) {
      why = "this operator reads a tensor of shape " + graph::to_string(view.operand(0).shape) +
            ", and frames are the rows of [1, T, W, C]";
    } else if (!ops::row_flow(view)) {
      why = "this operator reads all time steps at once, and not a window that moves";
    } else if (!frames_of_segment(graph, {*first, last}, &why, &blamed) && view.result().shape[1] != 1 &&
               last + 1 < graph.ops.size()) {
      why.clear();
    }
  }
  if (why.empty()) why = "the rows of this operator cannot be computed frame by frame";
  diags.error(graph.ops[blamed].location, "time-impossible", what + why).help(help);
}

void say_why_not_fed(const Graph& graph, Diagnostics& diags) {
  const char* what = "the input cannot be fed by rows: ";
  const char* help = "give the input as a whole: --input overwrite or preserve";
  Location where;
  where.file = graph.source_file;
  if (graph.inputs.size() != 1) {
    diags
        .error(where, "rows-impossible",
               std::string(what) + "the model has " + std::to_string(graph.inputs.size()) + " inputs")
        .help(help);
    return;
  }
  const auto first = first_operator(graph);
  if (!first) {
    diags.error(where, "rows-impossible", std::string(what) + "no operator computes anything of it").help(help);
    return;
  }
  const graph::Op& op = graph.ops[*first];
  const ops::OpView view{graph, op};
  std::string why = "the rows of this operator cannot be computed one by one";
  const bool read = std::any_of(op.operands.begin(), op.operands.end(),
                                [&](TensorId id) { return id.valid() && is_fed_input(graph, id); });
  if (!read) {
    why = "this operator comes first and reads something else";
  } else if (!is_image(view.operand(0))) {
    why = "this operator reads a tensor of shape " + graph::to_string(view.operand(0).shape) +
          ", and rows are those of an image [1, H, W, C]";
  } else if (const auto rows = rows_of_segment(graph, {*first, *first}, true)) {
    why = !reads_alone(graph, {*first, *first}) ? "other operators read the input as well as this one"
          : !rows_begin_at_words(graph, *rows)
              ? "rows of this operator, of " + std::to_string(row_bytes(view.operand(0))) + " and " +
                    std::to_string(row_bytes(view.result())) + " bytes, would not begin at words of four bytes"
              : "this operator may fail, or its function is not aotc's own";
  } else if (!ops::row_flow(view)) {
    why = "a row of this operator's result needs more than some rows of the input";
  }
  diags.error(op.location, "rows-impossible", what + why)
      .help(help)
      .help(
          "docs/streaming.md says which operators have rows; planes need --input-layout nhwc, "
          "where the format has it");
}

}  // namespace aotc::plan
