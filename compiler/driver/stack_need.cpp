// SPDX-License-Identifier: Apache-2.0
#include "driver/stack.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "driver/temporary.h"
#include "project/embedded.h"
#include "support/files.h"
#include "support/process.h"

namespace aotc::driver {

namespace fs = std::filesystem;

namespace {

// What functions take that come compiled: memcpy and the compiler's own arithmetic, functions of the
// mathematics library (in software where there is no FPU), and hooks and runtime of the application.
constexpr int64_t kSmallHelper = 64, kLibm = 256, kRuntime = 384;
// The run function may be called with the stack pointer at any word: the ABI aligns it.
constexpr int64_t kStackAlignment = 8;
constexpr int kGraphSeconds = 60;

struct Node {
  int64_t frame = 0;
  std::vector<std::string> callees;
};

// The text behind `key: "` up to the quote that ends it.
std::string quoted(const std::string& line, const std::string& key) {
  size_t at = line.find(key + ": \"");
  if (at == std::string::npos) return "";
  at += key.size() + 3;
  return line.substr(at, line.find('"', at) - at);
}

int64_t number_at(const std::string& text, size_t at) {
  int64_t value = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9' && value < INT32_MAX; ++at)
    value = value * 10 + (text[at] - '0');
  return value;
}

// Registers of "{r4-r11, lr}".
int64_t registers_of(const std::string& list) {
  int64_t count = 0;
  std::istringstream items(list);
  for (std::string item; std::getline(items, item, ',');) {
    size_t dash = item.find('-'), digit = item.find_first_of("0123456789");
    ++count;
    if (dash != std::string::npos && digit != std::string::npos)
      count += number_at(item, item.find_first_of("0123456789", dash)) - number_at(item, digit);
  }
  return count;
}

// Bytes that an instruction in assembly takes from the stack.
int64_t pushed_by(const std::string& line) {
  size_t brace = line.find('{'), close = line.find('}');
  if (brace != std::string::npos && close != std::string::npos && brace < close) {
    std::string before = line.substr(0, brace), list = line.substr(brace + 1, close - brace - 1);
    bool vector = before.find("vpush") != std::string::npos || before.find("vstmdb") != std::string::npos;
    bool push = before.find("push") != std::string::npos || before.find("stmdb") != std::string::npos;
    if (push && before.find("pop") == std::string::npos) return registers_of(list) * (vector ? 8 : 4);
  }
  for (const char* start : {"sub sp", "sub.w sp", "addi sp"}) {
    size_t at = line.find(start);
    if (at == std::string::npos) continue;
    bool negative = start[0] == 's' || line.find('-', at) != std::string::npos;
    size_t comma = line.rfind(',');
    if (!negative || comma == std::string::npos) continue;
    size_t digit = line.find_first_of("0123456789", comma);
    if (digit != std::string::npos) return number_at(line, digit);
  }
  return 0;
}

// The same for the function that begins at a line of a source, from 1.
int64_t pushed_in(const std::vector<std::string>& lines, int64_t begin) {
  int64_t bytes = 0;
  for (auto i = static_cast<size_t>(std::max<int64_t>(begin, 1) - 1); i < lines.size(); ++i) {
    if (lines[i].starts_with("}")) break;
    if (lines[i].find('"') != std::string::npos) bytes += pushed_by(lines[i]);
  }
  return bytes;
}

int64_t allowance(const std::string& name) {
  static const std::set<std::string> kMath = {
      "expf",  "logf", "tanhf", "sqrtf",      "floorf", "ceilf", "roundf", "fabsf",   "erff",  "sinf",
      "cosf",  "powf", "rintf", "nearbyintf", "exp",    "log",   "tanh",   "sqrt",    "floor", "ceil",
      "round", "erf",  "sin",   "cos",        "pow",    "rint",  "lround", "lroundf", "lrintf"};
  if (kMath.contains(name)) return kLibm;
  bool small = name.starts_with("__") || name.starts_with("mem");
  return small ? kSmallHelper : kRuntime;
}

class Graph {
 public:
  void add(const CallGraphFile& file) {
    std::vector<std::string> lines;
    std::istringstream source(file.source);
    for (std::string line; std::getline(source, line);) lines.push_back(line);
    std::istringstream graph(file.graph);
    for (std::string line; std::getline(graph, line);) {
      if (line.starts_with("node:")) add_node(line, lines);
      if (line.starts_with("edge:")) nodes_[quoted(line, "sourcename")].callees.push_back(quoted(line, "targetname"));
    }
  }

  // Compiled functions are known by their title; static ones have their file's name before it.
  bool has(const std::string& title) const { return compiled_.contains(title); }

  int64_t deepest(const std::string& title) {
    auto [known, fresh] = depths_.try_emplace(title, 0);
    // One that calls itself counts once: emitted code does not.
    if (!fresh) return known->second;
    if (!compiled_.contains(title)) return depths_[title] = allowance(title);
    int64_t below = 0;
    for (const std::string& callee : nodes_[title].callees) below = std::max(below, deepest(callee));
    return depths_[title] = nodes_[title].frame + below;
  }

