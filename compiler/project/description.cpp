// SPDX-License-Identifier: Apache-2.0
#include "project/description.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "project/embedded.h"
#include "support/files.h"
#include "support/json.h"
#include "support/text.h"

namespace aotc::project {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFolder = "templates/";
constexpr std::string_view kFile = "/template.json";

Location place_of(const TemplateSource& source) {
  Location where;
  where.file = "template " + kind_folder(source.kind);
  return where;
}

// Reads the fields of one template.json. A field that it does not know is an error: it would be a
// misspelt one that silently did nothing.
class Reader {
 public:
  Reader(const Json& json, std::string kind) : json_(json) { out_.kind = std::move(kind); }

  // An empty text, or what is wrong.
  std::string read() {
    known(json_, "template.json",
          {"title", "takes", "framework", "board", "model_file", "verify", "models", "platforms", "parts", "files",
           "keys", "options", "model_folder", "runtime_folder", "build", "tool", "proof"});
    out_.title = text(json_, "title");
    out_.takes = text(json_, "takes", "model");
    out_.framework = text(json_, "framework", "");
    out_.board_optional = text(json_, "board", "required") == "optional";
    out_.model_file = flag("model_file", true);
    out_.verify = flag("verify", false);
    if (json_.contains("models")) {
      out_.models = words(json_, "models");
    } else {
      out_.models.assign(std::begin(kModelNeeds), std::end(kModelNeeds));
    }
    out_.platforms = sources("platforms");
    out_.parts = sources("parts");
    files();
    keys();
    options();
    out_.model_folder = text(json_, "model_folder", "model");
    out_.runtime_folder = text(json_, "runtime_folder", "runtime");
    build();
    out_.tool = text(json_, "tool", "");
    out_.proof = text(json_, "proof", "");
    return wrong_;
  }

  TemplateDescription take() { return std::move(out_); }

 private:
  void wrong(const std::string& message) {
    if (wrong_.empty()) wrong_ = message;
  }

  void known(const Json& object, const std::string& what, const std::set<std::string>& fields) {
    if (!object.is_object()) return wrong(what + " must be an object");
    for (const auto& [name, value] : object.items())
      if (!fields.contains(name)) wrong(fmt::format("{} has an unknown field '{}'", what, name));
  }

  std::string text(const Json& object, const char* field) {
    if (!object.is_object() || !object.contains(field)) {
      wrong(fmt::format("the field '{}' is missing", field));
      return "";
    }
    return text(object, field, "");
  }

  std::string text(const Json& object, const char* field, const char* preset) {
    if (!object.is_object() || !object.contains(field)) return preset;
    if (object[field].is_string()) return object[field].get<std::string>();
    wrong(fmt::format("the field '{}' must be a string", field));
    return "";
  }

  bool flag(const char* field, bool preset) {
    if (!json_.contains(field)) return preset;
    if (json_[field].is_boolean()) return json_[field];
    wrong(fmt::format("the field '{}' must be true or false", field));
    return preset;
  }

  std::vector<std::string> words(const Json& object, const char* field) {
    std::vector<std::string> out;
    if (!object.is_object() || !object.contains(field)) return out;
    if (!object[field].is_array()) wrong(fmt::format("the field '{}' must be a list", field));
    for (const auto& word : object[field])
      if (word.is_string()) out.push_back(word.get<std::string>());
      else wrong(fmt::format("the field '{}' must contain only strings", field));
    return out;
  }

  const Json& object(const char* field) {
    static const Json kNone = Json::object();
    if (!json_.contains(field)) return kNone;
    if (json_[field].is_object()) return json_[field];
    wrong(fmt::format("the field '{}' must be an object", field));
    return kNone;
  }

  std::vector<TemplateSources> sources(const char* field) {
    std::vector<TemplateSources> out;
    for (const auto& [name, entry] : object(field).items()) {
      known(entry, name, {"sources"});
      out.push_back({name, words(entry, "sources")});
    }
    return out;
  }

