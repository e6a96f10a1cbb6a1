// SPDX-License-Identifier: Apache-2.0
#include "driver/budget.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/alternatives.h"
#include "driver/estimate.h"
#include "driver/fit.h"
#include "driver/terminal.h"
#include "driver/variants.h"
#include "ops/common/known_fits.h"
#include "support/search.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

constexpr const char* kObjective = "--objective";

using Limits = std::map<std::string, double>;  // "ram" -> 65536

Location location_of(const CompileOptions& options) {
  Location out;
  out.file = options.model_path;
  return out;
}

// "64K" for bytes, "2.5M" for cycles, "20" for milliseconds. `kilo`: what K stands for.
std::optional<double> number_of(std::string_view text, double kilo) {
  double factor = 1;
  if (text.ends_with('K')) factor = kilo;
  if (text.ends_with('M')) factor = kilo * kilo;
  if (factor > 1) text.remove_suffix(1);
  if (text.empty() || text.find_first_not_of("0123456789.") != std::string_view::npos) return std::nullopt;
  const std::string number(text);
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  if (end != number.c_str() + number.size() || !(value > 0) || !std::isfinite(value)) return std::nullopt;
  return value * factor;
}

Result<Limits> parse_limits(const CompileOptions& options, Diagnostics& diags) {
  Limits out;
  for (size_t from = 0; from < options.budget.size();) {
    const size_t to = std::min(options.budget.find(',', from), options.budget.size());
    const std::string part = options.budget.substr(from, to - from);
    from = to + 1;
    const size_t equal = std::min(part.find('='), part.size());
    const std::string name = part.substr(0, equal);
    const bool bytes = name == "ram" || name == "flash", known = bytes || name == "ms" || name == "cycles";
    const auto value = known && equal < part.size()
                           ? number_of(std::string_view(part).substr(equal + 1), bytes ? 1024 : 1000)
                           : std::nullopt;
    if (!value || !out.emplace(name, *value).second) {
      diags
          .error(location_of(options), "budget-invalid",
                 value ? fmt::format("--budget has two limits for '{}'", name)
                       : fmt::format("'{}' is not a limit of --budget", escape_for_display(part)))
          .help("write limits as in --budget ram=64K,flash=256K,ms=20; 'cycles=2M' is a limit, too");
      return kFailure;
    }
  }
  return out;
}

// Milliseconds with at least three digits, at most a hundredth more, as a limit can be written: "0.0123", "17301".
std::string rounded_up(double value) {
  const int digits = value >= 100 ? 0 : 2 - static_cast<int>(std::floor(std::log10(std::max(value, 1e-9))));
  const double unit = std::pow(10.0, -std::min(digits, 12));
  return fmt::format("{:.{}f}", std::ceil(value / unit) * unit, std::clamp(digits, 0, 12));
}

struct Candidate {
  Compiled compiled;
  BudgetFigures figures;
  Fit fit;            // in the board's memories
  double excess = 0;  // by how much limits and memories are exceeded, as parts of them; 0: all are met
};

class BudgetSearch {
 public:
  BudgetSearch(const CompileOptions& options, Limits limits, Diagnostics& diags)
      : options_(options), limits_(std::move(limits)), diags_(diags), progress_(options.quiet) {}

  Result<Compiled> run() {
    auto first = compile_model(plain(options_), diags_);  // its warnings are about the model, for the user
    if (!first || !knows_time(*first)) return kFailure;
    seen_.insert(key_of(options_));
    consider(std::move(*first));
    search<CompileOptions>({{[this] { return other_options(); }},
                            {[this] { return other_rows(); }},
                            {[this] { return neighbours(); }, Again::kAfterAll},
                            {[this] { return schedules(); }},
                            {[this] { return neighbours(); }, Again::kAfterAll}},
                           [this](const CompileOptions& candidate) { return attempt(candidate); });
    progress_.clear();
    if (best_->excess > 0) return over_budget();
    BudgetResult result{options_.budget, best_->figures, tried_, chosen_schedules(best_->compiled)};
    if (!result.figures.code_measured) set_code(best_->compiled, result.figures, true);
    best_->compiled.budget = std::make_shared<const BudgetResult>(std::move(result));
    return std::move(best_->compiled);
  }

 private:
  bool has(const char* limit) const { return limits_.contains(limit); }
  bool counts_code() const { return has("flash") || options_.objective == Objective::kFlash; }

  // The user's options with the variant, without a budget.
  CompileOptions plain(const VariantOptions& variant) const {
    CompileOptions out = with_variant(options_, variant);
    out.budget.clear();
    out.given.erase(kObjective);
    return out;
  }

