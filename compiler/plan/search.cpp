// SPDX-License-Identifier: Apache-2.0
#include "plan/search.h"

#include <algorithm>
#include <climits>
#include <optional>
#include <span>
#include <utility>

#include "plan/instructions.h"
#include "plan/repeats.h"
#include "plan/row_bands.h"
#include "plan/segments.h"
#include "plan/windows.h"
#include "support/search.h"

namespace aotc::plan {

using graph::Graph;

namespace {

struct Candidate {
  Program program;
  PlanHints hints;
  double instructions = -1;  // estimated; -1: not counted yet
  int64_t bytes() const { return program.arena_bytes + program.state_bytes; }
};

// What a candidate must be to replace the best one. It never needs more memory, unless the rule is `faster`.
struct Rule {
  bool smaller = false;      // it needs less memory; otherwise, fewer instructions in the same memory are enough
  bool faster = false;       // it takes fewer instructions, and no more memory than the plan without any rows
  bool by_rows = false;      // it needs less memory than the plan without rows, and `stream` allows its time
  bool fewer_calls = false;  // it prints as many calls, or fewer
};

struct Trial {
  Arrangement arrangement;
  Rule rule;
};

class ArrangementSearch;

// Names arrangements that are worth a try, given the best candidate so far.
struct Proposal {
  std::vector<Arrangement> (ArrangementSearch::*propose)() const;
  Rule rule;
  Again again = Again::kNever;
};

class ArrangementSearch {
 public:
  ArrangementSearch(const Graph& graph, const PlanOptions& options) : graph_(graph), options_(options) {}

  // Plans the first candidate. Reports its errors.
  Status begin(const Arrangement& first, Diagnostics& diags) {
    auto candidate = plan(first, diags);
    if (!candidate) return kFailure;
    best_ = std::move(*candidate);
    return success();
  }

  // All proposals keep this order and these windows.
  void keep(const Arrangement& arrangement) {
    std::string unused;  // the windows have been planned
    kept_ = arrangement;
    if (kept_ == Arrangement()) return;
    arranged_ = graph_;
    (void)arrange(*arranged_, kept_, unused);
  }

  void run(std::span<const Proposal> proposals) {
    std::vector<Proposer<Trial>> proposers;
    for (const Proposal& p : proposals)
      proposers.push_back({[this, p] {
                             std::vector<Trial> out;
                             for (Arrangement& one : (this->*p.propose)()) out.push_back({std::move(one), p.rule});
                             return out;
                           },
                           p.again});
    search<Trial>(proposers, [this](const Trial& trial) { return attempt(trial.arrangement, trial.rule); });
  }

  bool has_best() const { return best_.has_value(); }
  int64_t bytes() const { return best_ ? best_->bytes() : INT64_MAX; }
  // A proposer ends when the best candidate needs no more bytes.
  void set_goal(int64_t bytes) { goal_ = bytes; }
  Program take_best() {
    best_->program.stream_tried = std::move(tried_);
    return std::move(best_->program);
  }
  const Arrangement& best_arrangement() const { return best_->program.schedule.arrangement; }

  // --- Proposers
  std::vector<Arrangement> fewer_windows() const;
  std::vector<Arrangement> emptier_order() const;
  std::vector<Arrangement> fed_rows() const;
  std::vector<Arrangement> frames() const;
  std::vector<Arrangement> rows() const;
  std::vector<Arrangement> bands_of_smallest() const { return with_bands_of(smallest_); }
  std::vector<Arrangement> bands_of_best() const {
    return best_ ? with_bands_of(best_arrangement().segments) : std::vector<Arrangement>();
  }

 private:
  Result<Candidate> plan(const Arrangement& arrangement, Diagnostics& diags) const {
    Candidate out;
    auto program = plan_schedule(graph_, {arrangement, options_.schedules}, options_, diags, &out.hints);
    if (!program) return kFailure;
    out.program = std::move(*program);
    return out;
  }

  double instructions(Candidate& c) const {
    if (c.instructions >= 0) return c.instructions;
    c.instructions = 0;
    for (int64_t call : instructions_of_calls(c.program, options_.target)) c.instructions += static_cast<double>(call);
    return c.instructions;
  }

  // Plans the arrangement. True if it is the best now.
  bool attempt(const Arrangement& arrangement, const Rule& rule) {
    Diagnostics ignored;  // what is impossible is not taken
    auto planned = plan(arrangement, ignored);
    if (!planned || !is_fed(planned->program, options_)) return false;
    if (best_ && !is_better(*planned, rule)) return false;
    best_ = std::move(*planned);
    return true;
  }

