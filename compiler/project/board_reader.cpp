// SPDX-License-Identifier: Apache-2.0
// Reads board.json. Every member is checked, so that a wrong word in a file of the user's ends with a place.
#include <algorithm>
#include <initializer_list>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cores/cpu.h"
#include "project/board.h"
#include "support/json.h"
#include "support/text.h"

namespace aotc::project {

namespace {

using Node = nlohmann::json;

constexpr const char* kPlatforms[] = {"cortex_m", "riscv", "avr", "host", "none"};
constexpr const char* kMembers[] = {"title",    "cpu",         "isa",     "platform", "features", "toolchain",
                                    "memories", "placement",   "console", "clock",    "emulator", "stack_bytes",
                                    "chip",     "programmers", "parts",   "note",     "like",     "frameworks",
                                    "aliases",  "relatives",   "project"};

class BoardReader {
 public:
  BoardReader(const std::string& text, const std::string& file, Diagnostics& diags) : text_(text), diags_(diags) {
    where_.file = file;
  }

  // `like` finds a board that the file names by "like".
  Result<Board> read(const std::string& name, Result<Board> (*like)(const std::string&, Diagnostics&)) {
    Node root;
    if (auto problem = parse_json(text_, root)) {
      where_.line = problem->place.line;
      where_.column = problem->place.column;
      error("board", problem->is_number ? problem->what : "the file is not JSON");
      return kFailure;
    }
    if (!root.is_object()) return error("board", "the file must contain a JSON object"), kFailure;
    for (const auto& [key, value] : root.items())
      if (std::find(std::begin(kMembers), std::end(kMembers), key) == std::end(kMembers)) unknown(key);
    if (!good_) return kFailure;
    if (root.contains("like") && !merge(root, like)) return kFailure;
    Board board;
    board.name = name;
    read_core(root, board);
    read_memories(root, board);
    read_placement(root, board);
    read_rest(root, board);
    board.description = std::make_shared<const Node>(std::move(root));
    if (!good_) return kFailure;
    return board;
  }

 private:
  // Where the text first has `word` as a whole string, behind the first `after`.
  Location place(const std::string& word, const std::string& after = "") const {
    Location out = where_;
    size_t from = after.empty() ? 0 : text_.find("\"" + after + "\"");
    const size_t at = from == std::string::npos ? from : text_.find("\"" + word + "\"", from);
    if (at == std::string::npos) return out;
    const TextPlace found = place_of(text_, at);
    out.line = found.line;
    out.column = found.column;
    return out;
  }

  Diagnostic& error(const Location& where, const std::string& what) {
    good_ = false;
    return diags_.error(where, "board-invalid", what).help("docs/adding-a-board.md describes the members");
  }
  Diagnostic& error(const std::string& key, const std::string& what) {
    return error(where_.line > 0 ? where_ : place(key), what);
  }

  void unknown(const std::string& key) {
    auto& d = error(key, fmt::format("the member '{}' is unknown", escape_for_display(key)));
    for (const std::string& near : closest(key, {std::begin(kMembers), std::end(kMembers)}, 1))
      d.help(fmt::format("did you mean '{}'?", near));
  }

  // Members of the file replace those of the other board; null removes one (RFC 7396).
  bool merge(Node& root, Result<Board> (*like)(const std::string&, Diagnostics&)) {
    const std::string other = string(root, "like", "");
    if (!good_) return false;
    // Only a board of this build: two files that are like each other would never end.
    const std::vector<std::string> names = board_names();
    const bool ours = std::find(names.begin(), names.end(), other) != names.end();
    Diagnostics unfound;
    auto base = ours ? like(other, unfound) : Result<Board>(kFailure);
    if (!base || base->is_host() || base->is_generic()) {
      auto& d = error("like", fmt::format("'like' names the unknown board '{}'", escape_for_display(other)));
      for (const std::string& near : closest(other, names)) d.help(fmt::format("did you mean '{}'?", near));
      return false;
    }
    Node merged = *base->description;
    root.erase("like");
    merged.merge_patch(root);
    root = std::move(merged);
    return true;
  }

  const Node* member(const Node& in, const char* key, const std::string& of, bool needed) {
    if (in.contains(key)) return &in.at(key);
    if (needed) error(of, fmt::format("'{}' is missing", of.empty() ? key : fmt::format("{}.{}", of, key)));
    return nullptr;
  }