  // Milliseconds need a clock, and cycles a core.
  bool knows_time(const Compiled& first) {
    const bool cycles = estimated_cycles(first).total > 0, clock = full_clock_hz(first) > 0;
    if ((!has("cycles") || cycles) && (!has("ms") || (cycles && clock))) return true;
    auto& d = diags_.error(location_of(options_), "budget-invalid",
                           cycles ? "--budget has a limit of milliseconds, but the clock is unknown"
                                  : "--budget has a limit of time, but aotc cannot estimate the cycles of this target");
    d.help(cycles ? "name a board with a clock, as --board nucleo_f446re, or write cycles=N instead of ms=N"
                  : "name another core with --cpu or --board; 'aotc cpus' lists the CPUs");
    return false;
  }

  BudgetFigures figures_of_candidate(const Compiled& c) {
    BudgetFigures out;
    const Figures f = figures_of(c);
    const bool workspace = c.options.memory == codegen::MemoryMode::kWorkspace;
    out.ram = (workspace ? f.workspace_bytes : f.arena_bytes) + f.state_bytes + f.caller_bytes;
    set_code(c, out, counts_code());
    const CycleEstimate& estimate = estimated_cycles(c);
    out.cycles = std::max(estimate.total, estimate.most);
    if (const double hz = full_clock_hz(c); hz > 0) out.milliseconds = 1e3 * static_cast<double>(out.cycles) / hz;
    return out;
  }

  // `measures`: with the board's compiler, if it is installed, which takes a second.
  void set_code(const Compiled& c, BudgetFigures& figures, bool measures) {
    const std::optional<int64_t> code = measures ? measured_code_of(c, sizes_) : std::nullopt;
    figures.code_measured = code.has_value();
    figures.flash = figures_of(c).constant_bytes + code.value_or(code_of_model(c.c.files));
  }

  static double value_of(const BudgetFigures& f, const std::string& limit) {
    if (limit == "ram") return static_cast<double>(f.ram);
    if (limit == "flash") return static_cast<double>(f.flash);
    return limit == "ms" ? f.milliseconds : static_cast<double>(f.cycles);
  }

  // Smaller is better: feasible ones first, then by the objective, then by the others.
  auto rank(const Candidate& c) const {
    const auto ram = static_cast<double>(c.figures.ram), flash = static_cast<double>(c.figures.flash);
    const double time = c.figures.cycles > 0 ? static_cast<double>(c.figures.cycles)
                                             : static_cast<double>(estimated_instructions(c.compiled).total);
    std::array<double, 3> order = {time, ram, flash};
    if (options_.objective == Objective::kRam) order = {ram, time, flash};
    if (options_.objective == Objective::kFlash) order = {flash, time, ram};
    return std::tuple(c.excess, order);
  }

  // Keeps the candidate if it is the best so far; returns whether it is.
  bool consider(Compiled compiled) {
    ++tried_;
    Candidate made{std::move(compiled), {}, {}};
    made.figures = figures_of_candidate(made.compiled);
    if (made.compiled.board) made.fit = fit_of(need_of(made.compiled, *made.compiled.board), *made.compiled.board);
    made.excess = excess_of_memories(made.fit);
    for (const auto& [name, limit] : limits_) {
      made.excess += std::max(0.0, value_of(made.figures, name) / limit - 1);
      note_least(name, made);
    }
    const bool better = !best_ || rank(made) < rank(*best_);
    if (better) best_ = std::move(made);
    progress_.step(fmt::format("{} candidates compiled; best: {}", tried_, budget_text(best_->figures)));
    return better;
  }

  static double excess_of_memories(const Fit& fit) {
    static constexpr double kLeast = 1e-6;  // what does not fit counts, even if the figures say nothing
    auto excess = [](bool fits, int64_t needed, const project::Memory* memory) {
      if (fits) return 0.0;
      if (memory == nullptr || memory->size <= 0) return 1.0;
      return std::max(kLeast, static_cast<double>(needed) / static_cast<double>(memory->size) - 1);
    };
    return excess(fit.ram, fit.ram_needed, fit.arena) + excess(fit.flash, fit.flash_needed, fit.constants);
  }

  // The options of a candidate, and that it has schedules which no option gives.
  std::string choice_text(const Compiled& c) const {
    const int64_t own = chosen_schedules(c);
    return c.options.options() + (own > 0 ? " and " + schedules_text(own) : "");
  }

  // Schedules that the search chose.
  int64_t chosen_schedules(const Compiled& c) const {
    return has_schedules() ? 0 : static_cast<int64_t>(c.options.schedules.size());
  }
  // The user names schedules, which stay.
  bool has_schedules() const { return !options_.schedules.empty() || !options_.schedules_path.empty(); }

