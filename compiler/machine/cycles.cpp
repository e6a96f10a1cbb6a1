// SPDX-License-Identifier: Apache-2.0
#include "machine/cycles.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/json.h"
#include "support/text.h"

namespace aotc::machine {

namespace {

std::optional<uint64_t> hex_number(std::string_view& line) {
  while (line.starts_with(' ')) line.remove_prefix(1);
  uint64_t value = 0;
  auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value, 16);
  if (error != std::errc()) return std::nullopt;
  line.remove_prefix(static_cast<size_t>(end - line.data()));
  return value;
}

// "conv.constprop.0" is conv in the emitted C.
std::string source_name(const std::string& name) { return name.substr(0, name.find('.')); }

// Where a jump, call or branch goes, if it says so.
std::optional<uint32_t> branch_target(const Instruction& i) {
  const bool goes = i.op == Op::kJump || i.op == Op::kCall || i.op == Op::kBranch;
  if (!goes || i.reads.empty() || !i.reads.back().is_number()) return std::nullopt;
  return static_cast<uint32_t>(i.reads.back().number);
}

// Lines of flash that an instruction has fetched, where the last one is kept: the one that it ends in, if it did not
// begin there; the next, if that begins behind it; and what a branch goes to.
uint64_t lines_of(const Instruction& i, const Execution& executed) {
  const auto line = [](uint32_t address) { return address / kLineBytes; };
  const uint32_t last = i.next() - 1;
  uint64_t out = line(last) != line(i.address) ? executed.count : 0;
  if (line(i.next()) != line(last)) out += executed.count - std::min(executed.count, executed.taken);
  const std::optional<uint32_t> target = branch_target(i);
  if (!target || line(*target) != line(last)) out += executed.taken;
  return out;
}

class Counting {
 public:
  Counting(const Elf& elf, const Listing& listing, const Timing& timing, const ModelFunctions& model,
           const CoreModel& core)
      : elf_(elf), listing_(listing), timing_(timing), model_(model), core_(core) {}

  CycleReport report(const std::vector<Segment>& segments) {
    out_.calls.resize(model_.calls.size());
    out_.modelled = !core_.name.empty();
    for (const Segment& segment : segments) add(segment);
    for (auto& [name, row] : functions_) out_.functions.push_back(std::move(row));
    std::stable_sort(out_.functions.begin(), out_.functions.end(),
                     [](const CycleRow& a, const CycleRow& b) { return a.sum.cycles > b.sum.cycles; });
    find_loops();
    return std::move(out_);
  }

 private:
  void add(const Segment& segment) {
    CycleSum sum;
    for (const auto& [address, executed] : segment.counts) {
      const Instruction* i = listing_.at(address);
      InstructionCost cost{.cycles = 1};
      if (i == nullptr) out_.unknown += executed.count;
      else cost = cost_of(timing_, *i, listing_.before(address), listing_.at(i->next()));
      CycleSum one;
      one.add(cost, executed);
      if (i != nullptr) one.lines = lines_of(*i, executed);
      one.modelled = modelled_cycles(address) * static_cast<double>(executed.count);
      sum += one;
      of_function(address).sum += one;
      Execution& all = all_[address];
      all.count += executed.count;
      all.taken += executed.taken;
    }
    out_.total += sum;
    if (segment.callee != 0) attribute(segment.callee, sum);
  }

  CycleRow& of_function(uint32_t address) {
    const Symbol* around = elf_.function_around(address);
    const std::string name = around != nullptr ? around->name : fmt::format("{:#x}", address & ~0xffu);
    CycleRow& row = functions_[name];
    if (row.name.empty()) {
      row.name = name;
      auto layers = model_.layers.find(source_name(name));
      if (layers != model_.layers.end()) row.layers = layers->second;
    }
    return row;
  }

  // Calls come in the model's order; those that the compiler inlined are not seen.
  void attribute(uint32_t callee, const CycleSum& sum) {
    const Symbol* function = elf_.function_around(callee);
    if (function == nullptr || !model_.layers.contains(source_name(function->name))) return;
    size_t k = next_call_;
    while (k < model_.functions.size() && model_.functions[k] != source_name(function->name)) ++k;
    if (k >= model_.functions.size()) return;
    out_.calls[k] = CycleRow{function->name, {model_.calls[k]}, sum};
    next_call_ = k + 1;
  }

