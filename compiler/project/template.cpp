#include "project/template.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "project/embedded.h"
#include "support/files.h"
#include "support/text.h"

namespace aotc::project {

namespace {

class Renderer {
 public:
  Renderer(const TemplateSource& source, const Board& board, const Values& values,
           Diagnostics& diags)
      : source_{kind_folder(source.kind), source.override_dir},
        board_(board),
        values_(values),
        diags_(diags) {
    where_.file = "template " + source.kind;
  }

  Result<Rendered> run() {
    if (!load() || !choose_platform() || !choose_parts() || !evaluate_options() || !evaluate_keys()) return kFailure;
    std::set<std::string> used;
    for (const auto& file : json_["files"]) {
      std::string path = file["path"];
      auto text = read(path, file.value("template", source_.kind));
      if (!text) return kFailure;
      bool wanted = (!file.contains("platforms") || contains(file["platforms"], board_.platform)) &&
                    (!file.contains("part") || values_.parts.contains(file["part"].get<std::string>()));
      if (!substitute(path, *text, used)) return kFailure;
      if (wanted) out_.files[path] = *text;
    }
    for (const auto& [key, value] : keys_)
      if (!used.contains(key)) return fail("template-key", fmt::format("key '{}' is used in no file", key));
    out_.model_folder = json_.value("model_folder", "model");
    out_.runtime_folder = json_.value("runtime_folder", "runtime");
    if (json_.contains("build")) {
      out_.build.configure = json_["build"]["configure"].get<std::vector<std::string>>();
      out_.build.build = json_["build"]["build"].get<std::vector<std::string>>();
      out_.build.image = json_["build"]["image"];
    }
    return std::move(out_);
  }

  Result<std::string> options_text() {
    if (!load()) return kFailure;
    std::string out;
    for (const auto& [name, option] : json_["options"].items()) {
      const auto& d = option["default"];
      std::string shown = d.is_string()          ? d.get<std::string>()
                          : d.contains("board")  ? "from the board's " + d.value("board", "")
                          : d.is_object()        ? "what the operators need"
                                                 : d.dump();
      out += fmt::format("  {:<14} {} ({}; default: {})\n", name, option.value("help", ""),
                         option.value("type", ""), shown);
    }
    return out;
  }

 private:
  static bool contains(const nlohmann::json& list, const std::string& value) {
    for (const auto& v : list)
      if (v == value) return true;
    return false;
  }

  Failure fail(const char* slug, const std::string& message) {
    diags_.error(where_, slug, message);
    return kFailure;
  }

  // `kind`: the template that has the file, which may be another one.
  Result<std::string> read(const std::string& path, const std::string& kind) {
    if (!source_.override_dir.empty()) {
      auto bytes = read_file(source_.override_dir + "/" + kind + "/" + path, diags_);
      if (!bytes) return kFailure;
      return std::string(bytes->begin(), bytes->end());
    }
    const EmbeddedFile* f = find_embedded("templates/" + kind + "/" + path);
    if (!f) return fail("template-unknown", fmt::format("the template has no file '{}'", path));
    return std::string(f->content);
  }

  bool load() {
    if (source_.override_dir.empty() && !find_embedded("templates/" + source_.kind + "/template.json")) {
      auto& d = diags_.error(where_, "template-unknown", "there is no such project kind");
      std::string all;
      for (const std::string& k : template_kinds()) all += (all.empty() ? "" : ", ") + k;
      d.help("kinds: " + all);
      return false;
    }
    auto text = read("template.json", source_.kind);
    if (!text) return false;
    json_ = nlohmann::json::parse(*text, nullptr, false);
    if (json_.is_discarded() || !json_.contains("files")) {
      fail("template-key", "template.json is not valid JSON or lists no files");
      return false;
    }
    return true;
  }

  bool choose_platform() {
    if (json_.contains("platforms") && json_["platforms"].contains(board_.platform)) return true;
    diags_.error(where_, "template-board",
                 fmt::format("has no support for board '{}' (platform {})", board_.name, board_.platform));
    return false;
  }

  bool choose_parts() {
    for (const std::string& part : values_.parts)
      if (!json_.contains("parts") || !json_["parts"].contains(part)) {
        fail("template-board", fmt::format("has no part '{}', which this model needs", part));
        return false;
      }
    return true;
  }

  bool evaluate_options() {
    for (const auto& [name, value] : values_.options)
      if (!json_["options"].contains(name)) {
        std::vector<std::string> names;
        for (const auto& [n, o] : json_["options"].items()) names.push_back(n);
        auto& d = diags_.error(where_, "template-option", fmt::format("has no option '{}'", name));
        for (const std::string& near : closest(name, names)) d.help(fmt::format("did you mean '{}'?", near));
        return false;
      }
    for (const auto& [name, option] : json_["options"].items()) {
      auto given = values_.options.find(name);
      std::string value;
      if (given != values_.options.end()) {
        value = given->second;
        if (!valid_option(name, option, value)) return false;
      } else if (option["default"].contains("model")) {
        auto known = values_.model.find(option["default"]["model"]);
        if (known != values_.model.end()) value = known->second;
      } else if (option["default"].is_object()) {
        value = board_.field(option["default"].value("board", ""));
      } else {
        value = option["default"].is_string() ? option["default"].get<std::string>() : option["default"].dump();
      }
      if (option["type"] == "bool") value = value == "true" || value == "1" ? "1" : "0";
      option_values_[name] = value;
    }
    return true;
  }

