// SPDX-License-Identifier: Apache-2.0
// A segment as one function: the events of its schedule are rows of a table, and what each does stands once in a loop
// over them.
#include <algorithm>
#include <map>
#include <set>
#include <span>

#include <fmt/format.h>

#include "ops/operator.h"
#include "plan/packing.h"
#include "plan/row_actions.h"
#include "plan/row_operator.h"

namespace aotc::plan {

using graph::Graph;
using graph::TensorId;
using tir::BufferPtr;
using tir::Ex;

namespace {

constexpr int64_t kWord = 4;

class SegmentLowering {
 public:
  SegmentLowering(const Graph& graph, const SegmentRows& rows, const ops::TargetInfo& target, RowKernels& kernels)
      : graph_(graph), rows_(rows), target_(target), kernels_(kernels), f_("rows") {}

  std::optional<LoweredSegment> run() {
    if (!rows_begin_at_words(graph_, rows_) || !slots_are_few() || !lower_stages()) return std::nullopt;
    find_lives();
    if (!lay_out()) return std::nullopt;
    actions_ = number_events(events(), rows_.banded);
    declare();
    print_events(0, static_cast<int64_t>(events_of_run()));
    finish();
    if (rows_.fed) feed();
    return std::move(out_);
  }

 private:
  // A function of a stage.
  struct Part {
    ops::Lowered lowered;
    tir::KernelPtr kernel;
    std::vector<size_t> constants;  // of the segment, by constant of the function
  };
  struct Stage {
    Part row;                      // all rows that are made at a time
    Part rest;                     // the last ones, where they are fewer
    std::vector<size_t> operands;  // read of the stage, by operand of the operator
    Part begin, end;               // of sums

    int64_t scratch_bytes() const { return std::max(row.lowered.scratch_bytes, rest.lowered.scratch_bytes); }
    int scratch_alignment() const { return std::max(row.lowered.scratch_alignment, rest.lowered.scratch_alignment); }
  };

  const graph::TensorType& type_of(size_t tensor) const { return graph_[rows_.ids[tensor]].type; }
  int64_t row_elements(size_t tensor) const {
    return type_of(tensor).elements() / (type_of(tensor).shape[1] * rows_.units[tensor]);
  }
  int64_t row_bytes(size_t tensor) const { return row_elements(tensor) * size_of(type_of(tensor).dtype); }
  bool whole(size_t tensor) const { return rows_.tensors[tensor].place == RowPlace::kWhole; }
  // Those that are done; more of frames show what is alive.
  std::span<const RowEvent> events() const {
    return {rows_.schedule.events.data(), rows_.frames ? rows_.frames->events : rows_.schedule.events.size()};
  }
  // What NAME_run does: up to the first result.
  size_t events_of_run() const {
    int64_t frames = rows_.frames ? rows_.frames->first : INT64_MAX;
    for (size_t e = 0; e < events().size(); ++e)
      if (is_feed(events()[e]) && frames-- == 0) return e;
    return events().size();
  }
  int64_t rows_of(size_t stage) const {
    const size_t result = rows_.stages[stage].result;
    return rows_.frames ? type_of(result).shape[1] : rows_.tensors[result].rows;
  }
  // Rows of a stage's result that are made last, where these are fewer than at other times.
  int64_t rest_of(size_t stage) const { return rows_of(stage) % rows_.stages[stage].makes; }
  bool is_stage(const RowEvent& e) const { return e.kind == RowEvent::Kind::kStage; }
  bool is_sums(size_t stage) const { return rows_.sums && stage + 1 == rows_.stages.size(); }
  bool is_feed(const RowEvent& e) const { return e.kind == RowEvent::Kind::kFeed; }