  std::string string(const Node& in, const char* key, const std::string& of, bool needed = true) {
    const Node* j = member(in, key, of, needed);
    if (j == nullptr) return "";
    if (j->is_string()) return j->get<std::string>();
    error(key, fmt::format("'{}' must be a string", key));
    return "";
  }

  std::vector<std::string> strings(const Node& in, const char* key, const std::string& of, bool needed) {
    std::vector<std::string> out;
    const Node* j = member(in, key, of, needed);
    if (j == nullptr) return out;
    bool texts = j->is_array();
    if (texts)
      for (const Node& v : *j) texts = texts && v.is_string();
    if (!texts) return error(key, fmt::format("'{}' must be a list of strings", key)), out;
    return j->get<std::vector<std::string>>();
  }

  std::map<std::string, std::string> texts(const Node& in, const char* key) {
    std::map<std::string, std::string> out;
    if (!in.contains(key)) return out;
    bool good = in[key].is_object();
    if (good)
      for (const auto& [name, v] : in[key].items()) good = good && v.is_string();
    if (!good) return error(key, fmt::format("'{}' must be an object of strings", key)), out;
    return in[key].get<std::map<std::string, std::string>>();
  }

  int64_t number(const Node& in, const char* key, const std::string& of, int64_t least, int64_t most, bool needed) {
    const Node* j = member(in, key, of, needed);
    if (j == nullptr) return least;
    if (j->is_number_integer() && (!j->is_number_unsigned() || j->get<uint64_t>() <= static_cast<uint64_t>(most)) &&
        j->get<int64_t>() >= least && j->get<int64_t>() <= most)
      return j->get<int64_t>();
    error(key, fmt::format("'{}' must be an integer from {} to {}", key, least, most));
    return least;
  }

  bool flag(const Node& in, const char* key) {
    if (!in.contains(key)) return false;
    if (in[key].is_boolean()) return in[key].get<bool>();
    error(key, fmt::format("'{}' must be true or false", key));
    return false;
  }

  // An empty object, and an error, for what is none.
  const Node& object(const Node& in, const char* key, bool needed) {
    static const Node none = Node::object();
    const Node* j = member(in, key, "", needed);
    if (j == nullptr || j->is_object()) return j == nullptr ? none : *j;
    error(key, fmt::format("'{}' must be an object", key));
    return none;
  }

  void read_core(const Node& root, Board& b) {
    b.title = string(root, "title", "");
    b.cpu = string(root, "cpu", "");
    b.isa = string(root, "isa", "");
    b.platform = string(root, "platform", "");
    b.features = strings(root, "features", "", true);
    const Node& tools = object(root, "toolchain", true);
    b.toolchain_prefix = string(tools, "prefix", "toolchain");
    b.compiler = string(tools, "compiler", "toolchain");
    b.cflags = strings(tools, "cflags", "toolchain", true);
    b.toolchain_packages = strings(tools, "packages", "toolchain", false);
    if (!good_) return;
    const auto where = place(b.platform, "platform");
    if (std::find(std::begin(kPlatforms), std::end(kPlatforms), b.platform) == std::end(kPlatforms))
      error(where, fmt::format("platform '{}' is unknown", escape_for_display(b.platform)))
          .help("platforms: " + joined({std::begin(kPlatforms), std::end(kPlatforms)}, ", "));
    const auto problem = cores::core_problem(b.cpu, b.isa, b.features);
    if (!problem) return;
    const char* member = problem->part == cores::CoreProblem::kCpu   ? "cpu"
                         : problem->part == cores::CoreProblem::kIsa ? "isa"
                                                                     : "features";
    good_ = false;
    diags_.error(place(problem->word, member), "board-core", problem->message).help(problem->help);
  }

  void read_memories(const Node& root, Board& b) {
    const Node* list = member(root, "memories", "", true);
    if (list == nullptr) return;
    if (!list->is_array()) return void(error("memories", "'memories' must be a list"));
    std::set<std::string> names;
    for (const Node& j : *list) {
      if (!j.is_object()) return void(error("memories", "a memory must be an object"));
      b.memories.push_back(memory_of(j));
      if (const Memory& m = b.memories.back(); good_ && b.is_device(m) && m.setup.empty())
        error(m.name,
              fmt::format(
                  "{} at {} is Device memory by the default map of Arm's architecture: unaligned accesses fault there",
                  m.name, m.origin))
            .help("describe the setup in \"setup\": the MPU must define this memory as Normal memory");
      if (good_ && !names.insert(b.memories.back().lower_name()).second)
        error(b.memories.back().name, fmt::format("two memories have the name '{}'", b.memories.back().name));
    }
  }

