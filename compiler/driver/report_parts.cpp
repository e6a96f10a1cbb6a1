// SPDX-License-Identifier: Apache-2.0
// Parts of a report: who reads what, tables, the arena's peak, the emitted C.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "driver/estimate.h"
#include "driver/report.h"
#include "support/json.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

int64_t number(const ReportJson& object, const char* key) { return object.value(key, int64_t{0}); }

// Which call, or which input, a tensor comes from.
class Flow {
 public:
  explicit Flow(const plan::Program& program) : p_(program) {
    for (size_t i = 0; i < p_.graph.inputs.size(); ++i) made_[p_.graph.inputs[i].tensor] = {{"input", i}};
    for (size_t i = 0; i < p_.graph.states.size(); ++i) made_[p_.graph.states[i].before] = {{"state", i}};
    std::map<int, int> call_of_op;
    for (size_t c = 0; c < p_.calls.size(); ++c) {
      if (p_.calls[c].op_index >= 0) call_of_op[p_.calls[c].op_index] = static_cast<int>(c);
      for (graph::TensorId id : p_.calls[c].results) made_[id] = {{"call", c}};
      for (graph::TensorId id : p_.calls[c].rows) inside_.insert(id), made_[id] = {{"call", c}};
    }
    // What has no call is a view of its operand, or joins operands that are computed where they belong.
    for (size_t o = 0; o < p_.graph.ops.size(); ++o) {
      const graph::Op& op = p_.graph.ops[o];
      if (!op.results.empty()) ops_of_[op.results[0]].push_back(o);
      if (call_of_op.contains(static_cast<int>(o)) || op.operands.empty()) continue;
      for (graph::TensorId id : op.results)
        if (!made_.contains(id)) views_[id] = op.operands;
    }
  }

  // Each source once, in the order of operands.
  ReportJson operands(const plan::ProgramCall& call) const {
    ReportJson out = ReportJson::array();
    auto add = [&](graph::TensorId id) {
      if (id.valid() && !inside_.contains(id)) add_sources(id, 0, out);
    };
    if (call.op_index < 0) return out;
    if (call.by_rows) add(call.rows_of);
    for (size_t op : ops_of(call))
      for (graph::TensorId id : p_.graph.ops[op].operands) add(id);
    return out;
  }

  // Of an output: a view of one source.
  ReportJson source(graph::TensorId id) const {
    ReportJson out = ReportJson::array();
    add_sources(id, 0, out);
    return out.empty() ? nullptr : out[0];
  }

 private:
  std::set<size_t> ops_of(const plan::ProgramCall& call) const {
    std::set<size_t> out = {static_cast<size_t>(call.op_index)};
    for (graph::TensorId id : call.rows)
      if (auto it = ops_of_.find(id); it != ops_of_.end()) out.insert(it->second.begin(), it->second.end());
    return out;
  }

  void add_sources(graph::TensorId id, size_t depth, ReportJson& out) const {
    if (auto it = made_.find(id); it != made_.end()) {
      if (std::find(out.begin(), out.end(), it->second) == out.end()) out.push_back(it->second);
      return;
    }
    auto view = views_.find(id);
    if (view == views_.end() || depth > views_.size()) return;
    for (graph::TensorId operand : view->second)
      if (operand.valid()) add_sources(operand, depth + 1, out);
  }

  const plan::Program& p_;
  std::map<graph::TensorId, ReportJson> made_;
  std::map<graph::TensorId, std::vector<graph::TensorId>> views_;
  std::map<graph::TensorId, std::vector<size_t>> ops_of_;  // by result 0
  std::set<graph::TensorId> inside_;
};

// Of all tables that a call reads.
std::string checksum_of(const plan::Program& p, const plan::ProgramCall& call) {
  std::string bytes;
  for (const plan::CallArgument& a : call.arguments)
    if (a.storage.kind == plan::StorageKind::kConstant) {
      const auto& table = p.constants[static_cast<size_t>(a.storage.index)].data.bytes;
      bytes.append(reinterpret_cast<const char*>(table.data()), table.size());
    }
  return fmt::format("{:016x}", stable_hash(bytes));
}