  bool lower_stages() {
    for (size_t s = 0; s < rows_.stages.size(); ++s) {
      const graph::Op& whole = graph_.ops[rows_.ops[s]];
      Stage stage;
      if (is_sums(s)) {
        const auto* accumulates = ops::definition_of(whole).as<ops::Streamable>();
        ops::RowSums sums =
            accumulates->lower_pieces({graph_, whole}, rows_.tensors[rows_.stages[s].result].rows, target_);
        stage.operands = {0};
        stage.begin = part_of(std::move(sums.begin), whole.name());
        stage.row = part_of(std::move(sums.add), whole.name());
        stage.end = part_of(std::move(sums.end), whole.name());
      } else {
        const RowStage& rows = rows_.stages[s];
        const RowOperator row(graph_, rows_, s, rows.makes);
        size_t read = 0;
        for (TensorId id : row.op.operands)
          stage.operands.push_back(id.valid() && !row.graph.is_constant(id) ? read++ : 0);
        const int64_t rest = rest_of(s);
        auto part = [&](const RowOperator& of, Part& to) {
          ops::Lowered lowered = of.lower(target_);
          if (lowered.external || tir::can_fail(lowered.function->body)) return false;
          to = part_of(std::move(lowered), whole.name());
          return true;
        };
        if (!part(row, stage.row) || (rest > 0 && !part(RowOperator(graph_, rows_, s, rest), stage.rest))) return false;
      }
      stages_.push_back(std::move(stage));
    }
    return true;
  }

  Part part_of(ops::Lowered lowered, std::string_view op) {
    Part part;
    part.kernel = kernel_of(lowered.function, op);
    for (ops::Constant& c : lowered.constants) part.constants.push_back(constant_of(std::move(c)));
    part.lowered = std::move(lowered);
    return part;
  }

  tir::KernelPtr kernel_of(const tir::FunctionPtr& function, std::string_view op) {
    for (const tir::KernelPtr& known : kernels_)
      if (tir::structurally_equal(*known->meaning, *function)) return known;
    auto made = std::make_shared<tir::Kernel>();
    made->family = fmt::format("{}_row", op);
    made->parameters = {{"number", static_cast<int64_t>(kernels_.size())}};
    made->meaning = function;
    kernels_.push_back(made);
    return made;
  }

  size_t constant_of(ops::Constant made) {
    std::vector<ops::Constant>& list = out_.lowered.constants;
    for (size_t i = 0; i < list.size(); ++i)
      if (list[i].dtype == made.dtype && list[i].bytes == made.bytes && list[i].alignment >= made.alignment) return i;
    list.push_back(std::move(made));
    return list.size() - 1;
  }

  // Their numbers leave room for those of rows that are moved.
  bool slots_are_few() const {
    const auto& events = rows_.schedule.events;
    return std::none_of(events.begin(), events.end(),
                        [&](const RowEvent& e) { return e.slot >= kMoves && !whole(e.tensor); });
  }

  // ---------------------------------------------------------------- what is in memory when

  void find_lives() {
    const auto& events = rows_.schedule.events;
    tensor_alive_.assign(rows_.ids.size(), std::vector<bool>(events.size(), false));
    panel_alive_.assign(stages_.size(), std::vector<bool>(events.size(), false));
    std::vector<std::map<int64_t, size_t>> born(rows_.ids.size());
    std::vector<int64_t> next(stages_.size(), 0);
    for (size_t e = 0; e < events.size(); ++e) {
      for (int64_t row = 0; row < events[e].count; ++row) born[events[e].tensor][events[e].row + row] = e;
      tensor_alive_[events[e].tensor][e] = true;
      if (!is_stage(events[e])) continue;
      const size_t s = events[e].index;
      panel_alive_[s][e] = true;
      for (size_t read = 0; read < rows_.stages[s].reads.size(); ++read) {
        const RowRead& r = rows_.stages[s].reads[read];
        for (int64_t row = 0; row < rows_.stages[s].rows_read(read, events[e].count); ++row) {
          const auto from = born[r.tensor].find(next[s] * r.flow.stride - r.flow.before + row);
          if (from == born[r.tensor].end()) continue;
          std::fill(tensor_alive_[r.tensor].begin() + static_cast<std::ptrdiff_t>(from->second),
                    tensor_alive_[r.tensor].begin() + static_cast<std::ptrdiff_t>(e) + 1, true);
        }
      }
      ++next[s];
    }
    if (!rows_.sums) return;
    // Kept from the first piece to the last.
    std::vector<bool>& kept = panel_alive_.back();
    const auto first = std::find(kept.begin(), kept.end(), true);
    std::fill(first, std::find(kept.rbegin(), kept.rend(), true).base(), true);
  }

  static bool together(const std::vector<bool>& a, const std::vector<bool>& b) {
    for (size_t e = 0; e < a.size(); ++e)
      if (a[e] && b[e]) return true;
    return false;
  }

