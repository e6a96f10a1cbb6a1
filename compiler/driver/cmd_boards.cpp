// SPDX-License-Identifier: Apache-2.0
// boards: all of them, those that pass filters or that a model fits, or one in detail. cpus: what they
// have.
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/commands.h"
#include "driver/fit.h"
#include "project/cpus.h"
#include "project/description.h"
#include "support/json.h"
#include "support/streams.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

using project::Board;
using project::Memory;
using Json = nlohmann::ordered_json;

struct BoardsOptions {
  std::string name, framework, cpu, ram, flash, fits;
  std::vector<std::string> features;
  bool emulated = false;
  CommonOptions common;
};

// "512K", "1M", "96 bytes" for what is no whole number of them.
std::string short_bytes(int64_t bytes) {
  if (bytes <= 0) return "-";
  for (auto [unit, letter] : {std::pair{int64_t{1} << 20, 'M'}, {int64_t{1} << 10, 'K'}})
    if (bytes % unit == 0) return fmt::format("{}{}", bytes / unit, letter);
  return bytes < 1024 ? fmt::format("{}", bytes) : fmt::format("{:.1f}K", static_cast<double>(bytes) / 1024);
}

// Bytes of "262144", "256K", "1M"; -1 if it is none of these.
int64_t parse_size(const std::string& text) {
  size_t digits = text.find_first_not_of("0123456789");
  std::string unit = digits == std::string::npos ? "" : text.substr(digits);
  std::string number = text.substr(0, digits);
  if (number.empty() || number.size() > 10) return -1;
  int64_t value = std::stoll(number);
  for (const char* end : {"", "B"})
    for (const char* middle : {"", "i"}) {
      if (unit == std::string("K") + middle + end || unit == std::string("k") + middle + end) return value * 1024;
      if (unit == std::string("M") + middle + end) return value * 1024 * 1024;
    }
  return unit.empty() || unit == "B" ? value : -1;
}

// The largest that works after reset.
int64_t largest(const Board& board, bool flash) {
  int64_t out = 0;
  for (const Memory& m : board.memories)
    if (m.flash == flash && m.setup.empty()) out = std::max(out, m.size);
  return out;
}

// What projects can be made for: frameworks, and bare metal.
std::vector<std::string> project_kinds(const Board& board) {
  std::vector<std::string> out;
  Diagnostics said_elsewhere;
  auto bare = project::read_description({"bare_metal", ""}, said_elsewhere);
  if (bare && std::any_of(bare->platforms.begin(), bare->platforms.end(),
                          [&](const auto& p) { return p.name == board.platform; }))
    out.push_back("bare_metal");
  for (const std::string& f : board.frameworks()) out.push_back(f);
  return out;
}

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// "qemu", "~qemu" where it is another machine, "-".
std::string emulator_word(const Board& board) {
  if (board.emulator_argv.empty()) return "-";
  if (board.is_host()) return "native";
  std::string program = board.emulator_program.substr(0, board.emulator_program.find('-'));
  return (board.stand_in ? "~" : "") + program;
}

Result<std::vector<Board>> all_boards(Diagnostics& diags) {
  std::vector<Board> out;
  for (const std::string& name : project::board_names()) {
    auto board = project::find_board(name, diags);
    if (!board) return kFailure;
    out.push_back(std::move(*board));
  }
  return out;
}

// Is `word` one that any board has? Empty is no filter.
bool known(const char* option, const std::string& word, const std::set<std::string>& words, Diagnostics& diags) {
  if (word.empty() || words.contains(word)) return true;
  Location where;
  where.file = fmt::format("--{} {}", option, word);
  std::vector<std::string> list(words.begin(), words.end());
  auto& d = diags.error(where, "board-filter", fmt::format("no board has this {}", option));
  for (const std::string& near : closest(word, list)) d.help(fmt::format("did you mean '{}'?", near));
  d.help("known values: " + joined(list, ", "));
  return false;
}