  void find_loops() {
    std::vector<LoopRow> found;
    for (const auto& [address, executed] : all_) {
      const Instruction* i = executed.taken == 0 ? nullptr : listing_.at(address);
      if (i == nullptr || i->kind == Kind::kCall) continue;
      const std::optional<uint32_t> target = branch_target(*i);
      if (!target || *target > address || elf_.function_around(*target) != elf_.function_around(address)) continue;
      found.push_back({*target, address, executed.taken, {}});
    }
    for (const LoopRow& loop : found) {
      const bool innermost = std::none_of(found.begin(), found.end(), [&](const LoopRow& o) {
        return (o.begin != loop.begin || o.end != loop.end) && o.begin >= loop.begin && o.end <= loop.end;
      });
      if (innermost) out_.loops.push_back(loop);
    }
    for (LoopRow& loop : out_.loops)
      for (auto at = all_.lower_bound(loop.begin); at != all_.end() && at->first <= loop.end; ++at)
        if (const Instruction* i = listing_.at(at->first)) {
          loop.sum.add(cost_of(timing_, *i, listing_.before(at->first), listing_.at(i->next())), at->second);
          loop.sum.lines += lines_of(*i, at->second);
          loop.sum.modelled += modelled_cycles(at->first) * static_cast<double>(at->second.count);
        }
    std::stable_sort(out_.loops.begin(), out_.loops.end(),
                     [](const LoopRow& a, const LoopRow& b) { return a.sum.cycles > b.sum.cycles; });
  }

  double modelled_cycles(uint32_t address) const {
    auto at = core_.cycles.find(address);
    return at == core_.cycles.end() ? 0 : at->second;
  }