  bool lay_out() {
    Problem problem;
    std::vector<const std::vector<bool>*> lives;
    auto add = [&](int64_t bytes, int64_t alignment, const std::vector<bool>& life) {
      lives.push_back(&life);
      return problem.add((bytes + kWord - 1) / kWord * kWord, std::max(kWord, alignment));
    };
    std::vector<int32_t> windows(rows_.ids.size(), -1), panels(stages_.size(), -1);
    for (size_t t = 0; t < rows_.ids.size(); ++t)
      if (!whole(t))
        windows[t] = add(rows_.schedule.slots[t] * row_bytes(t), size_of(type_of(t).dtype), tensor_alive_[t]);
    for (size_t s = 0; s < stages_.size(); ++s)
      if (stages_[s].scratch_bytes() > 0)
        panels[s] = add(stages_[s].scratch_bytes(), stages_[s].scratch_alignment(), panel_alive_[s]);
    int64_t alignment = kWord;
    for (size_t i = 0; i < lives.size(); ++i) {
      alignment = std::max(alignment, problem.items[i].alignment);
      for (size_t j = 0; j < i; ++j)
        if (together(*lives[i], *lives[j])) problem.separate(static_cast<int32_t>(j), static_cast<int32_t>(i));
    }
    for (size_t e = 0; e < rows_.schedule.events.size(); ++e) {
      int64_t bytes = 0;
      for (size_t i = 0; i < lives.size(); ++i) bytes += (*lives[i])[e] ? problem.items[i].size : 0;
      problem.lower_bound = std::max(problem.lower_bound, bytes);
    }
    const Solution solution = solve(problem);
    if (!solution.ok() || solution.height == 0) return false;
    auto offset = [&](int32_t item) { return item < 0 ? -1 : solution.offsets[static_cast<size_t>(item)]; };
    for (int32_t item : windows) window_at_.push_back(offset(item));
    for (int32_t item : panels) panel_at_.push_back(offset(item));
    // Elements of every type that lies in it, without rest.
    out_.lowered.scratch_bytes = (solution.height + alignment - 1) / alignment * alignment;
    out_.lowered.scratch_alignment = static_cast<int>(alignment);
    return true;
  }

  // ---------------------------------------------------------------- the function

  void declare() {
    ops::Lowered& l = out_.lowered;
    const size_t last = rows_.ids.size() - 1;
    in_ = f_.input("in", type_of(0).dtype, type_of(0).elements());
    l.args.push_back({ops::ArgKind::kOperand, 0});
    for (size_t c = 0; c < l.constants.size(); ++c) {
      const ops::Constant& made = l.constants[c];
      constants_.push_back(f_.constant(made.name, made.dtype,
                                       static_cast<int64_t>(made.bytes.size()) / size_of(made.dtype), made.alignment));
      l.args.push_back({ops::ArgKind::kConstant, static_cast<int>(c)});
    }
    const bool bytes = *std::max_element(actions_.table.begin(), actions_.table.end()) <= 255;
    ops::Constant events{"events", bytes ? DType::kU8 : DType::kI16, {}, bytes ? 1 : 2};
    for (int64_t v : actions_.table) {
      events.bytes.push_back(static_cast<uint8_t>(v));
      if (!bytes) events.bytes.push_back(static_cast<uint8_t>(v >> 8));
    }
    events_ = f_.constant("events", events.dtype, static_cast<int64_t>(actions_.table.size()), events.alignment);
    l.args.push_back({ops::ArgKind::kConstant, static_cast<int>(l.constants.size())});
    l.constants.push_back(std::move(events));
    for (size_t t = 0; t < rows_.ids.size(); ++t)
      if (!whole(t)) scratch_of(type_of(t).dtype);
    for (const Stage& s : stages_)
      for (const Part* part : {&s.row, &s.rest})
        if (part->kernel)
          for (const BufferPtr& p : part->lowered.function->params)
            if (p->role == tir::Role::kScratch) scratch_of(p->dtype);
    result_ = f_.output("out", type_of(last).dtype, type_of(last).elements());
    l.args.push_back({ops::ArgKind::kResult, 0});
  }

  // The memory of windows and panels as elements of a type.
  const BufferPtr& scratch_of(DType type) {
    auto [found, fresh] = scratch_.emplace(type, nullptr);
    if (fresh) {
      found->second = f_.scratch(size_of(type) == 1 ? "rows" : "words", type,
                                 out_.lowered.scratch_bytes / size_of(type), out_.lowered.scratch_alignment);
      out_.lowered.args.push_back({ops::ArgKind::kScratch, 0});
    }
    return found->second;
  }