  Memory memory_of(const Node& j) {
    Memory m;
    m.name = string(j, "name", "memories");
    if (m.name.empty() || m.name.size() > 63 ||
        m.name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") !=
            std::string::npos)
      error(m.name,
            fmt::format("'{}' is not a name of a memory: use letters, digits and _", escape_for_display(m.name)));
    const std::string kind = string(j, "kind", "memories");
    if (good_ && kind != "flash" && kind != "ram")
      error(place(kind, m.name), fmt::format("kind '{}' must be flash or ram", escape_for_display(kind)));
    m.flash = kind == "flash";
    m.origin = string(j, "origin", "memories");
    if (good_ && (!m.origin.starts_with("0x") || m.origin.size() < 3 || m.origin.size() > 10 ||
                  m.origin.find_first_not_of("0123456789abcdefABCDEF", 2) != std::string::npos))
      error(place(m.origin, m.name),
            fmt::format("origin '{}' is not an address such as \"0x20000000\"", escape_for_display(m.origin)));
    m.size = number(j, "size", "memories", 1, int64_t{1} << 32, true);
    const std::string speed = string(j, "speed", "memories", false);
    if (!speed.empty() && speed != "fast" && speed != "normal" && speed != "slow")
      error(place(speed, m.name), fmt::format("speed '{}' must be fast, normal or slow", escape_for_display(speed)));
    for (Speed known : {Speed::kFast, Speed::kSlow})
      if (speed == name_of(known)) m.speed = known;
    m.sections = texts(j, "sections");
    m.arena_sections = texts(j, "arena_sections");
    m.wait_states = static_cast<int>(number(j, "wait_states", "memories", 0, 1000, false));
    m.line_bytes = static_cast<int>(number(j, "line_bytes", "memories", 0, 4096, false));
    m.setup = string(j, "setup", "memories", false);
    return m;
  }

  void read_placement(const Node& root, const Board& b) {
    const Node& placement = object(root, "placement", true);
    if (b.memories.empty() || !good_) return;
    for (const char* use : {"code", "constants", "data", "arena"}) {
      const std::string name = string(placement, use, "placement");
      if (!good_) return;
      const Memory* m = b.memory(name);
      const Location where = place(name, "placement");
      if (m == nullptr)
        error(where,
              fmt::format("'{}' is placed in '{}', which is not a memory of the board", use, escape_for_display(name)));
      else if (!m->setup.empty())
        error(where, fmt::format("'{}' is placed in {}, which does not work before code sets it up", use, name));
      else if (m->flash && (use[0] == 'd' || use[0] == 'a'))
        error(where, fmt::format("'{}' is placed in {}, which is flash", use, name));
    }
  }

  void read_rest(const Node& root, Board& b) {
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    b.stack_bytes = number(root, "stack_bytes", "", 0, kMost, true);
    b.note = string(root, "note", "", false);
    b.aliases = strings(root, "aliases", "", false);
    texts(root, "relatives");
    b.project = string(root, "project", "", false);
    const Node& console = object(root, "console", true);
    string(console, "kind", "console");
    for (const char* key : {"base", "port"}) string(console, key, "console", false);
    const Node& clock = object(root, "clock", true);
    for (const char* key : {"kind", "unit"}) string(clock, key, "clock");
    number(clock, "hz", "clock", 0, kMost, true);
    number(clock, "full_hz", "clock", 0, kMost, false);
    for (const char* key : {"chip", "frameworks"}) object(root, key, false);
    if (good_ && root.contains("frameworks"))
      for (const auto& [name, fields] : root["frameworks"].items())
        if (!fields.is_object()) error(name, fmt::format("framework '{}' must be an object", escape_for_display(name)));
    if (!root.contains("emulator")) return;
    const Node& e = object(root, "emulator", false);
    b.emulator_program = string(e, "program", "emulator");
    b.emulator_argv = strings(e, "argv", "emulator", true);
    b.emulator_packages = strings(e, "packages", "emulator", false);
    b.argument_style = string(e, "argument_style", "emulator", false);
    b.stand_in = flag(e, "stand_in");
    number(e, "clock_hz", "emulator", 1, kMost, b.stand_in && b.platform == "cortex_m");
  }

  const std::string& text_;
  Diagnostics& diags_;
  Location where_;
  bool good_ = true;
};

}  // namespace

Result<Board> read_board(const std::string& text, const std::string& file, const std::string& name,
                         Diagnostics& diags) {
  return BoardReader(text, file, diags).read(name, find_board);
}

}  // namespace aotc::project