  bool is_better(Candidate& now, const Rule& rule) {
    if (rule.faster) return now.bytes() <= whole_bytes() && instructions(now) < instructions(*best_);
    if (rule.by_rows && !is_worth_its_time(now)) return false;
    if (now.bytes() > best_->bytes()) return false;
    if (now.bytes() == best_->bytes() && (rule.smaller || instructions(now) >= instructions(*best_))) return false;
    return !rule.fewer_calls || printed_calls(now.program) <= printed_calls(best_->program);
  }

  // Of the plan that is not fed and has no rows.
  int64_t whole_bytes() {
    if (whole_bytes_) return *whole_bytes_;
    PlanOptions options = options_;
    options.feed = false;
    Diagnostics ignored;
    const auto whole = plan_schedule(graph_, {kept_, options.schedules}, options, ignored);
    whole_bytes_ = whole ? whole->arena_bytes + whole->state_bytes : 0;
    return *whole_bytes_;
  }

  // The operators' own estimates are for whole tensors, so instructions are counted in what is lowered.
  bool is_worth_its_time(Candidate& now) {
    if (!base_instructions_) {
      base_bytes_ = options_.feed ? INT64_MAX : best_->bytes();
      base_instructions_ = instructions(*best_);
    }
    if (now.bytes() >= base_bytes_) return false;
    const double base = *base_instructions_, percent = base > 0 ? 100 * (instructions(now) - base) / base : 0;
    tried_.push_back({now.program.arena_bytes, percent});
    if (now.bytes() < smallest_bytes_) {
      smallest_bytes_ = now.bytes();
      smallest_ = now.program.schedule.arrangement.segments;
    }
    return options_.stream.allows(percent);
  }

  std::vector<Arrangement> with_segments(const std::vector<std::vector<Segment>>& lists) const {
    std::vector<Arrangement> out(lists.size(), kept_);
    for (size_t i = 0; i < lists.size(); ++i) out[i].segments = lists[i];
    return out;
  }
  std::vector<Arrangement> with_bands_of(const std::vector<Segment>& segments) const {
    return with_segments(with_bands(arranged(), segments, options_.feed, options_.target));
  }

  // The graph in the order of `kept_`.
  const Graph& arranged() const { return arranged_ ? *arranged_ : graph_; }

