// SPDX-License-Identifier: Apache-2.0
#include "driver/variants.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/compile_options.h"
#include "driver/estimate.h"
#include "driver/project_dir.h"
#include "driver/temporary.h"
#include "options/options.h"
#include "support/files.h"
#include "support/search.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

// Bytes of code that the board's compiler makes of the model's functions.
std::optional<int64_t> code_of(const Compiled& compiled) {
  if (!compiled.board || find_program(compiled.board->compiler).empty()) return std::nullopt;
  TemporaryDirectory folder;
  Diagnostics ignored;  // a figure that cannot be had is left out
  if (!folder.made(ignored)) return std::nullopt;
  for (const char* suffix : {".h", "_data.h", ".c"}) {
    std::string name = compiled.prefix + suffix;
    if (!write_scratch_file(folder.path() + "/" + name, compiled.c.files.at(name), ignored)) return std::nullopt;
  }
  std::vector<std::string> command = {compiled.board->compiler};
  command.insert(command.end(), compiled.board->cflags.begin(), compiled.board->cflags.end());
  for (const char* flag : {"-std=c99", "-O2", "-ffunction-sections", "-ffp-contract=off", "-c"})
    command.emplace_back(flag);
  command.insert(command.end(), {compiled.prefix + ".c", "-o", "model.o"});
  ProcessResult made = run_process(command, folder.path(), 120);
  if (!made.started || made.exit_code != 0) return std::nullopt;
  auto size = object_size(*compiled.board, folder.path() + "/model.o");
  return size ? std::optional(size->code) : std::nullopt;
}

std::vector<Variant> variants_to_try(const CompileOptions& options) {
  std::vector<Variant> out;
  for (const VariantOptions& v : proposed_variants(options)) {
    out.push_back({v});
    out.back().chosen = v == static_cast<const VariantOptions&>(options);
  }
  // Refused by models that have no pictures as planes.
  if (!options.images_last) {
    Variant v = {options};
    v.images_last = true;
    out.push_back(v);
  }
  return out;
}

void measure(const Compiled& compiled, KnownSizes* sizes, Variant& v) {
  const Figures f = figures_of(compiled);
  v.arena_bytes = f.arena_bytes;
  v.constants_bytes = f.constant_bytes;
  v.functions = static_cast<int64_t>(compiled.program.functions.size());
  v.tried = compiled.program.stream_tried;
  v.instructions = estimated_instructions(compiled).total;
  v.cycles = estimated_cycles(compiled).total;
  if (sizes != nullptr && compiled.options.memory == codegen::MemoryMode::kStatic)
    v.code_bytes = measured_code_of(compiled, *sizes);
}

// False if the model cannot be compiled so.
bool compile_and_measure(const CompileOptions& options, KnownSizes* sizes, Variant& v) {
  CompileOptions here = with_variant(options, v);
  here.dump_after.clear();
  here.time_passes = false;
  Diagnostics ignored;  // the caller has compiled the model: other options may at most refuse
  auto compiled = compile_model(here, ignored);
  if (!compiled) return false;
  measure(*compiled, sizes, v);
  return true;
}

// How many of the options differ.
int distance(const VariantOptions& a, const VariantOptions& b) {
  return (a.level != b.level) + (a.spends_ram() != b.spends_ram()) + (a.stream != b.stream) +
         (a.images_last != b.images_last);
}

// The values of --stream-most that make something else of lists of segments that were tried, but for what --stream auto
// and max do.
std::vector<int> percents_between(std::vector<plan::StreamTried> tried) {
  std::sort(tried.begin(), tried.end(), [](const auto& a, const auto& b) {
    return std::tie(a.percent, a.arena_bytes) < std::tie(b.percent, b.arena_bytes);
  });
  std::vector<plan::StreamTried> front;
  for (const plan::StreamTried& t : tried)
    if (front.empty() || t.arena_bytes < front.back().arena_bytes) front.push_back(t);
  // How many of them take no more than that.
  auto within = [&](int percent) {
    return std::count_if(front.begin(), front.end(), [&](const auto& t) { return t.percent <= percent; });
  };
  std::vector<int> out;
  for (const plan::StreamTried& t : front) {
    const int percent = std::max(0, static_cast<int>(std::ceil(t.percent)));
    const auto count = within(percent);
    if (count == within(plan::Streaming().most) || count == std::ssize(front) ||
        (!out.empty() && out.back() == percent))
      continue;
    out.push_back(percent);
  }
  return out;
}