// An entry of "memory".
struct MemoryEntry {
  int64_t first = 0, last = 0;  // calls
  int64_t offset = 0, bytes = 0;
  std::string pool;

  int64_t end() const { return offset + bytes; }
};

std::vector<MemoryEntry> places_of(const ReportJson& memory) {
  std::vector<MemoryEntry> out;
  for (const ReportJson& entry : memory)
    out.push_back({number(entry, "first_call"), number(entry, "last_call"), number(entry, "offset"),
                   number(entry, "bytes"), entry.value("pool", "")});
  return out;
}

bool shares_bytes(const MemoryEntry& a, const MemoryEntry& b) {
  return a.offset < b.end() && b.offset < a.end() && a.pool == b.pool;
}

// Entries of "memory" are in the order of their first calls: those that end before the next begins are done.
ReportJson overlaps(const std::vector<MemoryEntry>& memory) {
  ReportJson out = ReportJson::array();
  std::vector<size_t> alive;
  for (size_t i = 0; i < memory.size(); ++i) {
    const int64_t first = memory[i].first;
    std::erase_if(alive, [&](size_t a) { return memory[a].last < first; });
    for (size_t a : alive) {
      if (!shares_bytes(memory[a], memory[i])) continue;
      const int64_t begin = std::max(memory[a].offset, memory[i].offset);
      const int64_t end = std::min(memory[a].end(), memory[i].end());
      out.push_back({{"under", a}, {"over", i}, {"call", first}, {"bytes", end - begin}});
    }
    alive.push_back(i);
  }
  return out;
}

std::string what_is(const ReportJson& entry, int64_t call) {
  const std::string bytes = with_commas(number(entry, "bytes"));
  if (!entry.contains("tensor")) return "scratch " + bytes;
  if (number(entry, "first_call") < 0) return "input " + bytes;
  if (number(entry, "first_call") == call) return "result " + bytes;
  return fmt::format("result of call {} {}", number(entry, "first_call"), bytes);
}

// Entries of "memory" that are alive, by call.
std::vector<std::vector<size_t>> alive_by_call(const std::vector<MemoryEntry>& memory, size_t calls) {
  std::vector<std::vector<size_t>> out(calls);
  for (size_t i = 0; i < memory.size(); ++i)
    for (int64_t c = std::max<int64_t>(memory[i].first, 0); c <= memory[i].last && c < static_cast<int64_t>(calls); ++c)
      out[static_cast<size_t>(c)].push_back(i);
  return out;
}

// Bytes that some of the entries have: what they share counts once.
int64_t used_bytes(const std::vector<MemoryEntry>& memory, std::vector<size_t> entries) {
  std::sort(entries.begin(), entries.end(), [&](size_t a, size_t b) {
    return std::tie(memory[a].pool, memory[a].offset) < std::tie(memory[b].pool, memory[b].offset);
  });
  int64_t sum = 0, end = 0;
  std::string pool;
  for (size_t i : entries) {
    if (memory[i].pool != pool) pool = memory[i].pool, end = 0;
    sum += std::max<int64_t>(0, memory[i].end() - std::max(end, memory[i].offset));
    end = std::max(end, memory[i].end());
  }
  return sum;
}

// What every call takes by the core's documents, if there are some.
void add_cycles_of_calls(const Compiled& c, ReportJson& report) {
  const CycleEstimate& estimate = estimated_cycles(c);
  for (size_t i = 0; i < estimate.calls.size(); ++i)
    if (estimate.calls[i] > 0) report["layers"][i]["estimated_cycles"] = estimate.calls[i];
}

}  // namespace