  const Graph& graph_;
  const PlanOptions& options_;
  Arrangement kept_;  // without segments
  std::optional<Graph> arranged_;
  std::optional<Candidate> best_;
  int64_t goal_ = 0;
  std::optional<int64_t> whole_bytes_;
  // Of the plan without rows, or with only those that the caller feeds.
  int64_t base_bytes_ = INT64_MAX;
  std::optional<double> base_instructions_;
  // The segments that need the least memory, however long they take.
  int64_t smallest_bytes_ = INT64_MAX;
  std::vector<Segment> smallest_;
  std::vector<StreamTried> tried_;
};

// The windows without one of them, the largest first.
std::vector<Arrangement> ArrangementSearch::fewer_windows() const {
  std::vector<Arrangement> out;
  if (bytes() <= goal_) return out;
  std::vector<Window> windows = best_->program.windows;
  std::stable_sort(windows.begin(), windows.end(), [&](const Window& a, const Window& b) {
    return growth_of(best_->program.graph, a) > growth_of(best_->program.graph, b);
  });
  for (const Window& window : windows) {
    out.push_back(best_arrangement());
    std::erase(out.back().windows, static_cast<int>(window.state));
  }
  return out;
}

std::vector<Arrangement> ArrangementSearch::emptier_order() const {
  if (!best_->hints.order) return {};
  Arrangement other = best_arrangement();
  other.order = *best_->hints.order;
  return {other};
}

std::vector<Arrangement> ArrangementSearch::fed_rows() const {
  std::vector<std::vector<Segment>> lists;
  for (const Segment& segment : fed_candidates(arranged(), options_.outputs)) lists.push_back({segment});
  return with_segments(lists);
}

std::vector<Arrangement> ArrangementSearch::frames() const {
  std::vector<std::vector<Segment>> lists;
  for (const Segment& segment : frame_candidates(arranged())) lists.push_back({segment});
  return with_segments(lists);
}

// Of an input that is fed by rows, behind the segment at the input.
std::vector<Arrangement> ArrangementSearch::rows() const {
  if (!options_.feed) return with_segments(segment_candidates(arranged(), options_.inputs, options_.outputs));
  if (!best_ || options_.stream.mode == Stream::kOff) return {};
  const Segment fed = best_arrangement().segments[0];
  std::vector<std::vector<Segment>> lists = segment_candidates(arranged(), Contract::kPreserve, options_.outputs);
  for (std::vector<Segment>& segments : lists) {
    std::erase_if(segments, [&](const Segment& s) { return s.first <= fed.last; });
    if (!segments.empty()) segments.insert(segments.begin(), fed);
  }
  std::erase_if(lists, [](const auto& segments) { return segments.empty(); });
  return with_segments(lists);
}

constexpr Rule kAnyTime = {}, kByRows = {.by_rows = true}, kSmaller = {.smaller = true}, kFaster = {.faster = true};
constexpr Proposal kWindowProposals[] = {{&ArrangementSearch::fewer_windows, kSmaller, Again::kAfterSuccess}};
// Another order is not taken if the code grows.
constexpr Proposal kOrderProposals[] = {{&ArrangementSearch::emptier_order, {.smaller = true, .fewer_calls = true}}};
constexpr Proposal kRowProposals[] = {{&ArrangementSearch::rows, kByRows},
                                      {&ArrangementSearch::bands_of_smallest, kByRows}};
constexpr Proposal kFedProposals[] = {{&ArrangementSearch::fed_rows, kAnyTime},
                                      {&ArrangementSearch::rows, kByRows},
                                      {&ArrangementSearch::bands_of_best, kAnyTime}};
constexpr Proposal kFastFedProposals[] = {{&ArrangementSearch::fed_rows, kAnyTime},
                                          {&ArrangementSearch::rows, kByRows},
                                          {&ArrangementSearch::bands_of_best, kFaster}};
constexpr Proposal kFrameProposals[] = {{&ArrangementSearch::frames, kSmaller}};

std::span<const Proposal> proposals_of(const PlanOptions& options) {
  if (options.feed && options.stream.mode == Stream::kTime) return kFrameProposals;
  if (options.feed)
    return options.target.spends_ram() && options.stream.mode != Stream::kMax ? std::span(kFastFedProposals)
                                                                              : std::span(kFedProposals);
  if (options.stream.mode != Stream::kOff) return kRowProposals;
  return kOrderProposals;
}

// The windows to keep, if arena and state together are not larger with them than without any.
std::vector<int> choose_windows(const Graph& graph, const PlanOptions& options) {
  Arrangement all;
  std::vector<Window> windows;
  if (!graph.states.empty()) {
    Graph ordered = graph;
    windows = order_for_windows(ordered, find_windows(graph));
  }
  for (const Window& window : windows) all.windows.push_back(static_cast<int>(window.state));
  std::sort(all.windows.begin(), all.windows.end());
  if (all.windows.empty()) return {};
  PlanOptions whole = options;  // rows of operators are a matter of the search that follows
  whole.feed = false;
  Diagnostics ignored;
  ArrangementSearch without(graph, whole), with(graph, whole);
  (void)without.begin({}, ignored);
  if (!with.begin(all, ignored)) return {};
  with.set_goal(without.bytes());
  with.run(kWindowProposals);
  return with.bytes() <= without.bytes() ? with.best_arrangement().windows : std::vector<int>();
}

// With the windows, which are planned as the rest allows.
std::optional<Program> search_with(const Graph& graph, const PlanOptions& options, const std::vector<int>& windows,
                                   Diagnostics& diags) {
  const Arrangement first = {.windows = windows};
  ArrangementSearch search(graph, options);
  search.keep(first);
  if (!options.feed && !search.begin(first, diags)) return std::nullopt;
  if (is_plain(graph, options)) search.run(proposals_of(options));
  return search.has_best() ? std::optional(search.take_best()) : std::nullopt;
}

}  // namespace

bool is_plain(const Graph& graph, const PlanOptions& options) {
  return !has_regions(graph) && options.devices.devices.size() <= 1 && !options.program_tables;
}

bool is_fed(const Program& program, const PlanOptions& options) {
  if (!options.feed) return true;
  const auto& feeding = program.feeding;
  if (!feeding || (options.stream.mode == Stream::kTime ? feeding->period : feeding->rows()) == 0) return false;
  return program.body[0].kind == ProgramStep::Kind::kCall && program.body[0].call == feeding->call;
}

Result<Program> search_arrangement(const Graph& graph, const PlanOptions& options, Diagnostics& diags) {
  const bool may_have_windows = options.devices.devices.size() <= 1 && !has_regions(graph);
  Diagnostics ignored;  // without windows it may be possible
  if (const std::vector<int> windows = may_have_windows ? choose_windows(graph, options) : std::vector<int>();
      !windows.empty())
    if (auto program = search_with(graph, options, windows, ignored)) return std::move(*program);
  if (auto program = search_with(graph, options, {}, diags)) return std::move(*program);
  if (options.feed && diags.error_count() == 0) {
    if (options.stream.mode == Stream::kTime) say_why_no_frames(graph, diags);
    else say_why_not_fed(graph, diags);
  }
  return kFailure;
}

}  // namespace aotc::plan