  void files() {
    if (!json_.contains("files") || !json_["files"].is_array()) return wrong("template.json lists no files");
    for (const auto& entry : json_["files"]) {
      known(entry, "a file", {"path", "from", "template", "platforms", "part"});
      TemplateFile file;
      file.path = text(entry, "path");
      file.from = text(entry, "from", file.path.c_str());
      file.kind = text(entry, "template", out_.kind.c_str());
      file.platforms = words(entry, "platforms");
      file.part = text(entry, "part", "");
      out_.files.push_back(std::move(file));
    }
  }

  void keys() {
    for (const auto& [name, entry] : object("keys").items()) {
      known(entry, "key " + name, {"from", "field", "option", "help"});
      out_.keys.push_back(
          {name, text(entry, "from"), text(entry, "field", ""), text(entry, "option", ""), text(entry, "help", "")});
    }
  }

  static bool good_preset(const Json& preset) {
    if (!preset.is_object()) return preset.is_primitive() && !preset.is_null();
    return preset.size() == 1 && (preset.contains("board") || preset.contains("model")) && preset.begin()->is_string();
  }

  void options() {
    static const std::set<std::string> kTypes = {"enum", "memory", "bool", "bytes", "name", "string"};
    for (const auto& [name, entry] : object("options").items()) {
      known(entry, "option " + name, {"type", "values", "default", "help", "off", "on"});
      TemplateOption option{name,
                            text(entry, "type"),
                            words(entry, "values"),
                            {},
                            text(entry, "help"),
                            text(entry, "off", ""),
                            text(entry, "on", "")};
      if (!kTypes.contains(option.type)) wrong(fmt::format("option '{}' has no known type", name));
      if (!entry.is_object() || !entry.contains("default")) wrong(fmt::format("option '{}' has no default", name));
      else if (!good_preset(entry["default"]))
        wrong(fmt::format("the default of option '{}' is neither a value nor from a board or a model", name));
      else option.preset = entry["default"];
      out_.options.push_back(std::move(option));
    }
    for (const TemplateKey& key : out_.keys)
      if (key.from == "option" && std::none_of(out_.options.begin(), out_.options.end(),
                                               [&](const TemplateOption& o) { return o.name == key.option; }))
        wrong(fmt::format("key '{}' refers to an option that does not exist", key.name));
  }

  void build() {
    const Json& build = object("build");
    known(build, "build",
          {"program", "install", "configure", "build", "image", "image_platforms", "flash", "flash_port", "stand_in"});
    out_.configure = words(build, "configure");
    out_.build = words(build, "build");
    out_.stand_in = build.is_object() && build.value("stand_in", Json(false)) == true;
    out_.flash = words(build, "flash");
    out_.flash_port = words(build, "flash_port");
    out_.image = text(build, "image", "");
    out_.image_platforms = words(build, "image_platforms");
    out_.install = text(build, "install", "");
  }

  const Json& json_;
  TemplateDescription out_;
  std::string wrong_;
};

std::string preset_text(const TemplateOption& option) {
  const auto& d = option.preset;
  if (d.is_string()) return d.get<std::string>().empty() ? "none" : d.get<std::string>();
  if (d.is_object() && d.contains("board")) return "from the board's " + d.value("board", "");
  if (d.is_object()) return "from the model";
  return json_text(d);
}

// Words on lines of at most 92 characters behind `indent`.
std::string wrapped(const std::string& text, size_t indent) {
  std::string out, line;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find(' ', at), text.size());
    std::string word = text.substr(at, end - at);
    if (!line.empty() && line.size() + 1 + word.size() > 92 - indent) {
      out += line + "\n" + std::string(indent, ' ');
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    at = end + 1;
  }
  return out + line;
}

}  // namespace