// What is worth a try where rows make the arena smaller.
std::vector<Variant> with_rows_to_try(const std::vector<Variant>& variants) {
  std::vector<Variant> out;
  const auto chosen = std::find_if(variants.begin(), variants.end(), [](const Variant& v) { return v.chosen; });
  if (chosen == variants.end()) return out;
  for (const Variant& v : variants) {
    if (v.stream.mode != plan::Stream::kMax || v.tried.empty()) continue;
    VariantOptions other = v;
    other.stream = chosen->stream;
    if (distance(other, *chosen) > 0) continue;
    for (const VariantOptions& by_rows : variants_by_rows(other, v.tried))
      if (by_rows.stream != chosen->stream) out.push_back({by_rows});
    if (chosen->stream.mode == plan::Stream::kMax) continue;
    other = v;
    for (ops::Level level : {ops::Level::kSize, ops::Level::kBalanced, ops::Level::kSpeed}) {
      other.level = level;
      if (level != chosen->level) out.push_back({other});
    }
  }
  return out;
}

bool is_better(const Variant& a, const Variant& b) {
  return a.arena_bytes <= b.arena_bytes && a.cost() <= b.cost() &&
         (a.arena_bytes < b.arena_bytes || a.cost() < b.cost());
}

// Of equal ones that which was asked for, or else the first.
void mark_pareto(std::vector<Variant>& variants) {
  for (size_t i = 0; i < variants.size(); ++i) {
    Variant& v = variants[i];
    v.pareto = v.cost() > 0;
    for (size_t other = 0; other < variants.size() && v.pareto; ++other) {
      const Variant& o = variants[other];
      if (o.cost() == 0) continue;
      const bool equal = o.arena_bytes == v.arena_bytes && o.cost() == v.cost();
      v.pareto = !is_better(o, v) && !(equal && !v.chosen && (o.chosen || other < i));
    }
  }
}

bool only_level_differs(const VariantOptions& a, const VariantOptions& b) {
  return distance(a, b) == (a.level != b.level ? 1 : 0);
}

std::string option_of_change(VariantOptions from, VariantOptions to) {
  CompileOptions before, after;
  static_cast<VariantOptions&>(before) = from;
  static_cast<VariantOptions&>(after) = to;
  if (to.stream.mode != plan::Stream::kAuto) before.stream.most = after.stream.most;
  return joined(options::differences(variant_group(before), variant_group(after)), " ");
}

struct Change {
  const char* what;
  int64_t from, to;
  bool bytes;

  int64_t difference() const { return to - from; }
  double percent() const { return from == 0 ? 0 : 100.0 * static_cast<double>(to - from) / static_cast<double>(from); }
  // One percent, and no rounding of placements.
  bool counts() const { return std::abs(percent()) >= 1.0 && (!bytes || std::abs(difference()) >= 16); }
  std::string text() const {
    const char* direction = difference() < 0 ? "less" : "more";
    if (bytes)
      return fmt::format("{} bytes {} {} ({:.1f} %)", with_commas(std::abs(difference())), direction, what,
                         std::abs(percent()));
    return fmt::format("{:.1f} % {} {}", std::abs(percent()), difference() < 0 ? "fewer" : "more", what);
  }
};