  bool valid_option(const std::string& name, const nlohmann::json& option, const std::string& value) {
    std::string type = option["type"];
    auto bad = [&](const std::string& wanted) {
      diags_.error(where_, "template-option",
                   fmt::format("option '{}' is '{}', expected {}", name, value, wanted));
      return false;
    };
    if (type == "enum" && !contains(option["values"], value)) return bad(option["values"].dump());
    if (type == "bool" && value != "true" && value != "false" && value != "1" && value != "0")
      return bad("true or false");
    if (type == "bytes" && (value.empty() || value.find_first_not_of("0123456789") != std::string::npos))
      return bad("a number of bytes");
    if (type == "memory") {
      for (const Memory& m : board_.memories)
        if (m.name == value) return true;
      return bad("the name of a memory of the board");
    }
    return true;
  }

  bool evaluate_keys() {
    for (const auto& [key, source] : json_["keys"].items()) {
      std::string from = source["from"];
      if (from == "option") {
        keys_[key] = option_values_[source["option"]];
      } else if (from == "template") {
        keys_[key] = key == "part_sources" ? part_sources()
                                           : joined(json_["platforms"][board_.platform]["sources"]);
      } else if (auto given = values_.keys.find(key); given != values_.keys.end()) {
        keys_[key] = given->second;
      } else if (key == "memory_map") {
        std::string map;
        for (const Memory& m : board_.memories)
          map += fmt::format("{}    {} (rwx) : ORIGIN = {}, LENGTH = {}", map.empty() ? "" : "\n", m.name,
                             m.origin, m.size);
        keys_[key] = map;
      } else if (key == "clock_is_instructions") {
        keys_[key] = board_.field("clock.unit") == "instructions" ? "1" : "0";
      } else if (key == "uart_base") {
        std::string base = board_.field("console.base");
        keys_[key] = base.empty() ? "0x0" : base;
      } else if (source.contains("field")) {
        keys_[key] = board_.field(source["field"]);
      } else {
        diags_.error(where_, "template-key", fmt::format("no value for key '{}'", key));
        return false;
      }
    }
    return true;
  }

  static std::string joined(const nlohmann::json& words) {
    std::string out;
    for (const auto& word : words) out += (out.empty() ? "" : " ") + word.get<std::string>();
    return out;
  }

  std::string part_sources() {
    nlohmann::json all = nlohmann::json::array();
    for (const std::string& part : values_.parts)
      for (const auto& source : json_["parts"][part]["sources"]) all.push_back(source);
    return joined(all);
  }

  bool substitute(const std::string& path, std::string& text, std::set<std::string>& used) {
    std::string out;
    for (size_t i = 0; i < text.size();) {
      size_t end = text[i] == '@' ? text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_", i + 1)
                                  : std::string::npos;
      bool is_key = end != std::string::npos && text[end] == '@' && end > i + 1 &&
                    text[i + 1] >= 'a' && text[i + 1] <= 'z';
      if (!is_key) {
        out += text[i++];
        continue;
      }
      std::string key = text.substr(i + 1, end - i - 1);
      auto value = keys_.find(key);
      if (value == keys_.end()) {
        diags_.error(where_, "template-key", fmt::format("{} uses the undeclared key '{}'", path, key));
        return false;
      }
      used.insert(key);
      out += value->second;
      i = end + 1;
    }
    text = std::move(out);
    return true;
  }

  const TemplateSource source_;
  const Board& board_;
  const Values& values_;
  Diagnostics& diags_;
  Location where_;
  nlohmann::json json_;
  std::map<std::string, std::string> option_values_, keys_;
  Rendered out_;
};

}  // namespace

std::vector<std::string> template_kinds() {
  std::vector<std::string> out;
  constexpr std::string_view kFile = "/template.json";
  for (const EmbeddedFile* f : embedded_below("templates/"))
    if (f->path.ends_with(kFile))
      out.emplace_back(f->path.substr(10, f->path.size() - 10 - kFile.size()));
  return out;
}

std::string kind_folder(const std::string& kind) {
  std::string out = kind;
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

std::string kind_takes(const TemplateSource& source) {
  Diagnostics unread;  // whoever renders the template says what is wrong with it
  std::string text;
  const std::string path = kind_folder(source.kind) + "/template.json";
  if (!source.override_dir.empty()) {
    auto bytes = read_file(source.override_dir + "/" + path, unread, 1 << 20);
    if (bytes) text.assign(bytes->begin(), bytes->end());
  } else if (const EmbeddedFile* f = find_embedded("templates/" + path)) {
    text = f->content;
  }
  auto json = nlohmann::json::parse(text, nullptr, false);
  return json.is_object() ? json.value("takes", "model") : "model";
}

Result<Rendered> render_template(const TemplateSource& source, const Board& board,
                                 const Values& values, Diagnostics& diags) {
  return Renderer(source, board, values, diags).run();
}

Result<std::string> describe_options(const TemplateSource& source, Diagnostics& diags) {
  Board none;
  Values values;
  return Renderer(source, none, values, diags).options_text();
}

}  // namespace aotc::project
