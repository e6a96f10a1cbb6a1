// SPDX-License-Identifier: Apache-2.0
#include "driver/fit.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/compile_options.h"
#include "driver/estimate.h"
#include "driver/terminal.h"
#include "options/options.h"
#include "support/search.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

using project::Board;
using project::Memory;

// Variables of a project beside the model's: guards around the arena, command line and trace of the
// harness, or a framework's buffers.
int64_t firmware_variables(const Compiled& c, const Board& board) {
  constexpr int64_t kCall = 8, kTensor = 32;
  const graph::Graph& g = c.program.graph;
  // A session over a port keeps a packet.
  const int64_t session = board.field("console.port").empty() ? 0 : 512;
  return (board.has("harvard") ? 320 : 1024) + session + kCall * static_cast<int64_t>(c.program.calls.size()) +
         kTensor * static_cast<int64_t>(g.inputs.size() + g.outputs.size());
}

// What the harness puts around an arena: in the memory of the variables it is among them.
constexpr int64_t kGuards = 128;

// Remedies are compilations: a model that takes long gets fewer.
constexpr double kPatienceMilliseconds = 20000;

const Memory* placed(const Board& board, const char* use) {
  return board.memory(board.field(std::string("placement.") + use));
}

// Fast memories first; the one that board.json names before others as fast, then large ones.
std::vector<const Memory*> arena_candidates(const Board& board) {
  std::vector<const Memory*> out;
  const Memory* preset = placed(board, "arena");
  for (const Memory& m : board.memories)
    if (&m == preset || (!m.flash && m.setup.empty())) out.push_back(&m);
  std::sort(out.begin(), out.end(), [&](const Memory* a, const Memory* b) {
    if (a->speed != b->speed) return a->speed < b->speed;
    if ((a == preset) != (b == preset)) return a == preset;
    return a->size > b->size;
  });
  return out;
}

// Does a section lead into this memory, under any framework?
bool leads_to(const Memory& m, const std::string& section) {
  return std::any_of(m.sections.begin(), m.sections.end(), [&](const auto& s) { return s.second == section; });
}

// What lies in a memory beside the arena.
int64_t others_in(const Memory& m, const Need& need, const Board& board) {
  int64_t bytes = &m == placed(board, "data") ? need.stack + need.caller + need.harness : 0;
  for (const auto& [name, size] : need.pools)
    if (name == m.lower_name()) bytes += size + kGuards;
  for (const auto& [name, size] : need.sections)
    if (leads_to(m, name)) bytes += size;
  if (m.name == need.copied_to) {
    bytes += need.constants;
    for (const auto& [name, size] : need.sections) bytes -= size;  // those of this memory are in already
  }
  return bytes;
}

// Are more than half of the constants' bytes floats?
bool has_float_constants(const plan::Program& p) {
  int64_t floats = 0, all = 0;
  for (const plan::ProgramConstant& c : p.constants) {
    auto n = static_cast<int64_t>(c.data.bytes.size());
    all += n;
    if (c.data.dtype == DType::kF32) floats += n;
  }
  return floats * 2 > all;
}

}  // namespace

Need need_of(const Compiled& c, const Board& board, const Firmware& firmware) {
  Figures f = figures_of(c);
  Need need;
  need.tensors = c.options.memory == codegen::MemoryMode::kWorkspace ? f.workspace_bytes : f.arena_bytes;
  need.tensors += c.operator_workspace_bytes;
  need.arena = need.tensors;
  for (const plan::Pool& pool : c.program.pools) {
    bool named = std::any_of(board.memories.begin(), board.memories.end(),
                             [&](const Memory& m) { return !m.flash && m.lower_name() == pool.name; });
    if (!named || pool.constants) continue;
    need.pools.emplace_back(pool.name, plan::Program::aligned(pool.bytes));
    need.arena = std::max<int64_t>(0, need.arena - pool.bytes);
  }
  need.caller = f.caller_bytes + f.state_bytes + (firmware.keeps_input ? f.input_bytes : 0);
  Diagnostics checked_before;
  if (auto sections = parse_sections(c.options, checked_before); sections && !sections->empty()) {
    std::vector<int> section = plan::assign_sections(c.program, *sections);
    for (const auto& s : *sections) need.sections.emplace_back(s.name, 0);
    for (size_t i = 0; i < section.size(); ++i)
      if (section[i] >= 0)
        need.sections[static_cast<size_t>(section[i])].second +=
            static_cast<int64_t>(c.program.constants[i].data.bytes.size());
  }
  need.stack = firmware.stack >= 0 ? firmware.stack : board.stack_bytes;
  need.harness = firmware_variables(c, board);
  need.constants = f.constant_bytes;
  if (board.has("harvard") && c.options.constants_in_ram) need.caller += f.constant_bytes;
  need.samples = firmware.samples;
  // PlatformIO's projects are for the Arduino core.
  const std::string framework = firmware.framework == "platformio" ? "arduino" : firmware.framework;
  need.copied_to = framework.empty() ? "" : board.field("frameworks." + framework + ".constants");
  need.code = code_of_firmware(c.c.files, board);
  return need;
}