Result<std::vector<Board>> filtered(std::vector<Board> boards, const BoardsOptions& options, Diagnostics& diags) {
  std::set<std::string> frameworks, cpus, features;
  for (const Board& b : boards) {
    cpus.insert(b.cpu);
    for (const std::string& f : project_kinds(b)) frameworks.insert(f);
    for (const std::string& f : b.features) features.insert(f);
  }
  // As kinds of projects are spelt.
  std::string framework = project::kind_folder(options.framework);
  bool good = known("framework", framework, frameworks, diags) && known("cpu", options.cpu, cpus, diags);
  for (const std::string& f : options.features) good = good && known("feature", f, features, diags);
  int64_t sizes[2] = {0, 0};
  for (auto [option, text, at] : {std::tuple{"ram", &options.ram, 0}, {"flash", &options.flash, 1}}) {
    if (text->empty()) continue;
    sizes[at] = parse_size(*text);
    if (sizes[at] >= 0) continue;
    Location where;
    where.file = fmt::format("--{} {}", option, *text);
    diags.error(where, "board-filter", "the value is not a size")
        .help("write a number of bytes, such as 262144, 256K or 1M");
    good = false;
  }
  if (!good) return kFailure;
  std::erase_if(boards, [&](const Board& b) {
    bool has_all =
        std::all_of(options.features.begin(), options.features.end(), [&](const std::string& f) { return b.has(f); });
    return (!framework.empty() && !contains(project_kinds(b), framework)) ||
           (!options.cpu.empty() && b.cpu != options.cpu) || !has_all ||
           (sizes[0] > 0 && largest(b, false) < sizes[0]) || (sizes[1] > 0 && largest(b, true) < sizes[1]) ||
           (options.emulated && (b.emulator_argv.empty() || b.stand_in));
  });
  return boards;
}

Json json_of(const Board& board) {
  Json j = *board.description;
  j["name"] = board.name;
  j["projects"] = project_kinds(board);
  return j;
}

int list(const std::vector<Board>& boards, const BoardsOptions& options) {
  if (options.common.json) {
    Json all = Json::array();
    for (const Board& b : boards) all.push_back(json_of(b));
    print_out("{}\n", json_text(all, 1));
    return kExitDone;
  }
  std::vector<std::vector<std::string>> rows = {{"board", "CPU", "RAM", "flash", "runs", "projects"}};
  for (const Board& b : boards)
    rows.push_back({b.name, b.cpu, short_bytes(largest(b, false)), short_bytes(largest(b, true)), emulator_word(b),
                    joined(project_kinds(b))});
  print_out("{}", format_table(rows));
  if (boards.empty()) print_out("no board passes all filters\n");
  return kExitDone;
}

