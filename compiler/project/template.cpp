// SPDX-License-Identifier: Apache-2.0
#include "project/template.h"
#include "support/json.h"

#include <algorithm>

#include <fmt/format.h>

#include "support/text.h"

namespace aotc::project {

namespace {

bool contains(const std::vector<std::string>& list, const std::string& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// As it stands between the quotes of a JSON string.
std::string json_text(const std::string& text) {
  std::string out;
  for (char c : text) out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out;
}

// A relative path whose parts are names.
bool stays_inside(const std::string& path) {
  for (size_t at = 0; at <= path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    const std::string part = path.substr(at, end - at);
    if (part.empty() || part == "." || part == ".." || part.find('\0') != std::string::npos) return false;
    at = end + 1;
  }
  return true;
}

const TemplateSources* find(const std::vector<TemplateSources>& list, const std::string& name) {
  for (const TemplateSources& s : list)
    if (s.name == name) return &s;
  return nullptr;
}

// CHIP_PLL_M of chip.pll_m and so on, for what board.h is included by.
std::string chip_definitions(const Board& board) {
  std::string out;
  if (!board.has_chip()) return out;
  out = "#define BOARD_CHIP 1";
  for (const auto& [name, value] : (*board.description)["chip"].items())
    if (name != "kind")
      out += fmt::format("\n#define CHIP_{} {}u", upper(name),
                         value.is_string() ? value.get<std::string>() : value.dump());
  return out;
}

}  // namespace

void report_memory_setup(const Location& where, const Board& board, const Memory& m, const TemplateDescription& t,
                         Diagnostics& diags) {
  const bool takes_code =
      std::any_of(t.options.begin(), t.options.end(), [](const TemplateOption& o) { return o.name == "memory_setup"; });
  diags
      .error(where, "memory-setup",
             fmt::format("memory {} of {} does not work after reset, and nothing in the project sets it up", m.name,
                         board.name))
      .note("needed: " + board.setup_of(m))
      .help(takes_code ? "--project-option memory_setup=true adds src/memory_setup.c, where you set up the memory "
                         "before its first use"
                       : "choose another memory; a project of kind bare-metal accepts code that sets up the memory");
}

namespace {

class Renderer {
 public:
  Renderer(const TemplateSource& source, const TemplateDescription& description, const Board& board,
           const Values& values, Diagnostics& diags)
      : source_(source), t_(description), board_(board), values_(values), diags_(diags) {
    where_.file = "template " + t_.kind;
  }

  Result<Rendered> run() {
    if (!choose_platform() || !evaluate_options() || !choose_parts() || !evaluate_keys()) return kFailure;
    if (!add_files() || !add_folders_and_commands()) return kFailure;
    for (const auto& [key, value] : keys_)
      if (!used_.contains(key)) return fail("template-key", fmt::format("no file of the template uses key '{}'", key));
    return std::move(out_);
  }

 private:
  Failure fail(const char* slug, const std::string& message) {
    diags_.error(where_, slug, message);
    return kFailure;
  }

  bool choose_platform() {
    if (!t_.framework.empty() && !board_.has_framework(t_.framework) && !(t_.board_optional && board_.is_generic())) {
      diags_
          .error(where_, "template-board", fmt::format("board '{}' is not supported by {}", board_.name, t_.framework))
          .help(fmt::format("'aotc boards --framework {}' lists the supported boards", t_.framework));
      return false;
    }
    if (t_.platforms.empty() || find(t_.platforms, board_.platform)) return true;
    diags_
        .error(where_, "template-board",
               board_.is_generic()
                   ? fmt::format("board '{}' is not a real board, but a project of this kind needs one", board_.name)
                   : fmt::format("a project of this kind does not support board '{}'", board_.name))
        .help(board_.is_generic() ? "pass the board of the firmware ('aotc boards' lists the boards), or write C for "
                                    "any board with 'aotc compile'"
                                  : "'aotc templates list' names the kinds of projects, for --project");
    return false;
  }