Fit fit_of(const Need& need, const Board& board, const std::string& arena) {
  Fit out;
  if (board.memories.empty()) return out;
  std::vector<const Memory*> candidates = arena_candidates(board);
  // One that is no RAM is refused with the other options.
  if (const Memory* asked = board.memory(arena); asked && !asked->flash) candidates = {asked};
  int64_t most = -1;
  out.ram = false;
  for (const Memory* m : candidates) {
    int64_t guards = m == placed(board, "data") || board.has("harvard") ? 0 : kGuards;
    int64_t needed = need.arena + guards + others_in(*m, need, board), left = m->size - needed;
    if (out.arena && left <= most) continue;
    out.arena = m;
    out.ram_needed = needed;
    out.ram = left >= 0;
    most = left;
    if (out.ram) break;
  }
  // Wherever the arena is: the stack, the caller's tensors and named pools have to fit as well.
  for (const Memory& m : board.memories) {
    int64_t needed = others_in(m, need, board);
    if (m.flash || &m == out.arena || needed <= m.size) continue;
    out.arena = &m;
    out.ram_needed = needed;
    out.ram = false;
  }
  out.constants = placed(board, "constants");
  if (out.constants) {
    bool together = out.constants == placed(board, "code");
    out.flash_needed = need.constants + need.samples + (together ? need.code : 0);
    // Initial values of RAM are in flash as well; other flash is on its own.
    for (const Memory& m : board.memories)
      if (m.flash && &m != out.constants)
        for (const auto& [name, size] : need.sections) out.flash_needed -= leads_to(m, name) ? size : 0;
    out.flash = out.flash_needed <= out.constants->size;
  }
  return out;
}

std::string arena_memory(const Compiled& c, const Firmware& firmware) {
  if (!c.board) return "";
  Fit fit = fit_of(need_of(c, *c.board, firmware), *c.board, firmware.arena);
  return fit.arena ? fit.arena->name : "";
}

namespace {

// Another way to compile the model.
struct Remedy {
  std::string text;  // as on the command line
  CompileOptions options;
};

class Adviser {
 public:
  Adviser(const Compiled& compiled, const Firmware& firmware)
      : compiled_(compiled), board_(*compiled.board), firmware_(firmware), begin_(std::chrono::steady_clock::now()) {}

  // Sentences on what makes it fit, or that nothing here does.
  std::vector<std::string> advice(const Fit& fit) {
    std::vector<std::string> out = other_memories(fit);
    const std::vector<Remedy> single = remedies();
    auto all_at_once = [&] {
      return out.empty() && single.size() > 1 ? std::vector{all_of(single)} : std::vector<Remedy>();
    };
    search<Remedy>({{[&] { return single; }}, {all_at_once}}, [&](const Remedy& remedy) {
      const auto text = try_out(remedy);
      if (text) out.push_back(*text);
      return text.has_value();
    });
    if (out.empty()) {
      std::string all;
      for (const Remedy& r : single) all += (all.empty() ? "" : ", ") + r.text;
      if (!all.empty())
        out.push_back(
            fmt::format("the model does not fit with any one of these changes, nor with all of them: {}", all));
    }
    if (std::string boards = other_boards(); !boards.empty()) out.push_back(boards);
    return out;
  }

 private:
  bool patient() const {
    std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin_;
    return took.count() + compiled_.milliseconds < kPatienceMilliseconds;
  }