int show(const Board& board, const BoardsOptions& options) {
  if (options.common.json) {
    print_out("{}\n", json_text(json_of(board), 1));
    return kExitDone;
  }
  print_out("{}: {}\n", board.name, board.title);
  std::vector<std::vector<std::string>> rows = {
      {"CPU", fmt::format("{} ({}): {}", board.cpu, board.isa, joined(board.features, ", "))}};
  for (const Memory& m : board.memories) {
    std::string uses;
    for (const char* use : {"code", "constants", "data", "arena"})
      if (board.field(std::string("placement.") + use) == m.name) uses += fmt::format(", {}", use);
    std::string sections;
    for (const std::string& kind : project_kinds(board)) {
      auto tables = m.sections.find(kind), arenas = m.arena_sections.find(kind);
      if (tables == m.sections.end() && arenas == m.arena_sections.end()) continue;
      sections += fmt::format("{}{}", sections.empty() ? "" : "; ", kind);
      if (tables != m.sections.end()) sections += " " + tables->second;
      if (arenas != m.arena_sections.end()) sections += fmt::format(" (arena {})", arenas->second);
    }
    rows.push_back({"memory " + m.name, fmt::format("{} of {} at {}, {}{}", short_bytes(m.size),
                                                    m.flash ? "flash" : "RAM", m.origin, name_of(m.speed), uses)});
    if (!sections.empty()) rows.push_back({"", "sections: " + sections});
    if (!m.setup.empty()) rows.push_back({"", "only by name: " + m.setup});
  }
  auto rate = [&](const char* field) {
    std::string hz = board.field(field);
    return hz.empty() || hz == "0" ? std::string() : fmt::format("{:g} MHz", std::stod(hz) / 1e6);
  };
  std::string reset = rate("clock.hz"), full = rate("clock.full_hz");
  rows.push_back({"clock", (reset.empty() ? "" : reset + " after reset") + (reset.empty() || full.empty() ? "" : ", ") +
                               (full.empty() ? "" : full + " at full speed")});
  if (rows.back()[1].empty()) rows.pop_back();
  std::string port = board.field("console.port");
  rows.push_back({"console", board.field("console.kind") + (port.empty() ? "" : "; " + port)});
  rows.push_back({"compiler", board.compiler + " " + joined(board.cflags)});
  rows.push_back({"runs in", board.emulator_argv.empty()
                                 ? "no emulator"
                                 : joined(board.emulator_argv).substr(0, 60) +
                                       (board.stand_in ? " (different board, same core)" : "")});
  for (const std::string& framework : board.frameworks()) {
    std::string fields;
    for (const auto& [key, value] : (*board.description)["frameworks"][framework].items())
      fields += fmt::format("{}{} {}", fields.empty() ? "" : ", ", key,
                            value.is_string() ? value.get<std::string>() : json_text(value));
    rows.push_back({framework, fields});
  }
  print_out("{}", format_table(rows));
  if (!board.note.empty()) print_out("{}\n", board.note);
  return kExitDone;
}

// Boards of one key get the same code.
std::string target_key(const Board& board) { return board.cpu + " " + board.isa + " " + joined(board.features); }

Json json_of(const Board& b, const Need& need, const Fit& fit) {
  Json j;
  j["name"] = b.name;
  j["fits"] = fit.both();
  j["ram_needed"] = fit.ram_needed;
  j["ram"] = fit.arena->size;
  j["arena_memory"] = fit.arena->name;
  j["arena_bytes"] = need.tensors;
  j["stack_bytes"] = need.stack;
  j["flash_needed"] = fit.flash_needed;
  j["flash"] = fit.constants->size;
  j["constants_bytes"] = need.constants;
  return j;
}

int list_fitting(const std::vector<Board>& boards, const BoardsOptions& options, Diagnostics& diags) {
  Progress progress(options.common.quiet || options.common.json);
  std::map<std::string, std::optional<Compiled>> compiled;
  std::vector<std::vector<std::string>> rows = {{"board", "fits", "RAM needed", "of", "memory", "flash needed", "of"}};
  Json all = Json::array();
  bool any = false, compiles = false;
  Diagnostics refused;
  for (const Board& b : boards) {
    if (b.memories.empty()) {
      if (options.name.empty()) continue;
      // Asked for by name: nothing limits it.
      rows.push_back({b.name, "yes", "-", "-", "-", "-", "-"});
      Json j;
      j["name"] = b.name;
      j["fits"] = true;
      all.push_back(j);
      any = true;
      continue;
    }
    auto [it, fresh] = compiled.try_emplace(target_key(b));
    if (fresh) {
      progress.step("compiling for " + b.cpu);
      CompileOptions c;
      c.model_path = options.fits;
      c.board_name = b.name;
      Diagnostics of_this_board;
      auto made = compile_model(c, of_this_board);
      if (made) it->second = std::move(*made);
      if (!made) refused = of_this_board;
    }
    if (!it->second) {
      rows.push_back({b.name, "cannot be compiled"});
      Json j;
      j["name"] = b.name;
      j["fits"] = false;
      all.push_back(j);
      continue;
    }
    compiles = true;
    Need need = need_of(*it->second, b);
    Fit fit = fit_of(need, b);
    any = any || fit.both();
    rows.push_back({b.name,
                    fit.both()  ? "yes"
                    : fit.ram   ? "no flash"
                    : fit.flash ? "no RAM"
                                : "no",
                    with_commas(fit.ram_needed), short_bytes(fit.arena->size), fit.arena->name,
                    with_commas(fit.flash_needed), short_bytes(fit.constants->size)});
    all.push_back(json_of(b, need, fit));
  }
  progress.clear();
  // What is wrong for every board is wrong with the model.
  if (!compiles && refused.has_errors()) return fail(refused);
  print_out("{}", options.common.json ? json_text(all, 1) + "\n" : format_table(rows));
  if (all.empty() && !options.common.json) print_out("no board with memories passes all filters\n");
  print_diagnostics(diags);
  return any ? kExitDone : kExitDoesNotFit;
}