void add_flow(const Compiled& c, ReportJson& report) {
  const plan::Program& p = c.program;
  const Flow flow(p);
  const InstructionEstimate instructions = estimated_instructions(c);
  for (size_t i = 0; i < p.calls.size(); ++i) {
    ReportJson& layer = report["layers"][i];
    layer["operands"] = flow.operands(p.calls[i]);
    if (instructions.calls[i] > 0) layer["estimated_instructions"] = instructions.calls[i];
    layer["constants_checksum"] = checksum_of(p, p.calls[i]);
  }
  if (instructions.total > 0) report["estimated_instructions"] = instructions.total;
  add_cycles_of_calls(c, report);
  report["cost_model"] = c.plan_options.target.name;
  for (size_t i = 0; i < p.graph.outputs.size(); ++i)
    if (ReportJson from = flow.source(p.graph.outputs[i].tensor); !from.is_null()) report["outputs"][i]["from"] = from;
}

ReportJson constants_json(const Compiled& c) {
  std::vector<std::set<int>> readers(c.program.constants.size());
  for (size_t i = 0; i < c.program.calls.size(); ++i)
    for (const plan::CallArgument& a : c.program.calls[i].arguments)
      if (a.storage.kind == plan::StorageKind::kConstant)
        readers[static_cast<size_t>(a.storage.index)].insert(static_cast<int>(i));
  ReportJson out = ReportJson::array();
  for (size_t i = 0; i < readers.size(); ++i)
    out.push_back({{"name", c.c.constant_names[i]},
                   {"kind", c.program.constants[i].name},
                   {"bytes", c.program.constants[i].data.bytes.size()},
                   {"calls", readers[i]}});
  return out;
}

namespace {

// Calls stand one behind the other, as places in time do.
bool is_straight(const std::vector<plan::ProgramStep>& steps) {
  return std::all_of(steps.begin(), steps.end(), [](const plan::ProgramStep& s) {
    return s.kind != plan::ProgramStep::Kind::kBranch && s.kind != plan::ProgramStep::Kind::kLoop;
  });
}

}  // namespace

void add_arena(const Compiled& c, ReportJson& report) {
  if (!report.contains("memory") || c.program.calls.empty() || !is_straight(c.program.body)) return;
  const ReportJson memory = report["memory"];  // of its own: what is added moves the members
  const std::vector<MemoryEntry> places = places_of(memory);
  const std::vector<std::vector<size_t>> alive_at = alive_by_call(places, c.program.calls.size());
  report["overlaps"] = overlaps(places);
  int64_t most = -1, peak = 0;
  for (size_t i = 0; i < c.program.calls.size(); ++i) {
    const int64_t used = used_bytes(places, alive_at[i]);
    report["layers"][i]["arena_used_bytes"] = used;
    if (used > most) most = used, peak = static_cast<int64_t>(i);
  }
  const std::vector<size_t>& alive = alive_at[static_cast<size_t>(peak)];
  std::string text;
  int64_t sum = 0;
  for (size_t i : alive) {
    sum += number(memory[i], "bytes");
    text += (text.empty() ? "" : " + ") + what_is(memory[i], peak);
  }
  text =
      fmt::format("call {} {}: {}", peak, report["layers"][static_cast<size_t>(peak)].value("op_type", "copy"), text);
  if (alive.size() > 1) text += " = " + with_commas(sum);
  text += " bytes";
  if (sum > most)
    text += fmt::format(", but {} of them share memory, so {} are in use", with_commas(sum - most), with_commas(most));
  report["peak"] = {{"call", peak}, {"used_bytes", most}, {"memory", alive}, {"text", text}};
}

ReportJson source_json(const Compiled& c) {
  const std::string name = c.prefix + ".c";
  const auto text = c.c.files.find(name);
  const auto map = c.c.files.find(c.prefix + ".map.json");
  if (text == c.c.files.end() || map == c.c.files.end()) return nullptr;
  ReportJson lines;
  if (parse_json(map->second, lines)) return nullptr;
  ReportJson calls = ReportJson::array();
  for (const ReportJson& call : lines["calls"]) calls.push_back({{"call", call["call"]}, {"line", call["line"]}});
  return {{"file", name}, {"functions", lines["functions"]}, {"calls", calls}, {"text", text->second}};
}

}  // namespace aotc::driver