  // Where a row of a tensor is, by its slot.
  const BufferPtr& buffer_of(size_t tensor) {
    if (whole(tensor)) return tensor == 0 ? in_ : result_;
    return scratch_of(type_of(tensor).dtype);
  }
  Ex place_of(size_t tensor, const Ex& slot) const {
    const int64_t begin = whole(tensor) ? 0 : window_at_[tensor] / size_of(type_of(tensor).dtype);
    return slot * row_elements(tensor) + begin;
  }

  void print_events(const Ex& from, const Ex& to) {
    const auto columns = static_cast<int64_t>(actions_.columns);
    f_.loop("event", from, to, [&](const Ex& event) {
      const Ex action = f_.let("action", load(events_, event * columns));
      for (size_t a = 0; a < actions_.list.size(); ++a) {
        const bool nothing = is_part_ && is_feed(actions_.list[a].first) && !actions_.list[a].moves();
        if (nothing) continue;
        f_.if_(action == Ex(static_cast<int64_t>(a)), [&] { print_action(actions_.list[a], event * columns); });
      }
    });
  }

  // The same events of a window whose rows are there when their turn comes: each feed makes room
  // for the next.
  void feed() {
    Feeding fed;
    fed.row_bytes = row_bytes(0);
    fed.place = {StorageKind::kArena, -1, window_at_[0]};
    for (size_t e = 0; e < events().size(); ++e) {
      if (is_feed(events()[e])) {
        fed.begins.push_back(static_cast<int64_t>(e) + 1);
        fed.slots.push_back(events()[e].slot);
      } else if (fed.begins.empty()) {
        fed.prepares = true;
      }
    }
    if (rows_.frames) {
      // The last makes room for the frame behind the period, which is the first of the next.
      fed.slots.pop_back();
      fed.period = rows_.frames->period;
      fed.step = rows_.frames->step;
    } else {
      fed.begins.push_back(static_cast<int64_t>(events().size()));
    }
    f_ = tir::FunctionBuilder("rows");
    is_part_ = true;
    const Ex from = f_.scalar("from0"), to = f_.scalar("to0");
    print_events(from, to);
    auto part = std::make_shared<tir::Function>(*f_.finish());
    const std::vector<BufferPtr>& params = out_.lowered.function->params;
    part->params.assign(params.begin() + 1, params.end());
    fed.part = std::move(part);
    out_.fed = std::move(fed);
  }

  // A value of an action, which stands in the table if it varies.
  Ex value_of(const RowAction& a, const Ex& at, size_t value, const char* name) {
    return a.varies(value) ? f_.let(name, load(events_, at + a.column(value))) : Ex(a.values[0][value]);
  }

  void print_action(const RowAction& a, const Ex& at) {
    std::vector<Ex> values = {value_of(a, at, 0, "to")};
    if (is_part_ && is_feed(a.first)) {
      make_room(a, at, values[0], false);
      return;
    }
    for (size_t v = 1; v < a.shift_value(); ++v) values.push_back(value_of(a, at, v, "from"));
    const size_t tensor = a.first.tensor;
    if (!whole(tensor)) values[0] = make_room(a, at, values[0]);
    switch (a.first.kind) {
      case RowEvent::Kind::kStage: return print_stage(a, values);
      case RowEvent::Kind::kFeed:
        return f_.copy(buffer_of(tensor), place_of(tensor, values[0]), in_, values[1] * row_elements(tensor),
                       a.first.count * row_elements(tensor));
      case RowEvent::Kind::kPad: return print_padding(a, values[0]);
    }
  }

  // The slot without the mark, if it is asked for, and rows moved where it was there.
  Ex make_room(const RowAction& a, const Ex& at, const Ex& marked, bool wants_slot = true) {
    int64_t known = 0;
    if (marked.is_imm(&known)) {
      if (known < kMoves) return marked;
      move_rows(a, at, known - kMoves);
      return known - kMoves;
    }
    if (!a.moves()) return marked;
    auto slot = [&] { return f_.let("slot", marked & Ex(kMoves - 1)); };
    const std::optional<Ex> to = a.least_kept < a.most_kept ? std::optional(slot()) : std::nullopt;
    f_.if_(marked >= Ex(kMoves), [&] { move_rows(a, at, to.value_or(marked)); });
    return to || !wants_slot ? to.value_or(marked) : slot();
  }