std::vector<Change> changes(const Variant& a, const Variant& b) {
  std::vector<Change> out = {{"arena", a.arena_bytes, b.arena_bytes, true},
                             {"constants", a.constants_bytes, b.constants_bytes, true}};
  if (a.code_bytes && b.code_bytes) out.push_back({"code", *a.code_bytes, *b.code_bytes, true});
  if (a.cycles > 0 && b.cycles > 0) out.push_back({"cycles by the estimate", a.cycles, b.cycles, false});
  else if (a.instructions > 0 && b.instructions > 0)
    out.push_back({"instructions by the estimate", a.instructions, b.instructions, false});
  return out;
}

}  // namespace

std::optional<int64_t> measured_code_of(const Compiled& compiled, KnownSizes& known) {
  auto [found, is_new] = known.try_emplace(compiled.c.files.at(compiled.prefix + ".c"));
  if (is_new) found->second = code_of(compiled);
  return found->second;
}

std::vector<VariantOptions> proposed_variants(const VariantOptions& present) {
  std::vector<VariantOptions> out;
  for (const ops::Goal& goal : ops::goals_from(present)) {
    out.push_back(present);
    static_cast<ops::Goal&>(out.back()) = goal;
  }
  for (plan::Stream mode : {plan::Stream::kOff, plan::Stream::kAuto, plan::Stream::kMax}) {
    if (mode == present.stream.mode) continue;
    out.push_back(present);
    out.back().stream = {mode};
  }
  return out;
}

std::vector<VariantOptions> variants_by_rows(const VariantOptions& max, const std::vector<plan::StreamTried>& tried) {
  std::vector<VariantOptions> out;
  for (int percent : percents_between(tried)) {
    out.push_back(max);
    out.back().stream = {plan::Stream::kAuto, percent};
  }
  return out;
}

std::vector<VariantOptions> neighbours_of(const VariantOptions& present) {
  std::vector<VariantOptions> out;
  for (const VariantOptions& v : proposed_variants(present))
    if (distance(v, present) == 1) out.push_back(v);
  return out;
}

std::vector<Variant> variants_of(const CompileOptions& options, const Compiled& compiled, bool measure_code,
                                 bool others) {
  std::vector<Variant> out;
  KnownSizes known;
  KnownSizes* sizes = measure_code ? &known : nullptr;
  search<Variant>({{[&] { return variants_to_try(options); }},
                   {[&] { return others ? with_rows_to_try(out) : std::vector<Variant>(); }}},
                  [&](Variant v) {
                    if (v.chosen) measure(compiled, sizes, v);
                    else if (!others || !compile_and_measure(options, sizes, v)) return false;
                    out.push_back(std::move(v));
                    return true;
                  });
  mark_pareto(out);
  return out;
}

nlohmann::ordered_json levels_json(const std::vector<Variant>& variants) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  const auto chosen = std::find_if(variants.begin(), variants.end(), [](const Variant& v) { return v.chosen; });
  for (const Variant& v : variants) {
    if (chosen == variants.end() || !only_level_differs(v, *chosen)) continue;
    nlohmann::ordered_json j = {{"level", name_of(v.level)},
                                {"arena_bytes", v.arena_bytes},
                                {"constants_bytes", v.constants_bytes},
                                {"functions", v.functions}};
    if (v.code_bytes) j["code_bytes"] = *v.code_bytes;
    out.push_back(j);
  }
  return out;
}

nlohmann::ordered_json variants_json(const std::vector<Variant>& variants) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Variant& v : variants) {
    nlohmann::ordered_json j = {{"options", v.options()}};
    j.update(variant_json(v));
    j.update({{"chosen", v.chosen},
              {"pareto", v.pareto},
              {"arena_bytes", v.arena_bytes},
              {"constants_bytes", v.constants_bytes},
              {"functions", v.functions}});
    if (v.instructions > 0) j["estimated_instructions"] = v.instructions;
    if (v.cycles > 0) j["estimated_cycles"] = v.cycles;
    if (v.code_bytes) j["code_bytes"] = *v.code_bytes;
    out.push_back(j);
  }
  return out;
}

