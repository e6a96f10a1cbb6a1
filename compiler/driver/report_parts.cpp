// SPDX-License-Identifier: Apache-2.0
// Parts of a report: who reads what, tables, the arena's peak, the emitted C.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "driver/cycle_estimate.h"
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
    for (size_t i = 0; i < p_.graph.inputs.size(); ++i)
      made_[p_.graph.inputs[i].tensor] = {{"input", i}};
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
    for (const graph::Op& op : p_.graph.ops)
      if (is_of(op, call))
        for (graph::TensorId id : op.operands) add(id);
    return out;
  }

  // Of an output: a view of one source.
  ReportJson source(graph::TensorId id) const {
    ReportJson out = ReportJson::array();
    add_sources(id, 0, out);
    return out.empty() ? nullptr : out[0];
  }

 private:
  bool is_of(const graph::Op& op, const plan::ProgramCall& call) const {
    if (&op == &p_.graph.ops[static_cast<size_t>(call.op_index)]) return true;
    return !op.results.empty() && std::find(call.rows.begin(), call.rows.end(), op.results[0]) != call.rows.end();
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

bool shares_bytes(const ReportJson& a, const ReportJson& b) {
  return number(a, "offset") < number(b, "offset") + number(b, "bytes") &&
         number(b, "offset") < number(a, "offset") + number(a, "bytes") && a.value("pool", "") == b.value("pool", "");
}

// Entries of "memory" are in the order of their first calls: those that end before the next begins are done.
ReportJson overlaps(const ReportJson& memory) {
  ReportJson out = ReportJson::array();
  std::vector<size_t> alive;
  for (size_t i = 0; i < memory.size(); ++i) {
    const int64_t first = number(memory[i], "first_call");
    std::erase_if(alive, [&](size_t a) { return number(memory[a], "last_call") < first; });
    for (size_t a : alive) {
      if (!shares_bytes(memory[a], memory[i])) continue;
      const int64_t begin = std::max(number(memory[a], "offset"), number(memory[i], "offset"));
      const int64_t end = std::min(number(memory[a], "offset") + number(memory[a], "bytes"),
                                   number(memory[i], "offset") + number(memory[i], "bytes"));
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

// Entries of "memory" that are alive at a call.
std::vector<size_t> alive_at(const ReportJson& memory, int64_t call) {
  std::vector<size_t> out;
  for (size_t i = 0; i < memory.size(); ++i)
    if (number(memory[i], "first_call") <= call && call <= number(memory[i], "last_call")) out.push_back(i);
  return out;
}

// Bytes that some of the entries have: what they share counts once.
int64_t used_bytes(const ReportJson& memory, std::vector<size_t> entries) {
  auto begin = [&](size_t i) { return std::pair(memory[i].value("pool", ""), number(memory[i], "offset")); };
  std::sort(entries.begin(), entries.end(), [&](size_t a, size_t b) { return begin(a) < begin(b); });
  int64_t sum = 0, end = 0;
  std::string pool;
  for (size_t i : entries) {
    if (begin(i).first != pool) pool = begin(i).first, end = 0;
    const int64_t to = begin(i).second + number(memory[i], "bytes");
    sum += std::max<int64_t>(0, to - std::max(end, begin(i).second));
    end = std::max(end, to);
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
  report["overlaps"] = overlaps(memory);
  int64_t most = -1, peak = 0;
  for (size_t i = 0; i < c.program.calls.size(); ++i) {
    const int64_t used = used_bytes(memory, alive_at(memory, static_cast<int64_t>(i)));
    report["layers"][i]["arena_used_bytes"] = used;
    if (used > most) most = used, peak = static_cast<int64_t>(i);
  }
  const std::vector<size_t> alive = alive_at(memory, peak);
  std::string text;
  int64_t sum = 0;
  for (size_t i : alive) {
    sum += number(memory[i], "bytes");
    text += (text.empty() ? "" : " + ") + what_is(memory[i], peak);
  }
  text = fmt::format("call {} {}: {}", peak, report["layers"][static_cast<size_t>(peak)].value("op_type", "copy"), text);
  if (alive.size() > 1) text += " = " + with_commas(sum);
  text += " bytes";
  if (sum > most) text += fmt::format(", of which {} share places: {} are in use", with_commas(sum - most), with_commas(most));
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