  bool choose_parts() {
    for (const std::string& part : values_.parts)
      if (!find(t_.parts, part)) {
        fail("template-board", fmt::format("the template has no part '{}', which this model needs", part));
        return false;
      }
    parts_ = values_.parts;
    for (const std::string& example : values_.examples)
      if (find(t_.parts, example)) parts_.insert(example);
    // How the board's chip starts, where the template has any use for it; what is for a switched off option.
    if (std::string chip = "chip_" + board_.field("chip.kind"); find(t_.parts, chip)) parts_.insert({chip, "chip"});
    for (const TemplateOption& option : t_.options)
      if (!option.off.empty() && options_[option.name] == "0" && !board_.is_host()) parts_.insert(option.off);
    for (const TemplateOption& option : t_.options)
      if (!option.on.empty() && options_[option.name] == "1") parts_.insert(option.on);
    for (const TemplateOption& option : t_.options)
      if (const std::string& value = options_[option.name]; option.type == "enum" && find(t_.parts, value))
        parts_.insert(value);
    return true;
  }

  bool evaluate_options() {
    for (const auto& [name, value] : values_.options) {
      std::vector<std::string> names;
      for (const TemplateOption& o : t_.options) names.push_back(o.name);
      if (contains(names, name)) continue;
      auto& d = diags_.error(where_, "template-option", fmt::format("the template has no option '{}'", name));
      for (const std::string& near : closest(name, names)) d.help(fmt::format("did you mean '{}'?", near));
      return false;
    }
    for (const TemplateOption& option : t_.options) {
      auto given = values_.options.find(option.name);
      std::string value = given != values_.options.end() ? given->second : preset_of(option);
      // What is given, and what follows from something that is given, such as the project's path.
      bool from_user = given != values_.options.end() || (option.preset.is_object() && option.preset.contains("model"));
      if (from_user && !valid(option, value)) return false;
      if (option.type == "bool") value = value == "true" || value == "1" ? "1" : "0";
      options_[option.name] = value;
    }
    return true;
  }

  std::string preset_of(const TemplateOption& option) const {
    const auto& preset = option.preset;
    if (preset.is_string()) return preset.get<std::string>();
    if (!preset.is_object()) return aotc::json_text(preset);
    if (preset.value("board", "") == "semihosting") return board_.has_chip() ? "false" : "true";
    if (!preset.contains("model")) return board_.field(preset.value("board", ""));
    const std::string name = preset["model"];
    if (auto it = values_.model.find(name); it != values_.model.end()) return it->second;
    if (auto it = values_.keys.find(name); it != values_.keys.end()) return it->second;
    return "";
  }

  bool valid(const TemplateOption& option, const std::string& value) {
    auto bad = [&](const std::string& wanted) {
      diags_.error(where_, "template-option",
                   fmt::format("option '{}' is '{}', expected {}", option.name, escape_for_display(value), wanted));
      return false;
    };
    if (option.type == "enum" && !contains(option.values, value)) return bad("one of " + joined(option.values));
    if (option.type == "bool" && value != "true" && value != "false" && value != "1" && value != "0")
      return bad("true or false");
    if (option.type == "bytes" &&
        (value.empty() || value.size() > 12 || value.find_first_not_of("0123456789") != std::string::npos))
      return bad("a number of bytes");
    if (option.type == "name" &&
        (value.empty() || value.size() > 63 ||
         value.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") !=
             std::string::npos))
      return bad("a name: letters, digits, _ - . (at most 63)");
    if (option.type == "string" && std::any_of(value.begin(), value.end(), [](char c) {
          return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
        }))
      return bad("one line of text");
    // A board without memories of its own, this machine, has nothing to choose from.
    if (option.type != "memory" || (value.empty() && board_.memories.empty())) return true;
    for (const Memory& m : board_.memories)
      if (m.name == value && !m.flash) return is_set_up(m);
    return bad("the name of a RAM of the board");
  }

