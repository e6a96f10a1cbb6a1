#include "codegen/c_run.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "support/text.h"

namespace aotc::codegen {

namespace {

using plan::Program;
using plan::ProgramCall;
using plan::Storage;
using plan::StorageKind;

constexpr int64_t kWorkspaceAlignment = 16;

struct Lifetime {
  int first = INT32_MAX, last = -1;
  int64_t bytes = 0;
};

// Lifetimes of the arena's tensor classes, by class.
std::map<int, Lifetime> class_lifetimes(const Program& program) {
  std::map<int, Lifetime> out;
  for (size_t c = 0; c < program.calls.size(); ++c) {
    const ProgramCall& call = program.calls[c];
    const auto& params = program.functions[static_cast<size_t>(call.function)].body->params;
    for (size_t a = 0; a < call.arguments.size(); ++a) {
      const Storage& s = call.arguments[a].storage;
      if (s.kind != StorageKind::kArena || s.index < 0) continue;
      Lifetime& l = out[s.index];
      l.first = std::min(l.first, static_cast<int>(c));
      l.last = std::max(l.last, static_cast<int>(c));
      l.bytes = std::max(l.bytes, call.arguments[a].elements * size_of(params[a]->dtype));
    }
  }
  return out;
}

// A tensor class or the scratch of a call, from its first to its last call.
struct Need {
  int64_t bytes = 0;
  int first = 0, last = 0;
  WorkspaceOccupant occupant;
};

std::vector<Need> needs_of(const Program& program) {
  std::vector<Need> out;
  for (const auto& [index, l] : class_lifetimes(program))
    out.push_back({l.bytes, l.first, l.last, {index, -1}});
  for (size_t c = 0; c < program.calls.size(); ++c) {
    auto call = static_cast<int>(c);
    if (program.calls[c].scratch_bytes > 0)
      out.push_back({program.calls[c].scratch_bytes, call, call, {-1, call}});
  }
  // What lives longest lies deepest in the stack.
  std::stable_sort(out.begin(), out.end(), [](const Need& a, const Need& b) {
    return a.first != b.first ? a.first < b.first : a.last > b.last;
  });
  return out;
}

// The stack allocator of crt/ keeps a footer of four bytes behind each block.
int64_t block_cost(int64_t bytes) {
  return (std::max<int64_t>(bytes, 1) + 4 + kWorkspaceAlignment - 1) / kWorkspaceAlignment *
         kWorkspaceAlignment;
}

int64_t peak_of(const std::vector<WorkspaceBlock>& blocks, size_t calls) {
  std::vector<const WorkspaceBlock*> open;
  int64_t now = 0, most = 0;
  size_t next = 0;
  for (size_t c = 0; c < calls; ++c) {
    for (; next < blocks.size() && blocks[next].first == static_cast<int>(c); ++next) {
      open.push_back(&blocks[next]);
      now += block_cost(blocks[next].bytes);
    }
    most = std::max(most, now);
    for (; !open.empty() && open.back()->last <= static_cast<int>(c); open.pop_back())
      now -= block_cost(open.back()->bytes);
  }
  return most;
}

// One way to share blocks. A tensor takes over a block that is dead but buried under live ones: the
// smallest that is large enough, or, with `grow`, else the largest, allocated larger to begin with.
std::vector<WorkspaceBlock> share_blocks(const std::vector<Need>& needs, size_t calls, bool grow) {
  std::vector<WorkspaceBlock> blocks;
  std::vector<size_t> open;
  size_t next = 0;
  for (size_t c = 0; c < calls; ++c) {
    auto call = static_cast<int>(c);
    for (; next < needs.size() && needs[next].first == call; ++next) {
      const Need& need = needs[next];
      WorkspaceBlock* chosen = nullptr;
      for (size_t b : open) {
        WorkspaceBlock& block = blocks[b];
        if (block.last >= call) continue;
        bool fits = block.bytes >= need.bytes, better = chosen == nullptr;
        if (!fits && !grow) continue;
        if (chosen != nullptr) {
          bool chosen_fits = chosen->bytes >= need.bytes;
          better = fits != chosen_fits ? fits : fits == (block.bytes < chosen->bytes);
        }
        if (better) chosen = &block;
      }
      if (chosen == nullptr) {
        open.push_back(blocks.size());
        chosen = &blocks.emplace_back();
        chosen->first = call;
      }
      chosen->bytes = std::max(chosen->bytes, need.bytes);
      chosen->last = need.last;
      chosen->occupants.push_back(need.occupant);
    }
    while (!open.empty() && blocks[open.back()].last <= call) open.pop_back();
  }
  return blocks;
}

}  // namespace

std::vector<WorkspaceBlock> workspace_blocks(const Program& program) {
  std::vector<Need> needs = needs_of(program);
  size_t calls = program.calls.size();
  auto as_is = share_blocks(needs, calls, false), grown = share_blocks(needs, calls, true);
  return peak_of(grown, calls) < peak_of(as_is, calls) ? grown : as_is;
}

int64_t workspace_bytes(const Program& program) {
  return peak_of(workspace_blocks(program), program.calls.size());
}

bool has_own_arena(const Program& program, const CodegenOptions& options) {
  return options.arena == ArenaOwner::kModel && options.memory == MemoryMode::kStatic &&
         program.arena_bytes > 0;
}

std::vector<graph::Port> struct_ports(const std::vector<graph::Port>& ports,
                                      plan::Contract contract) {
  return contract == plan::Contract::kPreserve ? ports : std::vector<graph::Port>();
}

RunPrinter::RunPrinter(const Program& program, const CodegenOptions& options,
                       const ModelFiles& names)
    : program_(program),
      options_(options),
      names_(names),
      p_(options.prefix),
      up_(upper(options.prefix)),
      workspace_(options.memory == MemoryMode::kWorkspace) {
  if (workspace_) blocks_ = workspace_blocks(program);
}

void RunPrinter::line(const std::string& text) {
  text_ += text + "\n";
  ++lines_;
}

std::string RunPrinter::print(int lines_before, nlohmann::ordered_json& calls) {
  lines_ = lines_before;
  bool own_arena = has_own_arena(program_, options_);
  line(
      fmt::format("int32_t {0}_run(const struct {0}_inputs *inputs, const struct {0}_outputs "
                  "*outputs, void *arena)",
                  p_));
  line("{");
  bool uses_arena = !workspace_ && program_.arena_bytes > 0;
  if (uses_arena)
    line(own_arena ? fmt::format(
                         "    uint8_t *const a = arena != NULL ? (uint8_t *)arena : {}_arena;", p_)
                   : "    uint8_t *const a = (uint8_t *)arena;");
  if (!uses_arena) line("    (void)arena;");
  line("    int32_t status = 0;");
  if (workspace_)
    for (size_t b = 0; b < blocks_.size(); ++b) line(fmt::format("    void *w{} = NULL;", b));
  line("");
  check_arguments();
  for (size_t c = 0; c < program_.calls.size(); ++c) print_call(c, calls);
  if (workspace_ && !blocks_.empty()) {
    // The label also serves the run that succeeded: nothing is open then.
    line("");
    line("done:");
    for (size_t b = blocks_.size(); b-- > 0;)
      line(fmt::format(
          "    if (w{0} != NULL && TVMBackendFreeWorkspace(1, 0, w{0}) != 0 && status == "
          "0) {{ status = {1}_ERROR_WORKSPACE; }}",
          b, up_));
    line("    return status;");
  } else {
    line("");
    line("    return status;");
  }
  line("}");
  return std::move(text_);
}

void RunPrinter::check_arguments() {
  std::string condition;
  auto add_if = [&](bool wanted, const std::string& c) {
    if (wanted) condition += (condition.empty() ? "" : " || ") + c;
  };
  bool no_inputs = struct_ports(program_.graph.inputs, program_.input_contract).empty();
  bool no_outputs = struct_ports(program_.graph.outputs, program_.output_contract).empty();
  add_if(!no_inputs, "inputs == NULL");
  add_if(!no_outputs, "outputs == NULL");
  if (no_inputs) line("    (void)inputs;");
  if (no_outputs) line("    (void)outputs;");
  bool arena = !workspace_ && program_.arena_bytes > 0;
  add_if(arena, "a == NULL");
  add_if(arena, fmt::format("((uintptr_t)a & ({}_ARENA_ALIGN - 1u)) != 0", up_));
  if (condition.empty()) return;
  line(fmt::format("    if ({}) {{", condition));
  line(fmt::format("        return {}_ERROR_ARGUMENT;", up_));
  line("    }");
}

void RunPrinter::open_blocks(size_t call) {
  for (size_t b = 0; b < blocks_.size(); ++b) {
    if (blocks_[b].first != static_cast<int>(call)) continue;
    line(fmt::format("    w{} = TVMBackendAllocWorkspace(1, 0, {}u, 2, 8);", b,
                     std::max<int64_t>(blocks_[b].bytes, 1)));
    line(fmt::format("    if (w{} == NULL) {{", b));
    line(fmt::format("        status = {}_ERROR_WORKSPACE;", up_));
    line("        goto done;");
    line("    }");
    open_.push_back(b);
  }
}

void RunPrinter::close_blocks(size_t call) {
  while (!open_.empty() && blocks_[open_.back()].last <= static_cast<int>(call)) {
    size_t b = open_.back();
    open_.pop_back();
    line(fmt::format("    if (TVMBackendFreeWorkspace(1, 0, w{}) != 0) {{", b));
    line(fmt::format("        status = {}_ERROR_WORKSPACE;", up_));
    line(fmt::format("        w{} = NULL;", b));
    line("        goto done;");
    line("    }");
    line(fmt::format("    w{} = NULL;", b));
  }
}

void RunPrinter::print_call(size_t index, nlohmann::ordered_json& calls) {
  const ProgramCall& call = program_.calls[index];
  line("");
  std::string shape;
  if (!call.results.empty()) shape = ": " + describe(program_.graph[call.results[0]].type);
  line(fmt::format("    /* call {}: {}{} */", index, call_title(program_, call), shape));
  if (workspace_) open_blocks(index);
  nlohmann::ordered_json entry;
  entry["call"] = index;
  entry["line"] = lines_ + 1;
  entry["function"] = names_.function_names[static_cast<size_t>(call.function)];
  if (call.op_index >= 0) {
    const graph::Op& op = program_.graph.ops[static_cast<size_t>(call.op_index)];
    entry["op_index"] = op.location.op_index;
    // What --schedules takes: this file can be edited and given back.
    if (!call.schedule.algorithm.empty()) {
      entry["schedule"]["algorithm"] = call.schedule.algorithm;
      for (const auto& [name, value] : call.schedule.numbers) entry["schedule"][name] = value;
    }
    entry["op_type"] = op.location.op_type;
    entry["tensor"] = escape_for_display(program_.graph[op.results[0]].name);
  }
  calls.push_back(entry);
  std::string head =
      fmt::format("    status = {}(", names_.function_names[static_cast<size_t>(call.function)]);
  std::string text = head;
  std::string pad(head.size(), ' ');
  for (size_t a = 0; a < call.arguments.size(); ++a) {
    std::string arg = argument(index, a) + (a + 1 < call.arguments.size() ? "," : "");
    if (text.size() > pad.size() && text.size() + arg.size() + 1 > 100) {
      line(text);
      text = pad + arg;
    } else {
      text += (a > 0 ? " " : "") + arg;
    }
  }
  line(text + ");");
  line("    if (status != 0) {");
  line(workspace_ && !blocks_.empty() ? "        goto done;" : "        return status;");
  line("    }");
  print_trace(index);
  if (workspace_) close_blocks(index);
}

void RunPrinter::print_trace(size_t index) {
  const ProgramCall& call = program_.calls[index];
  line(fmt::format("#ifdef {}_TRACE", up_));
  for (size_t r = 0; r < call.results.size(); ++r)
    line(fmt::format("    {}_trace({}, {}, {}, {}u);", p_, index, r,
                     result_pointer(index, call.results[r]),
                     program_.graph[call.results[r]].type.bytes()));
  if (call.results.empty()) {
    const plan::CallArgument& copy = call.arguments.back();
    line(fmt::format("    {}_trace({}, 0, {}, {}u);", p_, index,
                     argument(index, call.arguments.size() - 1),
                     copy.elements * size_of(copy.dtype)));
  }
  line("#endif");
}

std::string RunPrinter::argument(size_t call, size_t argument) const {
  const Storage& s = program_.calls[call].arguments[argument].storage;
  if (workspace_ && s.kind == StorageKind::kArena) {
    WorkspaceOccupant wanted{s.index, s.index < 0 ? static_cast<int>(call) : -1};
    for (size_t b = 0; b < blocks_.size(); ++b)
      if (std::find(blocks_[b].occupants.begin(), blocks_[b].occupants.end(), wanted) !=
          blocks_[b].occupants.end())
        return fmt::format("w{}", b);
  }
  return pointer(s, fmt::format("(void *)(a + {})", s.offset));
}

std::string RunPrinter::pointer(const Storage& s, const std::string& arena_pointer) const {
  auto index = static_cast<size_t>(s.index);
  switch (s.kind) {
    case StorageKind::kArena:
      return arena_pointer;
    case StorageKind::kInput:
      return "inputs->" + names_.input_fields[index];
    case StorageKind::kOutput:
      return "outputs->" + names_.output_fields[index];
    case StorageKind::kConstant:
      return names_.constant_names[index];
    case StorageKind::kNone:
      break;
  }
  return "NULL";
}

std::string RunPrinter::result_pointer(size_t call, graph::TensorId id) const {
  const Storage& wanted = program_.tensors[static_cast<size_t>(id.value)];
  for (size_t a = 0; a < program_.calls[call].arguments.size(); ++a)
    if (program_.calls[call].arguments[a].storage == wanted) return argument(call, a);
  return pointer(wanted, "NULL");
}

}  // namespace aotc::codegen