  // Memory that must be set up, or that the user's choice left out.
  std::vector<std::string> other_memories(const Fit& fit) const {
    std::vector<std::string> out;
    if (fit.ram || !fit.flash) return out;
    Need need = need_of(compiled_, board_, firmware_);
    for (const Memory& m : board_.memories) {
      if (m.flash || m.name == firmware_.arena || !fit_of(need, board_, m.name).ram) continue;
      out.push_back(fmt::format("the model fits with --project-option arena={}: {} has {}{}{}", m.name, m.name,
                                exact_bytes(m.size), m.setup.empty() ? "" : "; ", m.setup));
    }
    return out;
  }

  // That keeps tables out of RAM, where they are copied there otherwise.
  std::string section_of_flash() const {
    if (need_of(compiled_, board_, firmware_).copied_to.empty()) return "";
    for (const Memory& m : board_.memories)
      if (m.flash && !m.sections.empty()) return m.sections.begin()->second;
    return "";
  }

  // The model with these values of options, by their JSON keys; the text names those that differ.
  Remedy with_options(const nlohmann::json& values) const {
    CompileOptions before = compiled_.options;
    Remedy out{"", before};
    out.options.ignores_arrangement = true;
    (void)options::restore_values(stored_groups(out.options), values);
    const auto from = stored_groups(before), to = stored_groups(out.options);
    std::vector<std::string> changes;
    for (size_t i = 0; i < to.size(); ++i)
      for (std::string& change : options::differences(from[i], to[i])) changes.push_back(std::move(change));
    out.text = joined(changes, " ");
    return out;
  }

  // Options that may make the model smaller, each with its value.
  std::vector<nlohmann::json> values_to_try() const {
    const CompileOptions& now = compiled_.options;
    const graph::Graph& g = compiled_.program.graph;
    std::vector<nlohmann::json> out = {{{"level", "size"}}, {{"prefer", "ram"}}};
    auto is_float = [&](const graph::Port& port) { return g[port.tensor].type.dtype == DType::kF32; };
    if (std::any_of(g.inputs.begin(), g.inputs.end(), is_float) ||
        std::any_of(g.outputs.begin(), g.outputs.end(), is_float))
      out.push_back({{"strip_boundary_float", true}});
    if (const std::string flash = section_of_flash(); !flash.empty() && now.constants_section.empty())
      out.push_back({{"constants_section", flash}});
    out.push_back({{"overlap", true}});
    if (now.memory == codegen::MemoryMode::kStatic && !now.tvm_interface) {
      if (!now.feed) out.push_back({{"input", "overwrite"}});
      out.push_back({{"output", "overwrite"}});
    }
    return out;
  }

  std::vector<Remedy> remedies() const {
    std::vector<Remedy> out;
    for (const nlohmann::json& values : values_to_try())
      if (Remedy remedy = with_options(values); !remedy.text.empty()) out.push_back(std::move(remedy));
    return out;
  }

  Remedy all_of(const std::vector<Remedy>& remedies) const {
    nlohmann::json all;
    for (const nlohmann::json& values : values_to_try()) all.update(values);
    Remedy out = with_options(all);
    out.text.clear();
    for (const Remedy& r : remedies) out.text += (out.text.empty() ? "" : " ") + r.text;
    return out;
  }

  std::optional<std::string> try_out(const Remedy& remedy) const {
    if (!patient()) return std::nullopt;
    Diagnostics ignored;  // an option that this model cannot take is no remedy
    auto other = compile_model(remedy.options, ignored);
    if (!other) return std::nullopt;
    Need need = need_of(*other, board_, firmware_);
    Fit fit = fit_of(need, board_, firmware_.arena);
    if (!fit.both()) return std::nullopt;
    return fmt::format("the model fits with {}: RAM {} of {}, flash about {} of {}", remedy.text,
                       exact_bytes(fit.ram_needed), exact_bytes(fit.arena->size), exact_bytes(fit.flash_needed),
                       exact_bytes(fit.constants->size));
  }