  // The least value of a figure among the candidates that meet all other limits.
  void note_least(const std::string& name, const Candidate& c) {
    for (const auto& [other, limit] : limits_)
      if (other != name && value_of(c.figures, other) > limit) return;
    const double value = value_of(c.figures, name);
    if (!c.fit.both() || value <= 0) return;
    auto [found, is_new] = least_.try_emplace(name, value, choice_text(c.compiled));
    if (!is_new && value < found->second.first) found->second = {value, choice_text(c.compiled)};
  }

  // The options of the command line stay. --prefer flash sets the level, too.
  bool is_allowed(const VariantOptions& v) const {
    auto given = [&](const char* name) { return options_.given.contains(name); };
    const bool sets_level = given("--optimize") || (given("--prefer") && options_.level == ops::Level::kSize);
    return (!sets_level || v.level == options_.level) &&
           (!given("--prefer") || v.spends_ram() == options_.spends_ram()) &&
           (!given("--stream") || v.stream.mode == options_.stream.mode) && v.images_last == options_.images_last;
  }

  static std::string key_of(const CompileOptions& options) {
    std::string out = options.options();
    for (const auto& [op, schedule] : options.schedules)
      out += fmt::format(";{}.{} {}", op.op_index, op.part, schedule.text());
    return out;
  }

  // Compiles a candidate that is new; other options may be refused. True if it is the best so far.
  bool attempt(const CompileOptions& options) {
    if (!seen_.insert(key_of(options)).second) return false;
    Diagnostics ignored;
    auto compiled = compile_model(options, ignored);
    if (!compiled) return false;
    if (options.stream.mode == plan::Stream::kMax) tried_rows_.emplace_back(options, compiled->program.stream_tried);
    return consider(std::move(*compiled));
  }

  // The candidates with these options that are allowed, with the schedules of the best one.
  std::vector<CompileOptions> allowed(const std::vector<VariantOptions>& variants) const {
    std::vector<CompileOptions> out;
    for (const VariantOptions& v : variants) {
      if (!is_allowed(v)) continue;
      out.push_back(plain(v));
      if (!has_schedules()) out.back().schedules = best_->compiled.options.schedules;
    }
    return out;
  }

  std::vector<CompileOptions> other_options() const { return allowed(proposed_variants(options_)); }

  // Other prices of rows, where rows make the arena smaller.
  std::vector<CompileOptions> other_rows() const {
    std::vector<VariantOptions> out;
    for (const auto& [options, tried] : tried_rows_)
      for (const VariantOptions& by_rows : variants_by_rows(options, tried)) out.push_back(by_rows);
    return allowed(out);
  }

  // One option after the other, from the best so far.
  std::vector<CompileOptions> neighbours() const { return allowed(neighbours_of(best_->compiled.options)); }

  // Schedules of operators: for several prices of a byte of tables, each operator takes its cheapest one. The most
  // expensive operators come first; the work is limited by the bytes of weights that lowering reads.
  std::vector<CompileOptions> schedules() const {
    std::vector<CompileOptions> out;
    if (has_schedules() || best_->compiled.options.feed) return out;
    const std::vector<OperatorAlternatives> all =
        alternatives_of(best_->compiled, {.most = kMostAlternatives, .most_weights = kMostWeights});
    for (const bool more_scratch : {true, false})
      for (const double price : {0.0, 1.0, 10.0, 100.0, 1000.0}) {
        out.push_back(plain(best_->compiled.options));
        out.back().schedules = cheapest(all, price, more_scratch);
        if (out.back().schedules.empty()) out.pop_back();
      }
    return out;
  }

  // The operators with another schedule than the present one, which costs less at this price of a byte of tables.
  static ops::Schedules cheapest(const std::vector<OperatorAlternatives>& all, double price, bool more_scratch) {
    ops::Schedules out;
    auto cost = [&](const Alternative& a) { return a.cost() + price * static_cast<double>(a.constant_bytes); };
    for (const OperatorAlternatives& op : all) {
      const Alternative* least = nullptr;
      for (const Alternative& a : op.alternatives) {
        if (a.schedule.instructions <= 0) continue;
        if (!more_scratch && a.scratch_bytes > op.alternatives[0].scratch_bytes) continue;
        if (least == nullptr || cost(a) < kWorth * cost(*least)) least = &a;
      }
      if (least != nullptr && !least->chosen) out[op.op_index] = least->schedule;
    }
    return out;
  }