  // Down to slot 0, all rows in front of the one that comes.
  void move_rows(const RowAction& a, const Ex& at, const Ex& slot) {
    const size_t t = a.first.tensor;
    const BufferPtr& b = buffer_of(t);
    const Ex shift = value_of(a, at, a.shift_value(), "shift");
    // As many at a time as never lie over where they go.
    const int64_t most = std::min(a.shift, a.least_kept), whole = a.least_kept / most;
    auto move = [&](const Ex& row, int64_t rows) {
      f_.copy(b, place_of(t, row), b, place_of(t, row + shift), rows * row_elements(t));
    };
    if (whole == 1) {
      move(0, most);
    } else {
      f_.loop("row", 0, whole * most, [&](const Ex& row) { move(row, most); }, most);
    }
    if (a.least_kept == a.most_kept) return move(whole * most, a.least_kept % most);
    f_.loop("row", whole * most, slot, [&](const Ex& row) { move(row, 1); });
  }

  void print_stage(const RowAction& a, const std::vector<Ex>& values) {
    const Stage& stage = stages_[a.first.index];
    const size_t result = rows_.stages[a.first.index].result;
    if (is_sums(a.first.index)) {
      const Ex &piece = values[0], last(rows_.tensors[result].rows - 1);
      const bool one = piece.is_imm();
      auto when = [&](const Ex& condition, const Part& part) {
        if (one) return run_part(a, part, values);
        f_.if_(condition, [&] { run_part(a, part, values); });
      };
      when(piece == Ex(0), stage.begin);
      run_part(a, stage.row, values);
      return when(piece == last, stage.end);
    }
    run_part(a, a.first.count < rows_.stages[a.first.index].makes ? stage.rest : stage.row, values);
    if (!whole(result))
      f_.trace(static_cast<int64_t>(result), buffer_of(result), place_of(result, values[0]),
               a.first.count * row_elements(result));
  }

  void run_part(const RowAction& a, const Part& part, const std::vector<Ex>& values) {
    const Stage& stage = stages_[a.first.index];
    const RowStage& reads = rows_.stages[a.first.index];
    std::vector<Ex> args;
    for (size_t p = 0; p < part.lowered.args.size(); ++p) {
      const ops::Arg& arg = part.lowered.args[p];
      const auto index = static_cast<size_t>(arg.index);
      switch (arg.kind) {
        case ops::ArgKind::kOperand: {
          const size_t read = stage.operands[index], tensor = reads.reads[read].tensor;
          args.push_back(address(buffer_of(tensor), place_of(tensor, values[read + 1])));
          break;
        }
        case ops::ArgKind::kResult:
          args.push_back(is_sums(a.first.index) ? address(result_, 0)
                                                : address(buffer_of(reads.result), place_of(reads.result, values[0])));
          break;
        case ops::ArgKind::kConstant: args.push_back(address(constants_[part.constants[index]], 0)); break;
        case ops::ArgKind::kScratch: {
          const DType type = part.lowered.function->params[p]->dtype;
          args.push_back(address(scratch_of(type), panel_at_[a.first.index] / size_of(type)));
        }
      }
    }
    if (!part.lowered.function->scalars.empty()) args.push_back(values[0]);
    f_.run(part.kernel, args);
  }

  void print_padding(const RowAction& a, const Ex& slot) {
    const size_t tensor = a.first.tensor;
    const int64_t elements = a.first.count * row_elements(tensor);
    const std::vector<uint8_t>& fill = rows_.fills[tensor];
    const BufferPtr& b = buffer_of(tensor);
    if (std::all_of(fill.begin(), fill.end(), [&](uint8_t byte) { return byte == fill[0]; }))
      return f_.fill_bytes(b, place_of(tensor, slot), fill[0], elements);
    const auto value = static_cast<int16_t>(fill[0] | fill[1] << 8);
    f_.loop("i", 0, elements, [&](const Ex& i) { f_.store(b, place_of(tensor, slot) + i, Ex(value)); });
  }

  // ---------------------------------------------------------------- what the planner is told