std::string levels_text(const std::vector<Variant>& variants) {
  std::vector<std::vector<std::string>> rows = {{"level", "arena", "constants", "functions", "code"}};
  const auto chosen = std::find_if(variants.begin(), variants.end(), [](const Variant& v) { return v.chosen; });
  for (const Variant& v : variants)
    if (chosen != variants.end() && only_level_differs(v, *chosen))
      rows.push_back({std::string("-O ") + name_of(v.level) + (v.chosen ? " *" : ""), with_commas(v.arena_bytes),
                      with_commas(v.constants_bytes), with_commas(v.functions),
                      v.code_bytes ? with_commas(*v.code_bytes) : ""});
  return format_table(rows);
}

namespace {

// From the smallest arena on, and among them what was asked for.
std::vector<const Variant*> pareto_of(const std::vector<Variant>& variants) {
  std::vector<const Variant*> out;
  for (const Variant& v : variants)
    if (v.pareto || (v.chosen && v.cost() > 0)) out.push_back(&v);
  std::sort(out.begin(), out.end(), [](const Variant* a, const Variant* b) {
    return std::pair(a->arena_bytes, a->cost()) < std::pair(b->arena_bytes, b->cost());
  });
  return out;
}

// What is better than something else, and nothing than it.
const Variant* better_than(const Variant& v, const std::vector<const Variant*>& points) {
  for (const Variant* p : points)
    if (p->pareto && is_better(*p, v)) return p;
  return nullptr;
}

}  // namespace

nlohmann::ordered_json pareto_json(const std::vector<Variant>& variants) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  const std::vector<const Variant*> points = pareto_of(variants);
  for (const Variant* v : points) {
    nlohmann::ordered_json j = {{"options", v->options()},
                                {"chosen", v->chosen},
                                {"arena_bytes", v->arena_bytes},
                                {"estimated_instructions", v->instructions}};
    if (v->cycles > 0) j["estimated_cycles"] = v->cycles;
    if (const Variant* other = better_than(*v, points)) j["instead"] = other->options();
    out.push_back(j);
  }
  return out;
}

std::string pareto_text(const std::vector<Variant>& variants) {
  const std::vector<const Variant*> points = pareto_of(variants);
  if (points.empty()) return "";
  std::vector<std::vector<std::string>> rows = {{"best trade-offs between RAM and speed", "arena",
                                                 points[0]->cycles > 0 ? "cycles, est." : "instructions, est.", ""}};
  for (const Variant* v : points) {
    const Variant* other = better_than(*v, points);
    rows.push_back({v->options() + (v->chosen ? " *" : ""), with_commas(v->arena_bytes), with_commas(v->cost()),
                    other ? "better: " + other->options() : ""});
  }
  return format_table(rows);
}

nlohmann::ordered_json next_steps_json(const std::vector<Variant>& variants) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  const auto chosen = std::find_if(variants.begin(), variants.end(), [](const Variant& v) { return v.chosen; });
  if (chosen == variants.end()) return out;
  for (const Variant& v : variants) {
    if (distance(v, *chosen) != 1) continue;
    std::string better, worse;
    for (const Change& c : changes(*chosen, v)) {
      if (!c.counts()) continue;
      std::string& list = c.difference() < 0 ? better : worse;
      list += (list.empty() ? "" : ", ") + c.text();
    }
    if (better.empty()) continue;
    const std::string option = option_of_change(*chosen, v);
    nlohmann::ordered_json j = {{"option", option},
                                {"text", better + (worse.empty() ? "" : "; but " + worse)},
                                {"arena_bytes", v.arena_bytes - chosen->arena_bytes},
                                {"constants_bytes", v.constants_bytes - chosen->constants_bytes}};
    if (v.code_bytes && chosen->code_bytes) j["code_bytes"] = *v.code_bytes - *chosen->code_bytes;
    if (v.instructions > 0 && chosen->instructions > 0)
      j["estimated_instructions"] = v.instructions - chosen->instructions;
    if (v.cycles > 0 && chosen->cycles > 0) j["estimated_cycles"] = v.cycles - chosen->cycles;
    out.push_back(j);
  }
  return out;
}

}  // namespace aotc::driver