  const Elf& elf_;
  const Listing& listing_;
  const Timing& timing_;
  const ModelFunctions& model_;
  const CoreModel& core_;
  size_t next_call_ = 0;
  std::map<std::string, CycleRow> functions_;
  std::map<uint32_t, Execution> all_;
  CycleReport out_;
};

int64_t whole(double cycles) { return std::llround(cycles); }

std::string share(double part, double of) { return fmt::format("{:.1f} %", of > 0 ? 100 * part / of : 0.0); }

nlohmann::ordered_json sum_json(const CycleSum& s, bool modelled) {
  nlohmann::ordered_json out = {{"instructions", s.instructions},
                                {"cycles", whole(s.cycles)},
                                {"load_cycles", whole(s.load)},
                                {"store_cycles", whole(s.store)},
                                {"multiply_cycles", whole(s.multiply)},
                                {"branch_cycles", whole(s.branch)},
                                {"code_lines", s.lines}};
  if (modelled) out["llvm_cycles"] = whole(s.modelled);
  return out;
}

std::string row_text(const CycleSum& s, double total, bool modelled) {
  return fmt::format("{:>13} {:>13} {:>13} {:>5.2f} {:>8}", with_commas(whole(s.cycles)),
                     modelled ? with_commas(whole(s.modelled)) : "-", with_commas(static_cast<int64_t>(s.instructions)),
                     s.instructions > 0 ? s.cycles / static_cast<double>(s.instructions) : 0.0, share(s.cycles, total));
}

std::string function_of(const Elf& elf, uint32_t address) {
  const Symbol* around = elf.function_around(address);
  return around != nullptr ? around->name : elf.function_name(address);
}

nlohmann::ordered_json loops_json(const Elf& elf, const CycleReport& report) {
  auto out = nlohmann::ordered_json::array();
  for (const LoopRow& loop : report.loops) {
    nlohmann::ordered_json row = {{"function", escape_for_display(function_of(elf, loop.begin))},
                                  {"begin", loop.begin},
                                  {"end", loop.end},
                                  {"turns", loop.turns}};
    row.update(sum_json(loop.sum, report.modelled));
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace

void CycleSum::add(const InstructionCost& cost, const Execution& executed) {
  const double spent =
      cost.cycles * static_cast<double>(executed.count) + cost.taken * static_cast<double>(executed.taken);
  instructions += executed.count;
  cycles += spent;
  if (is_load(cost.kind)) load += spent;
  if (is_store(cost.kind)) store += spent;
  if (is_multiply(cost.kind)) multiply += spent;
  if (is_branch(cost.kind)) branch += spent;
}

CycleSum& CycleSum::operator+=(const CycleSum& o) {
  instructions += o.instructions;
  cycles += o.cycles;
  load += o.load;
  store += o.store;
  multiply += o.multiply;
  branch += o.branch;
  lines += o.lines;
  modelled += o.modelled;
  return *this;
}

std::optional<std::vector<Segment>> parse_counts(const std::string& text) {
  std::vector<Segment> out;
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (line == "end") return out;
    if (line == "self" || line.starts_with("call ")) {
      out.emplace_back();
      if (line == "self") continue;
      line.remove_prefix(5);
      const auto callee = hex_number(line);
      if (!callee || *callee > UINT32_MAX) return std::nullopt;
      out.back().callee = static_cast<uint32_t>(*callee);
      continue;
    }
    if (out.empty()) out.emplace_back();
    const auto address = hex_number(line), count = hex_number(line), taken = hex_number(line);
    if (!address || !count || !taken || *address > UINT32_MAX) return std::nullopt;
    out.back().counts[static_cast<uint32_t>(*address)] = {*count, *taken};
  }
  return std::nullopt;
}

CycleReport cycles_of(const Elf& elf, const Listing& listing, const std::vector<Segment>& segments,
                      const Timing& timing, const ModelFunctions& model, const CoreModel& core) {
  return Counting(elf, listing, timing, model, core).report(segments);
}

std::vector<Block> blocks_of(const Listing& listing, const std::vector<Segment>& segments) {
  std::map<uint32_t, Execution> all;
  for (const Segment& segment : segments)
    for (const auto& [address, executed] : segment.counts) {
      all[address].count += executed.count;
      all[address].taken += executed.taken;
    }
  std::vector<Block> out;
  const Instruction* last = nullptr;
  Execution before;
  for (const auto& [address, executed] : all) {
    const Instruction* i = listing.at(address);
    if (i == nullptr) continue;
    // A branch ends it, and what is run more or less often than the one before it begins another.
    const bool goes_on = last != nullptr && last->next() == address && before.taken == 0 &&
                         executed.count == before.count && !is_branch(last->kind);
    if (!goes_on) out.push_back({address, address, 0, false});
    Block& block = out.back();
    block.end = i->next();
    ++block.instructions;
    block.loop = executed.taken > 0 && branch_target(*i) == block.begin;
    last = i;
    before = executed;
  }
  return out;
}

std::string cycles_text(const Elf& elf, const CycleReport& report, size_t most_rows) {
  const CycleSum& t = report.total;
  std::string out = fmt::format(
      "of the cycles: loads {}, stores {}, multiplications {}, branches {}; {} lines of code, {} bytes each\n",
      share(t.load, t.cycles), share(t.store, t.cycles), share(t.multiply, t.cycles), share(t.branch, t.cycles),
      with_commas(static_cast<int64_t>(t.lines)), kLineBytes);
  if (report.unknown > 0)
    out += fmt::format("{} instructions were not disassembled: one cycle is assumed for each\n",
                       with_commas(static_cast<int64_t>(report.unknown)));
  const std::string head =
      fmt::format("{:>13} {:>13} {:>13} {:>5} {:>8}", "cycles", "LLVM", "instructions", "each", "share");
  if (!report.calls.empty()) {
    out += head + "  layer\n";
    for (size_t k = 0; k < report.calls.size(); ++k)
      if (const auto& c = report.calls[k])
        out += fmt::format("{}  {} ({})\n", row_text(c->sum, t.cycles, report.modelled), joined(c->layers, ", "),
                           escape_for_display(c->name, 60));
      else
        out +=
            fmt::format("{:>13} {:>13} {:>13} {:>5} {:>8}  call {}: inlined, or not run\n", "-", "-", "-", "-", "-", k);
  }
  out += head + "  function\n";
  for (size_t i = 0; i < std::min(most_rows, report.functions.size()); ++i)
    out += fmt::format("{}  {}\n", row_text(report.functions[i].sum, t.cycles, report.modelled),
                       escape_for_display(report.functions[i].name, 60));
  if (report.functions.size() > most_rows)
    out += fmt::format("and {} more functions: --all\n", report.functions.size() - most_rows);
  out += head + "  innermost loop\n";
  for (size_t i = 0; i < std::min(most_rows / 2, report.loops.size()); ++i) {
    const LoopRow& loop = report.loops[i];
    out += fmt::format("{}  {} to {:#x}, {} iterations\n", row_text(loop.sum, t.cycles, report.modelled),
                       elf.place(loop.begin), loop.end, with_commas(static_cast<int64_t>(loop.turns)));
  }
  return out;
}

nlohmann::ordered_json cycles_json(const Elf& elf, const CycleReport& report) {
  nlohmann::ordered_json j = sum_json(report.total, report.modelled);
  j["unknown_instructions"] = report.unknown;
  j["layers"] = nlohmann::ordered_json::array();
  for (const auto& call : report.calls) {
    nlohmann::ordered_json row;
    if (call) {
      row = {{"layer", call->layers[0]}, {"function", escape_for_display(call->name)}};
      row.update(sum_json(call->sum, report.modelled));
    }
    j["layers"].push_back(std::move(row));
  }
  j["functions"] = nlohmann::ordered_json::array();
  for (const CycleRow& f : report.functions) {
    nlohmann::ordered_json row = {{"name", escape_for_display(f.name)}};
    if (!f.layers.empty()) row["layers"] = f.layers;
    row.update(sum_json(f.sum, report.modelled));
    j["functions"].push_back(std::move(row));
  }
  j["loops"] = loops_json(elf, report);
  return j;
}

}  // namespace aotc::machine