  void finish() {
    ops::Lowered& l = out_.lowered;
    l.function = f_.finish();
    for (size_t s = 0; s < stages_.size(); ++s) {
      auto add = [&](const Part& part, int64_t times) {
        l.schedule.instructions += static_cast<double>(times) * part.lowered.schedule.instructions;
        l.schedule.saved_instructions += static_cast<double>(times) * part.lowered.schedule.saved_instructions;
      };
      l.schedule.more_bytes += stages_[s].row.lowered.schedule.more_bytes;  // the rest has the same tables
      add(stages_[s].row, rows_of(s) / rows_.stages[s].makes);
      add(stages_[s].rest, rest_of(s) > 0 ? 1 : 0);
    }
    const auto banded = std::count_if(rows_.stages.begin(), rows_.stages.end(),
                                      [&](const RowStage& s) { return s.makes != rows_.units[s.result]; });
    l.schedule.note = fmt::format("rows of {} operators", stages_.size());
    if (banded > 0) l.schedule.note += fmt::format(", {} of them by other numbers of pixels", banded);
    for (size_t t = 1; t + 1 < rows_.ids.size(); ++t) out_.rows.push_back(rows_.ids[t]);
    if (!rows_.frames) publish();
  }

  void publish() {
    ops::WriteOrder result{0, {}, false};
    out_.scratch_order = {0, {}, false};
    for (const RowEvent& e : rows_.schedule.events) {
      ops::WriteOrder::Step step;
      if (e.kind == RowEvent::Kind::kFeed) {
        step.read_begin = e.sources[0] * row_bytes(0);
        step.read_end = step.read_begin + e.count * row_bytes(0);
      }
      if (is_stage(e))
        for (size_t r = 0; r < e.sources.size(); ++r) {
          const RowRead& read = rows_.stages[e.index].reads[r];
          if (read.tensor != 0 || !whole(0)) continue;
          step.read_begin =
              step.read_end == 0 ? e.sources[r] * row_bytes(0) : std::min(step.read_begin, e.sources[r] * row_bytes(0));
          step.read_end =
              std::max(step.read_end, (e.sources[r] + rows_.stages[e.index].rows_read(r, e.count)) * row_bytes(0));
        }
      publish_scratch(e, step);
      if (is_stage(e) && is_sums(e.index)) {
        // The result is written behind the last piece.
        if (e.slot + 1 == rows_.tensors[e.tensor].rows) step.write_end = type_of(e.tensor).bytes();
      } else if (whole(e.tensor)) {
        step.write_begin = e.slot * row_bytes(e.tensor);
        step.write_end = step.write_begin + e.count * row_bytes(e.tensor);
      }
      result.steps.push_back(step);
    }
    if (static_cast<int64_t>(result.steps.size()) < ops::WriteOrder::kMostSteps)
      out_.lowered.write_orders.push_back(std::move(result));
    if (static_cast<int64_t>(out_.scratch_order.steps.size()) >= ops::WriteOrder::kMostSteps)
      out_.scratch_order.steps.clear();
  }

  // All that an event writes counts as written before it reads.
  void publish_scratch(const RowEvent& e, ops::WriteOrder::Step reads) {
    auto written = [&](int64_t begin, int64_t bytes) {
      if (bytes > 0) out_.scratch_order.steps.push_back({0, 0, begin, begin + bytes});
    };
    if (is_stage(e) && panel_at_[e.index] >= 0) written(panel_at_[e.index], stages_[e.index].scratch_bytes());
    if (!whole(e.tensor)) {
      written(window_at_[e.tensor], e.kept * row_bytes(e.tensor));
      written(window_at_[e.tensor] + e.slot * row_bytes(e.tensor), e.count * row_bytes(e.tensor));
    }
    if (reads.read_begin < reads.read_end) out_.scratch_order.steps.push_back(reads);
  }

  const Graph& graph_;
  const SegmentRows& rows_;
  const ops::TargetInfo& target_;
  RowKernels& kernels_;
  tir::FunctionBuilder f_;
  LoweredSegment out_;
  std::vector<Stage> stages_;
  std::vector<std::vector<bool>> tensor_alive_, panel_alive_;  // by event
  std::vector<int64_t> window_at_, panel_at_;                  // bytes in the scratch memory, -1: none
  RowActions actions_;
  bool is_part_ = false;  // what is printed: rows are fed, and the input is no parameter
  BufferPtr in_, result_, events_;
  std::vector<BufferPtr> constants_;
  std::map<DType, BufferPtr> scratch_;
};

}  // namespace

std::optional<LoweredSegment> lower_segment(const Graph& graph, const SegmentRows& rows, const ops::TargetInfo& target,
                                            RowKernels& kernels) {
  return SegmentLowering(graph, rows, target, kernels).run();
}

}  // namespace aotc::plan