  // A framework sets up the memories into which its sections lead.
  bool is_set_up(const Memory& m) {
    auto given = values_.options.find("memory_setup");
    const bool promised = given != values_.options.end() && (given->second == "true" || given->second == "1");
    if (m.setup.empty() || promised || !t_.framework.empty()) return true;
    report_memory_setup(where_, board_, m, t_, diags_);
    return false;
  }

  bool evaluate_keys() {
    for (const TemplateKey& key : t_.keys) {
      std::string value;
      if (key.from == "option") {
        value = options_[key.option];
        // A line of a manifest around it, or none.
        if (const size_t at = key.field.find("{}"); at != std::string::npos && !value.empty())
          value = key.field.substr(0, at) + json_text(value) + key.field.substr(at + 2);
      } else if (key.from == "template") {
        const TemplateSources* platform = find(t_.platforms, board_.platform);
        if (key.name != "part_sources" && platform == nullptr) {
          fail("template-key",
               fmt::format("key '{}' belongs to platforms, but the template has no platforms", key.name));
          return false;
        }
        value = key.name == "part_sources" ? part_sources() : joined(platform->sources);
      } else if (auto given = values_.keys.find(key.name); given != values_.keys.end()) {
        value = given->second;
      } else if (key.name == "memory_map") {
        for (const Memory& m : board_.memories)
          value += fmt::format("{}    {} (rwx) : ORIGIN = {}, LENGTH = {}", value.empty() ? "" : "\n", m.name, m.origin,
                               m.size);
      } else if (key.name == "memory_sections") {
        for (const Memory& m : board_.memories) value += (value.empty() ? "" : "\n") + output_sections(m);
      } else if (key.name == "memory_copies") {
        for (const Memory& m : board_.memories)
          if (!m.flash) value += fmt::format(" LONG(LOADADDR(.{0})) LONG(__{0}_start) LONG(__{0}_end)", m.lower_name());
      } else if (key.name == "clock_is_instructions") {
        value = board_.field("clock.unit") == "instructions" ? "1" : "0";
      } else if (key.name == "memory_setups") {
        for (const Memory& m : board_.memories)
          if (!m.setup.empty())
            value += fmt::format("{} * {} at {}: {}.", value.empty() ? "" : "\n", m.name, m.origin, board_.setup_of(m));
        if (value.empty()) value = " * This board has none.";
      } else if (key.name == "stand_in_hz") {
        value = board_.stand_in ? board_.field(key.field) : "0";
      } else if (key.name == "chip_definitions") {
        value = chip_definitions(board_);
      } else if (key.name == "uart_base") {
        value = board_.field("console.base");
        if (value.empty()) value = "0x0";
      } else if (!key.field.empty()) {
        value = board_.field(key.field);
      } else {
        diags_.error(where_, "template-key", fmt::format("no value for key '{}'", key.name));
        return false;
      }
      keys_[key.name] = value;
    }
    return true;
  }

  // What leads into a memory by name. Two dots: no compiler gives a variable's section such a name.
  static std::string output_sections(const Memory& m) {
    if (m.flash) return fmt::format("    .{0} : {{ *(.{0} .{0}.*) }} > {1}", m.lower_name(), m.name);
    return fmt::format(
        "    .{0} : {{ . = ALIGN(8); __{0}_start = .; *(.{0} .{0}.*) . = ALIGN(8); __{0}_end = .; }} "
        "> {1} AT> CODE\n    .bss..{0} (NOLOAD) : {{ *(.bss..{0}) }} > {1}",
        m.lower_name(), m.name);
  }

  std::string part_sources() const {
    std::vector<std::string> all;
    for (const std::string& part : parts_)
      for (const std::string& source : find(t_.parts, part)->sources) all.push_back(source);
    return joined(all);
  }

  // Files that are not for this board are read and substituted too: they may not rot either.
  bool add_files() {
    for (const TemplateFile& file : t_.files) {
      auto text = read_template_file(source_, file.kind, file.from, diags_);
      std::string path = file.path;
      if (!text || !substitute("a path", path) || !substitute(file.from, *text)) return false;
      bool wanted = (file.platforms.empty() || contains(file.platforms, board_.platform)) &&
                    (file.part.empty() || parts_.contains(file.part));
      if (!wanted) continue;
      if (!stays_inside(path)) {
        fail("template-invalid", fmt::format("'{}' is not a path of a file in the project", path));
        return false;
      }
      if (!out_.files.emplace(path, std::move(*text)).second) {
        fail("template-key", fmt::format("two files have the name '{}'", path));
        return false;
      }
    }
    return true;
  }