  Result<Compiled> over_budget() {
    auto& d = diags_.error(location_of(options_), "over-budget",
                           fmt::format("no candidate meets the budget {}; {} were compiled",
                                       options_.budget.empty() ? "and the board" : options_.budget, tried_));
    d.note(fmt::format("closest: {} with {}", choice_text(best_->compiled), budget_text(best_->figures)));
    for (const auto& [name, limit] : limits_) {
      const double value = value_of(best_->figures, name);
      if (value > limit)
        d.note(fmt::format("{}: {} over the limit", name,
                           name == "ms"       ? rounded_up(value - limit) + " ms"
                           : name == "cycles" ? with_commas(std::llround(value - limit)) + " cycles"
                                              : exact_bytes(static_cast<int64_t>(std::ceil(value - limit)))));
    }
    const Fit& fit = best_->fit;
    for (const auto& [fits, needed, memory] :
         {std::tuple(fit.ram, fit.ram_needed, fit.arena), std::tuple(fit.flash, fit.flash_needed, fit.constants)})
      if (!fits && memory != nullptr)
        d.note(fmt::format("with stack and firmware, the model needs {}, but memory {} of board {} has {}",
                           exact_bytes(needed), memory->name, best_->compiled.board->name, exact_bytes(memory->size)));
    for (const auto& [name, limit] : limits_) {
      const auto found = least_.find(name);
      if (found == least_.end() || found->second.first <= limit) continue;
      d.help(fmt::format(
          "{}={} can be met together with the other limits: {}", name,
          name == "ms" ? rounded_up(found->second.first) : std::to_string(std::llround(std::ceil(found->second.first))),
          found->second.second));
    }
    advise_other_interfaces(d);
    d.help("'aotc report MODEL' shows the operators with the most live bytes, constants and cycles");
    return kFailure;
  }

  // Options that change how the caller uses the model; the search leaves them to the user.
  void advise_other_interfaces(Diagnostic& d) {
    if (!has("ram") || static_cast<double>(best_->figures.ram) <= limits_.at("ram")) return;
    CompileOptions in_arena = plain(best_->compiled.options), by_rows = in_arena;
    in_arena.outputs = plan::Contract::kOverwrite;
    by_rows.stream = {plan::Stream::kMax};
    by_rows.inputs = plan::Contract::kPreserve;
    by_rows.feed = true;
    for (const auto& [options, text] :
         {std::pair(in_arena, "--output overwrite"), std::pair(by_rows, "--input rows")}) {
      Diagnostics ignored;
      const auto compiled = compile_model(options, ignored);
      if (!compiled) continue;
      const BudgetFigures figures = figures_of_candidate(*compiled);
      if (figures.ram < best_->figures.ram)
        d.help(fmt::format("another way to call the model takes less RAM: {} with {}: {}", options.options(), text,
                           budget_text(figures)));
    }
  }

  static constexpr size_t kMostAlternatives = 24;     // of an operator
  static constexpr int64_t kMostWeights = 8'000'000;  // bytes
  static constexpr double kWorth = 0.97;              // smaller gains are not taken

  const CompileOptions& options_;
  Limits limits_;
  Diagnostics& diags_;
  Progress progress_;
  KnownSizes sizes_;
  std::set<std::string> seen_;
  // With --stream max: the lists of segments that the planner tried.
  std::vector<std::pair<VariantOptions, std::vector<plan::StreamTried>>> tried_rows_;
  std::optional<Candidate> best_;
  std::map<std::string, std::pair<double, std::string>> least_;
  int64_t tried_ = 0;
};

}  // namespace

bool has_budget(const CompileOptions& options) { return !options.budget.empty() || options.given.contains(kObjective); }

Result<Compiled> compile_in_budget(const CompileOptions& options, Diagnostics& diags) {
  auto limits = parse_limits(options, diags);
  if (!limits) return kFailure;
  const ops::KnownFits fits;  // of all candidates
  return BudgetSearch(options, std::move(*limits), diags).run();
}

std::string schedules_text(int64_t operators) {
  return fmt::format("schedules of {} operator{}", operators, operators == 1 ? "" : "s");
}

std::string budget_text(const BudgetFigures& f) {
  std::string out =
      fmt::format("RAM {}, flash {}{}", exact_bytes(f.ram), f.code_measured ? "" : "about ", exact_bytes(f.flash));
  if (f.milliseconds > 0) out += fmt::format(", {} ms", rounded_up(f.milliseconds));
  if (f.cycles > 0) out += fmt::format(", {} cycles", with_commas(f.cycles));
  return out;
}

nlohmann::ordered_json budget_json(const BudgetResult& result) {
  nlohmann::ordered_json j = {{"limits", result.limits},
                              {"ram_bytes", result.figures.ram},
                              {"flash_bytes", result.figures.flash},
                              {"code_measured", result.figures.code_measured},
                              {"tried", result.tried},
                              {"schedules", result.schedules}};
  if (result.figures.cycles > 0) j["cycles"] = result.figures.cycles;
  if (result.figures.milliseconds > 0) j["ms"] = result.figures.milliseconds;
  return j;
}

}  // namespace aotc::driver