  // Smallest first: what the model needs elsewhere differs little, and is computed before it is said.
  std::string other_boards() const {
    struct OtherBoard {
      int64_t ram;
      Board board;
    };
    std::vector<OtherBoard> candidates;
    Diagnostics ignored;
    for (const std::string& name : project::board_names()) {
      auto board = project::find_board(name, ignored);
      if (!board || board->memories.empty() || name == board_.name) continue;
      if (!fit_of(need_of(compiled_, *board, firmware_), *board).both()) continue;
      candidates.push_back({board->memory_bytes("arena"), *board});
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const OtherBoard& a, const OtherBoard& b) { return a.ram < b.ram; });
    std::string list;
    int found = 0;
    for (const OtherBoard& c : candidates) {
      if (found == 4 || !patient()) break;
      CompileOptions options = compiled_.options;
      options.board_name = c.board.name;
      options.ignores_arrangement = true;
      auto other = compile_model(options, ignored);
      if (!other || !fit_of(need_of(*other, c.board, firmware_), c.board).both()) continue;
      list += fmt::format("{}{}", found++ > 0 ? ", " : "", c.board.name);
    }
    return list.empty() ? "" : "boards that the model fits: " + list;
  }

  const Compiled& compiled_;
  const Board& board_;
  const Firmware firmware_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace

void warn_of_fit(const Need& need, const project::Board& board, const std::string& file, Diagnostics& diags) {
  const Fit fit = fit_of(need, board);
  if (fit.both()) return;
  Location where;
  where.file = file;
  auto of = [](const char* what, int64_t needed, int64_t there) {
    return fmt::format("{} of {} (available: {})", exact_bytes(needed), what, exact_bytes(there));
  };
  std::string needs;
  if (!fit.ram) needs = of("RAM", fit.ram_needed, fit.arena->size);
  if (!fit.flash)
    needs += (needs.empty() ? "about " : " and about ") + of("flash", fit.flash_needed, fit.constants->size);
  diags.warning(where, "does-not-fit", fmt::format("firmware for board {} needs {}", board.name, needs))
      .help(fmt::format(
          "run 'aotc check' with these options: it looks for changes that make the model fit, and exits with {}",
          kExitDoesNotFit));
}

bool check_fit(const Compiled& c, Diagnostics& diags, const Firmware& firmware) {
  if (!c.board || c.board->memories.empty()) return true;
  const Board& board = *c.board;
  Need need = need_of(c, board, firmware);
  Fit fit = fit_of(need, board, firmware.arena);
  if (fit.both()) return true;
  Location where;
  where.file = c.options.model_path;
  std::vector<std::string> advice = Adviser(c, firmware).advice(fit);
  auto advise = [&](Diagnostic& d) {
    for (const std::string& text : advice) d.help(text);
    advice.clear();  // once
  };
  if (!fit.ram) {
    auto& d = diags.error(
        where, "does-not-fit",
        fmt::format("the model needs {} of RAM, but board {} has {}{}", exact_bytes(fit.ram_needed), board.name,
                    exact_bytes(fit.arena->size), board.memories.size() > 2 ? " in " + fit.arena->name : ""));
    bool workspace = c.options.memory == codegen::MemoryMode::kWorkspace;
    d.note(fmt::format(
        "{} {}, inputs and outputs {}, stack {}, variables of the firmware about {}{}",
        workspace ? "workspace" : "arena", exact_bytes(need.tensors), exact_bytes(need.caller), exact_bytes(need.stack),
        exact_bytes(need.harness),
        !need.copied_to.empty() ? ", constants " + exact_bytes(need.constants) + ", which are copied to RAM" : ""));
    advise(d);
    d.help(
        "'aotc report MODEL' shows the operators with the most live bytes; use a smaller input or fewer channels there "
        "to shrink the arena");
  }
  if (!fit.flash) {
    auto& d = diags.error(where, "does-not-fit",
                          fmt::format("the model needs about {} of flash, but board {} has {}",
                                      exact_bytes(fit.flash_needed), board.name, exact_bytes(fit.constants->size)));
    d.note(fmt::format("constants {}, code about {}{}", exact_bytes(need.constants), exact_bytes(need.code),
                       need.samples > 0 ? ", stored inputs " + exact_bytes(need.samples) : ""));
    advise(d);
    if (fit.flash_needed - need.samples <= fit.constants->size) d.help("store fewer inputs with --samples");
    d.help(has_float_constants(c.program)
               ? "quantise the model to int8 (a quarter of the bytes), or choose a board with more flash"
               : "'aotc report MODEL' shows the operators with the most constants; use fewer channels there, or choose "
                 "a board with more flash");
  }
  return false;
}

}  // namespace aotc::driver