 private:
  // label: name\nfile:line:column\nN bytes (static)\n...; others are only declared.
  void add_node(const std::string& line, const std::vector<std::string>& lines) {
    std::string label = quoted(line, "label"), title = quoted(line, "title");
    size_t bytes = label.find(" bytes (");
    if (bytes == std::string::npos) return;
    size_t begin = label.rfind("\\n", bytes);
    if (begin == std::string::npos) return;
    Node& node = nodes_[title];
    node.frame = number_at(label, begin + 2);
    size_t place = label.find("\\n");
    size_t column = label.rfind(':', begin - 1);
    size_t row = column == std::string::npos ? column : label.rfind(':', column - 1);
    if (row != std::string::npos && row > place) node.frame += pushed_in(lines, number_at(label, row + 1));
    compiled_.insert(title);
  }

  std::map<std::string, Node> nodes_;
  std::set<std::string> compiled_;
  std::map<std::string, int64_t> depths_;
};

int64_t guess(const Compiled& c) {
  const std::string isa = c.board ? c.board->isa : "";
  // AVR pushes bytes; Xtensa's register windows spill 32 bytes and more for each call.
  return isa.starts_with("avr") ? 256 : isa == "xtensa" ? 2048 : 1024;
}

std::string content_of(const std::string& path) {
  Diagnostics ignored;
  auto bytes = read_file(path, ignored);
  return bytes ? std::string(bytes->begin(), bytes->end()) : "";
}

bool write_sources(const Compiled& c, const std::string& folder) {
  Diagnostics ignored;
  auto write = [&](const std::string& name, std::string_view text) {
    fs::path path = fs::path(folder) / name;
    std::error_code ec;
    fs::create_directories(path.parent_path(), ec);
    return !ec && write_scratch_file(path.string(), std::string(text), ignored).ok();
  };
  for (const auto& [name, text] : c.c.files)
    if (!name.ends_with("_data.c") && !write(name, text)) return false;
  for (const project::EmbeddedFile* f : project::embedded_below("crt/include/"))
    if (!write(std::string(f->path), f->content)) return false;
  return true;
}

// Without a call graph (gcc before 10 writes none): the run function, an operator, what that calls and
// what is called there, each the largest there is, with their return addresses, and a helper.
int64_t from_frames(const std::string& frames, const std::string& entry) {
  int64_t run = 0;
  std::vector<int64_t> others;
  std::istringstream lines(frames);
  for (std::string line; std::getline(lines, line);) {
    size_t tab = line.find('\t'), colon = line.rfind(':', tab);
    if (tab == std::string::npos || colon == std::string::npos) continue;
    int64_t bytes = number_at(line, tab + 1);
    if (line.substr(colon + 1, tab - colon - 1) == entry) run = bytes;
    else others.push_back(bytes);
  }
  if (run == 0) return 0;
  constexpr int64_t kReturnAddresses = 4 * 4;
  std::sort(others.rbegin(), others.rend());
  int64_t deepest = run + kReturnAddresses + kSmallHelper;
  for (size_t i = 0; i < std::min<size_t>(3, others.size()); ++i) deepest += others[i];
  return deepest;
}

// Compiles one source with a flag that writes what is wanted; false if the compiler does not take it.
bool compile_with(const Compiled& c, const std::string& folder, const std::string& source, const std::string& flag) {
  std::vector<std::string> argv = {c.board->compiler};
  argv.insert(argv.end(), c.board->cflags.begin(), c.board->cflags.end());
  for (const char* always : {"-std=c99", "-O2", "-ffp-contract=off", "-w", "-I.", "-Icrt/include", "-c"})
    argv.emplace_back(always);
  argv.insert(argv.end(), {flag, source, "-o", "object.o"});
  ProcessResult made = run_process(argv, folder, kGraphSeconds);
  return made.started && made.exit_code == 0;
}

}  // namespace

int64_t deepest_path(const std::vector<CallGraphFile>& files, const std::string& entry) {
  Graph graph;
  for (const CallGraphFile& file : files) graph.add(file);
  return graph.has(entry) ? graph.deepest(entry) : 0;
}

StackNeed stack_need(const Compiled& c) {
  StackNeed out{guess(c), false};
  if (!c.board || find_program(c.board->compiler).empty()) return out;
  TemporaryDirectory folder;
  Diagnostics ignored;
  if (!folder.made(ignored) || !write_sources(c, folder.path())) return out;
  std::vector<CallGraphFile> files;
  std::string frames;
  for (const auto& [name, text] : c.c.files) {
    if (!name.ends_with(".c") || name.ends_with("_data.c") || name.starts_with("tvmgen_")) continue;
    if (frames.empty() && compile_with(c, folder.path(), name, "-fcallgraph-info=su"))
      files.push_back({content_of(folder.path() + "/object.ci"), text});
    else if (compile_with(c, folder.path(), name, "-fstack-usage")) frames += content_of(folder.path() + "/object.su");
    else return out;
  }
  const std::string entry = c.prefix + "_run";
  int64_t deepest = frames.empty() ? deepest_path(files, entry) : from_frames(frames, entry);
  if (deepest > 0) out = {(deepest + kStackAlignment + 7) / 8 * 8, true};
  return out;
}

int64_t model_stack_bytes(const Compiled& compiled) { return stack_need(compiled).bytes; }

}  // namespace aotc::driver