int boards_command(const BoardsOptions& options) {
  Diagnostics diags;
  if (!options.name.empty()) {
    auto board = project::find_board(options.name, diags);
    if (!board) return fail(diags);
    return options.fits.empty() ? show(*board, options) : list_fitting({*board}, options, diags);
  }
  auto all = all_boards(diags);
  if (!all) return fail(diags);
  auto boards = filtered(std::move(*all), options, diags);
  if (!boards) return fail(diags, kExitUsage);
  return options.fits.empty() ? list(*boards, options) : list_fitting(*boards, options, diags);
}

int cpus_command(const CommonOptions& common) {
  Diagnostics diags;
  auto all = project::cpus(diags);
  if (!all) return fail(diags);
  Json list = Json::array();
  std::vector<std::vector<std::string>> rows = {{"CPU", "instructions", "features", "boards"}};
  for (const project::Cpu& c : *all) {
    list.push_back({{"name", c.name},
                    {"cpu", c.board.cpu},
                    {"isa", c.board.isa},
                    {"features", c.board.features},
                    {"cflags", c.board.cflags},
                    {"boards", c.boards}});
    rows.push_back({c.name, c.board.isa, joined(c.board.features, ", "), joined(c.boards, ", ")});
  }
  write_out(common.json ? json_text(list, 1) + "\n" : format_table(rows));
  return kExitDone;
}

}  // namespace

options::Command cpus_declaration() {
  auto common = std::make_shared<CommonOptions>();
  return {.name = "cpus",
          .summary = "List the CPUs for --cpu, with their features and boards",
          .options = {json_option(*common), quiet_option(*common)},
          .run = [common] { return cpus_command(*common); }};
}

options::Command boards_declaration() {
  auto o = std::make_shared<BoardsOptions>();
  // What narrows a list has no meaning beside the name of one.
  auto filter = [](const char* names, const char* value, options::Target target, const char* help) {
    return options::Option{
        .names = names, .value = value, .target = std::move(target), .help = help, .excludes = {"NAME"}};
  };
  return {
      .name = "boards",
      .summary = "List boards, list boards that fit a model, or show one board",
      .options =
          {{.names = "NAME", .target = &o->name, .help = "The board to show", .offers = project::board_names},
           filter("--framework", "NAME", &o->framework,
                  "List only boards with this framework: zephyr, arduino, bare_metal, ..."),
           filter("--cpu", "NAME", &o->cpu, "List only boards with this CPU: cortex-m4, ..."),
           filter("--feature", "NAME", &o->features, "List only boards whose CPU has this feature: fpu, dsp, ..."),
           filter("--ram", "SIZE", &o->ram, "List only boards that have a RAM of at least this size, such as 256K"),
           filter("--flash", "SIZE", &o->flash, "List only boards that have a flash of at least this size, such as 1M"),
           filter("--emulated", "", &o->emulated, "List only boards that run on this machine"),
           {.names = "--fits",
            .value = "MODEL",
            .target = &o->fits,
            .help = "Compile this model for each board, and show whether it fits",
            .takes = options::Takes::kFile},
           json_option(o->common),
           quiet_option(o->common)},
      .run = [o] { return boards_command(*o); }};
}

}  // namespace aotc::driver