std::string kind_folder(const std::string& kind) {
  std::string out = kind;
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

std::vector<std::string> template_kinds(const std::string& override_dir) {
  std::vector<std::string> out;
  if (override_dir.empty()) {
    for (const EmbeddedFile* f : embedded_below(std::string(kFolder)))
      if (f->path.ends_with(kFile))
        out.emplace_back(f->path.substr(kFolder.size(), f->path.size() - kFolder.size() - kFile.size()));
    return out;
  }
  std::error_code ec;
  for (std::filesystem::directory_iterator it(override_dir, ec), end; !ec && it != end; it.increment(ec))
    if (std::filesystem::is_regular_file(it->path() / "template.json", ec))
      out.push_back(it->path().filename().string());
  std::sort(out.begin(), out.end());
  return out;
}

Result<std::string> read_template_file(const TemplateSource& source, const std::string& kind, const std::string& path,
                                       Diagnostics& diags) {
  // The runtime is no template: it is not exported, and always the one that the host speaks to.
  if (!source.override_dir.empty() && kind != "crt") {
    auto bytes = read_file(source.override_dir + "/" + kind + "/" + path, diags);
    if (!bytes) return kFailure;
    return std::string(bytes->begin(), bytes->end());
  }
  const EmbeddedFile* f = find_embedded(fmt::format("{}{}/{}", kind == "crt" ? "" : kFolder, kind, path));
  if (f) return std::string(f->content);
  diags.error(place_of(source), "template-invalid", fmt::format("there is no file '{}/{}'", kind, path));
  return kFailure;
}

Result<TemplateDescription> read_description(const TemplateSource& source, Diagnostics& diags) {
  const std::string kind = kind_folder(source.kind);
  const auto kinds = template_kinds(source.override_dir);
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
    auto& d = diags.error(place_of(source), "template-unknown", "no kind of project has this name");
    // Of a family its members, else what is spelt nearly so.
    std::vector<std::string> near;
    for (const std::string& k : kinds)
      if (k.starts_with(kind + "_")) near.push_back(k);
    if (near.empty()) near = closest(kind, kinds, 1);
    for (const std::string& k : near) d.help(fmt::format("did you mean '{}'?", dashed(k)));
    std::string all;
    for (const std::string& k : kinds) all += (all.empty() ? "" : ", ") + dashed(k);
    d.help(kinds.empty() ? "no folder in --templates holds a template.json" : "kinds: " + all);
    return kFailure;
  }
  auto text = read_template_file(source, kind, "template.json", diags);
  if (!text) return kFailure;
  Location where = place_of(source);
  if (!source.override_dir.empty()) where.file = fmt::format("{}/{}/template.json", source.override_dir, kind);
  return parse_description(*text, kind, where, diags);
}

Result<TemplateDescription> parse_description(const std::string& text, const std::string& kind, Location where,
                                              Diagnostics& diags) {
  Json json;
  std::string wrong;
  if (auto problem = parse_json(text, json)) {
    where.line = problem->place.line;
    where.column = problem->place.column;
    wrong = "template.json is not valid JSON";
    if (problem->is_number) wrong += ": " + problem->what;
  } else if (!json.is_object()) {
    wrong = "template.json must hold a JSON object";
  }
  Reader reader(json, kind);
  if (wrong.empty()) wrong = reader.read();
  if (wrong.empty()) return reader.take();
  diags.error(where, "template-invalid", wrong).help("'aotc templates export' writes the templates of aotc");
  return kFailure;
}

std::string help_text(const TemplateDescription& t) {
  std::string out = fmt::format("{}: {}\n", dashed(t.kind), t.title);
  auto row = [&](const char* name, const std::string& value) {
    if (!value.empty()) out += fmt::format("  {:<10} {}\n", name, wrapped(value, 13));
  };
  row("board", t.board_optional ? "optional"
               : !t.framework.empty()
                   ? fmt::format("a board with {}: aotc boards --framework {}", t.framework, t.framework)
                   : "");
  row("built by", t.tool);
  row("proven", t.proof);
  if (!t.options.empty()) out += "options, with --project-option NAME=VALUE:\n";
  for (const TemplateOption& o : t.options) {
    std::string values;
    for (const std::string& v : o.values) values += (values.empty() ? ": " : ", ") + v;
    out += fmt::format("  {:<14} {}\n", o.name,
                       wrapped(fmt::format("{} ({}{}; default: {})", o.help, o.type, values, preset_text(o)), 17));
  }
  return out;
}

}  // namespace aotc::project