  bool add_folders_and_commands() {
    out_.model_folder = t_.model_folder;
    out_.runtime_folder = t_.runtime_folder;
    for (std::string* folder : {&out_.model_folder, &out_.runtime_folder}) {
      if (!substitute("a folder", *folder)) return false;
      if (folder->empty()) continue;
      if (!stays_inside(*folder)) {
        fail("template-invalid", fmt::format("'{}' is not a folder in the project", *folder));
        return false;
      }
      *folder += "/";
    }
    out_.configure = t_.configure;
    out_.build = t_.build;
    out_.flash = t_.flash;
    out_.flash_port = t_.flash_port;
    for (auto* command : {&out_.configure, &out_.build, &out_.flash})
      for (std::string& word : *command)
        if (!substitute("a command", word)) return false;
    // A board that the framework does not know leaves something out that the command needs.
    if (std::find(out_.build.begin(), out_.build.end(), "") != out_.build.end()) {
      out_.configure.clear();
      out_.build.clear();
      out_.flash.clear();
    }
    out_.semihosting = options_["semihosting"] == "1" && !board_.is_host();
    out_.image = t_.image;
    out_.model_file = t_.model_file;
    if (!substitute("the image", out_.image)) return false;
    if (!t_.has_image(board_.platform) || out_.build.empty()) out_.image.clear();
    return true;
  }

  // Whether a key, from @ to @, has its line to itself.
  static bool alone_on_line(const std::string& text, size_t first, size_t last) {
    const size_t before = first == 0 ? std::string::npos : text.find_last_not_of(' ', first - 1);
    return (before == std::string::npos ? text.find('\n') != std::string::npos : text[before] == '\n') &&
           (last + 1 == text.size() || text[last + 1] == '\n');
  }

  bool substitute(const std::string& what, std::string& text) {
    std::string out;
    for (size_t i = 0; i < text.size();) {
      size_t end =
          text[i] == '@' ? text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_", i + 1) : std::string::npos;
      bool is_key =
          end != std::string::npos && text[end] == '@' && end > i + 1 && text[i + 1] >= 'a' && text[i + 1] <= 'z';
      if (!is_key) {
        out += text[i++];
        continue;
      }
      std::string key = text.substr(i + 1, end - i - 1);
      auto value = keys_.find(key);
      if (value == keys_.end()) {
        const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(i), '\n');
        diags_.error(where_, "template-key",
                     fmt::format("{} uses the undeclared key '{}'{}", what, key,
                                 text.find('\n') == std::string::npos ? "" : fmt::format(" in line {}", line)));
        return false;
      }
      used_.insert(key);
      if (alone_on_line(text, i, end)) {
        // Lines of its own, as they are; nothing leaves no line behind.
        out += value->second;
        if (value->second.empty())
          while (!out.empty() && out.back() == ' ') out.pop_back();
        i = end + (value->second.empty() && end + 1 < text.size() ? 2 : 1);
        continue;
      }
      out += what.ends_with(".json") ? json_text(value->second) : value->second;
      i = end + 1;
    }
    text = std::move(out);
    return true;
  }

  const TemplateSource& source_;
  const TemplateDescription& t_;
  const Board& board_;
  const Values& values_;
  Diagnostics& diags_;
  Location where_;
  std::map<std::string, std::string> options_, keys_;
  std::set<std::string> parts_;
  std::set<std::string> used_;
  Rendered out_;
};

}  // namespace

Result<Rendered> render_template(const TemplateSource& source, const TemplateDescription& description,
                                 const Board& board, const Values& values, Diagnostics& diags) {
  return Renderer(source, description, board, values, diags).run();
}

}  // namespace aotc::project
