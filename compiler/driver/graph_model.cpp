// SPDX-License-Identifier: Apache-2.0
#include "driver/graph_model.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/given_reference.h"
#include "driver/operator_sources.h"
#include "driver/temporary.h"
#include "frontends/frontend.h"
#include "mlf/archive.h"
#include "mlf/metadata.h"
#include "ops/external/external.h"
#include "ops/operator.h"
#include "passes/devices.h"
#include "support/files.h"

namespace aotc::driver {

namespace {

namespace fs = std::filesystem;

constexpr size_t kMostHeaders = 1000;
constexpr uint64_t kMostSourceBytes = uint64_t{16} << 20;
// What the C runtime may add to the blocks of one operator: metadata has the sum of their sizes.
constexpr int64_t kBlocks = 512;
constexpr char kSources[] = "codegen/host/src/";

std::string base_name(const std::string& path) { return fs::path(path).filename().string(); }

std::string text_of(const std::vector<uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

bool is_c(const std::string& path) { return path.ends_with(".c"); }

// The names of a text's #include "NAME" lines.
std::vector<std::string> quoted_includes(const std::string& text) {
  std::vector<std::string> out;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    at = end + 1;
    auto skip = [&](size_t i) { return std::min(line.find_first_not_of(" \t", i), line.size()); };
    size_t i = skip(0);
    if (i >= line.size() || line[i] != '#') continue;
    i = skip(i + 1);
    if (line.compare(i, 7, "include") != 0) continue;
    i = skip(i + 7);
    size_t close = i < line.size() && line[i] == '"' ? line.find('"', i + 1) : std::string::npos;
    if (close != std::string::npos) out.push_back(line.substr(i + 1, close - i - 1));
  }
  return out;
}

// The library that an executor would look functions up in; the emitted model has its own.
bool is_registry(const std::string& text) { return text.find("TVMSystemLibEntryPoint") != std::string::npos; }

// Files under the names they will have beside the model.
class SourceSet {
 public:
  explicit SourceSet(Diagnostics& diags) : diags_(diags) {}

  // A source, with the headers in its directory that it includes if it is the user's.
  Status add_file(const std::string& path, bool has_operators, bool with_headers) {
    auto bytes = read_file(path, diags_, kMostSourceBytes);
    if (!bytes) return kFailure;
    if (!has_operators && is_registry(text_of(*bytes))) return success();
    std::string name = base_name(path);
    for (int n = 2; out_.contains(name); ++n) name = fmt::format("operators_{}_{}", n, base_name(path));
    out_[name] = text_of(*bytes);
    return with_headers ? add_headers(path, out_[name]) : success();
  }

  std::map<std::string, std::string> take() { return std::move(out_); }

 private:
  Status add_headers(const std::string& includer, const std::string& text) {
    for (const std::string& name : quoted_includes(text)) {
      fs::path path = fs::path(includer).parent_path() / name;
      std::error_code ec;
      if (!fs::is_regular_file(path, ec) || headers_.contains(path.lexically_normal())) continue;
      Location where;
      where.file = includer;
      if (fs::path(name).has_parent_path()) {
        diags_
            .error(
                where, "operator-header",
                fmt::format("the source includes \"{}\", which is not in the same directory", escape_for_display(name)))
            .help("put the header beside the source, or name its directory with --operator-include");
        return kFailure;
      }
      headers_.insert(path.lexically_normal());
      auto bytes = read_file(path.string(), diags_, kMostSourceBytes);
      if (!bytes) return kFailure;
      std::string content = text_of(*bytes);
      auto [at, fresh] = out_.try_emplace(name, content);
      if (headers_.size() > kMostHeaders) {
        diags_
            .error(where, "operator-header",
                   fmt::format("the operators include more than {} headers; the last one is \"{}\"", kMostHeaders,
                               escape_for_display(name)))
            .help("put what the operators need into fewer headers");
        return kFailure;
      }
      if (!fresh && at->second != content) {
        diags_
            .error(where, "operator-header",
                   fmt::format("the source includes \"{}\", but there are several headers with this name",
                               escape_for_display(name)))
            .help("give each header a unique name");
        return kFailure;
      }
      if (fresh && !add_headers(path.string(), content)) return kFailure;
    }
    return success();
  }

  Diagnostics& diags_;
  std::map<std::string, std::string> out_;
  std::set<fs::path> headers_;
};

// Every external operator is called as its definition wants it. `used`: files of those definitions.
Status bind_operators(graph::Graph& graph, const OperatorSources& sources, std::set<std::string>& used,
                      Diagnostics& diags) {
  bool good = true;
  std::set<std::string> failed;
  for (graph::Op& op : graph.ops) {
    for (graph::Graph& region : op.regions) good = bind_operators(region, sources, used, diags) && good;
    if (!ops::definition_of(op).traits().external) continue;
    auto attributes = std::make_shared<ops::ExternalAttrs>(op.attrs<ops::ExternalAttrs>());
    std::vector<OperatorTensor> tensors;
    for (graph::TensorId id : op.operands)
      if (id.valid()) tensors.push_back({graph[id].type.dtype, false, graph[id].name});
    for (graph::TensorId id : op.results) tensors.push_back({graph[id].type.dtype, true, graph[id].name});
    if (failed.contains(attributes->symbol)) continue;  // one message for each function
    auto checked = check_operator(sources, attributes->symbol, tensors, op.location, diags);
    if (!checked) {
      failed.insert(attributes->symbol);
      good = false;
      continue;
    }
    used.insert(checked->function->where.file);
    attributes->convention = checked->convention;
    attributes->context = checked->takes_context && checked->convention != CallingConvention::kPacked;
    op.attributes = std::move(attributes);
  }
  return good ? success() : Status(kFailure);
}

// Messages about files that were unpacked for the analysis, as messages about the archive's.
void report_unpacked(const Diagnostics& from, const std::string& directory, const std::string& archive,
                     Diagnostics& to) {
  auto named = [&](std::string text) {
    for (size_t at; (at = text.find(directory + "/")) != std::string::npos;)
      text.replace(at, directory.size() + 1, archive + ":" + kSources);
    return text;
  };
  for (Diagnostic d : from.all()) {
    d.location.file = named(d.location.file);
    Diagnostic& made = d.severity == Severity::kError ? to.error(d.location, d.slug, named(d.message))
                                                      : to.warning(d.location, d.slug, named(d.message));
    for (const std::string& note : d.notes) made.note(named(note));
    for (const std::string& help : d.helps) made.help(named(help));
  }
}

// The members of an archive that a graph needs.
struct Members {
  std::string graph, params;
  std::vector<std::string> sources;
};

// Their places differ between versions of the format; the newest first.
Result<Members> find_members(const mlf::Archive& archive, const std::string& path, Diagnostics& diags) {
  Members out;
  std::vector<std::string> graphs;
  for (const auto& [name, bytes] : archive.files) {
    bool in_graph = name.starts_with("executor-config/graph/") || name.starts_with("runtime-config/graph/");
    if (in_graph && (name.ends_with(".graph") || name.ends_with(".json"))) graphs.push_back(name);
    bool source = name.starts_with(kSources) && is_c(name);
    if (source && name.find('/', std::strlen(kSources)) == std::string::npos) out.sources.push_back(name);
  }
  Location where;
  where.file = path;
  if (graphs.size() != 1) {
    Diagnostic& d = diags.error(where, "graph-none",
                                graphs.empty() ? "the archive has no graph" : "the archive has several graphs");
    if (graphs.empty())
      d.help("only archives of TVM's graph executor have a graph; 'aotc mlf inspect' shows the executor");
    else d.help("extract the archive with 'aotc mlf extract', and compile one graph with --params and --operators");
    for (const std::string& name : graphs) d.note(escape_for_display(name));
    return kFailure;
  }
  out.graph = graphs[0];
  std::string stem = fs::path(out.graph).stem().string();
  std::vector<std::string> params;
  for (const auto& [name, bytes] : archive.files)
    if (name.starts_with("parameters/") && name.ends_with(".params")) params.push_back(name);
  std::string same = "parameters/" + stem + ".params";
  if (std::find(params.begin(), params.end(), same) != params.end()) out.params = same;
  else if (params.size() == 1) out.params = params[0];
  return out;
}

// Graphs have no names of outputs, metadata has; where there is one, it is clear whose name it is.
void name_output(const mlf::Archive& archive, graph::Graph& graph) {
  auto info = mlf::modules_of(archive);
  if (graph.outputs.size() != 1 || info.size() != 1 || info[0].outputs.size() != 1) return;
  graph.outputs[0].name = info[0].outputs[0].name;
}

Result<std::vector<tvm::Param>> read_params_file(const std::string& path, Diagnostics& diags) {
  if (path.empty()) return std::vector<tvm::Param>();
  auto bytes = read_file(path, diags);
  if (!bytes) return kFailure;
  return tvm::read_params(*bytes, path, diags);
}

// The archive's sources beside the user's, analysed where they are for a moment.
Status bind_archive(mlf::Archive& archive, const Members& members, const CompileOptions& options, GraphModel& out,
                    Diagnostics& diags) {
  TemporaryDirectory directory;
  if (!directory.made(diags)) return kFailure;
  std::vector<std::string> files;
  for (const std::string& name : members.sources) {
    files.push_back(directory.path() + "/" + base_name(name));
    if (!write_scratch_file(files.back(), text_of(archive.files[name]), diags)) return kFailure;
  }
  size_t unpacked = files.size();
  files.insert(files.end(), options.operators.begin(), options.operators.end());
  Diagnostics found;
  std::set<std::string> used;
  auto sources = read_operator_sources(files, options.include_dirs, found);
  bool good = sources.ok() && bind_operators(out.graph, *sources, used, found).ok();
  report_unpacked(found, directory.path(), options.model_path, diags);
  if (!good) return kFailure;
  SourceSet set(diags);
  for (size_t i = 0; i < files.size(); ++i)
    if (!set.add_file(files[i], used.contains(files[i]), i >= unpacked)) return kFailure;
  out.operators.files = set.take();
  return success();
}

// The archive's graph with the archive's parameters, or those given.
Status read_member_graph(mlf::Archive& archive, const Members& members, const CompileOptions& options, GraphModel& out,
                         Diagnostics& diags) {
  const std::string& path = options.model_path;
  auto params = options.params_path.empty() && !members.params.empty()
                    ? tvm::read_params(archive.files[members.params], path + ":" + members.params, diags)
                    : read_params_file(options.params_path, diags);
  if (!params) return kFailure;
  auto graph = graph_json::read_graph_json(text_of(archive.files[members.graph]), path + ":" + members.graph,
                                           std::move(*params), &out.info, diags);
  if (!graph) return kFailure;
  out.graph = std::move(*graph);
  name_output(archive, out.graph);
  return success();
}

Result<GraphModel> load_archive(const std::vector<uint8_t>& bytes, const CompileOptions& options, bool with_operators,
                                Diagnostics& diags) {
  const std::string& path = options.model_path;
  auto archive = mlf::read_archive_bytes(bytes, path, diags, mlf::kFullModel);
  if (!archive) return kFailure;
  auto members = find_members(*archive, path, diags);
  if (!members) return kFailure;
  GraphModel out;
  if (!read_member_graph(*archive, *members, options, out, diags)) return kFailure;
  if (!with_operators) return out;
  if (!bind_archive(*archive, *members, options, out, diags)) return kFailure;
  for (const mlf::ModuleInfo& module : mlf::modules_of(*archive))
    for (const mlf::FunctionWorkspace& f : module.functions)
      if (f.bytes > 0) out.operators.workspace_bytes = std::max(out.operators.workspace_bytes, f.bytes + kBlocks);
  return out;
}

Result<GraphModel> load_json(const std::vector<uint8_t>& bytes, const CompileOptions& options, Diagnostics& diags) {
  auto params = read_params_file(options.params_path, diags);
  if (!params) return kFailure;
  GraphModel out;
  auto graph = graph_json::read_graph_json(text_of(bytes), options.model_path, std::move(*params), &out.info, diags);
  if (!graph) return kFailure;
  out.graph = std::move(*graph);
  if (options.operators.empty()) return out;
  auto sources = read_operator_sources(options.operators, options.include_dirs, diags);
  std::set<std::string> used;
  if (!sources || !bind_operators(out.graph, *sources, used, diags)) return kFailure;
  SourceSet set(diags);
  for (const std::string& path : options.operators)
    if (!set.add_file(path, used.contains(path), true)) return kFailure;
  out.operators.files = set.take();
  return out;
}

// The numbers of the column device_index are types of devices: those of the description with the
// same type, where there is one.
Status name_devices(GraphModel& model, const CompileOptions& options, Diagnostics& diags) {
  if (options.devices_text.empty()) return success();
  auto set = passes::parse_devices(options.devices_text, options.devices_path, diags);
  if (!set) return kFailure;
  std::vector<int> device;
  for (size_t i = 0; i < model.info.device_numbers.size(); ++i) {
    device.push_back(static_cast<int>(i));
    for (size_t k = set->devices.size(); k-- > 0;)
      if (set->devices[k].type == model.info.device_numbers[i]) device.back() = static_cast<int>(k);
  }
  auto rename = [&](int& d) { d = device[static_cast<size_t>(d)]; };
  for (graph::Tensor& tensor : model.graph.tensors) rename(tensor.device);
  for (graph::Op& op : model.graph.ops) rename(op.device);
  return success();
}

}  // namespace

ModelKind kind_of(const std::string& path, std::span<const uint8_t> bytes) {
  auto at = [&](size_t offset, std::string_view text) {
    return bytes.size() >= offset + text.size() && std::memcmp(bytes.data() + offset, text.data(), text.size()) == 0;
  };
  if (frontends::recognise(bytes) != nullptr) return ModelKind::kModel;
  if (at(257, "ustar")) return ModelKind::kArchive;
  size_t first = 0;
  while (first < bytes.size() && bytes[first] <= ' ') ++first;
  if (first < bytes.size() && bytes[first] == '{') return ModelKind::kGraphJson;
  if (path.ends_with(".tar")) return ModelKind::kArchive;
  if (path.ends_with(".json") || path.ends_with(".graph")) return ModelKind::kGraphJson;
  return ModelKind::kModel;
}

Result<GraphModel> load_graph_model(ModelKind kind, const std::vector<uint8_t>& bytes, const CompileOptions& options,
                                    Diagnostics& diags) {
  auto model =
      kind == ModelKind::kArchive ? load_archive(bytes, options, true, diags) : load_json(bytes, options, diags);
  if (model && options.operator_workspace >= 0) model->operators.workspace_bytes = options.operator_workspace;
  if (!model || !name_devices(*model, options, diags) || !ops::verify_graph(model->graph, diags)) return kFailure;
  return model;
}

Result<GivenModelOperators> load_given_operators(const CompileOptions& options, Diagnostics& diags) {
  auto from = operator_files(options.operators, diags);
  if (!from) return kFailure;
  GivenModelOperators out;
  bool good = true;
  for (const std::string& path : from->descriptions) good = read_description(path, out.operators, diags) && good;
  SourceSet set(diags);
  for (const std::string& path : from->sources) {
    if (path.ends_with(".c")) {
      good = set.add_file(path, true, true) && good;
      continue;
    }
    Location where;
    where.file = path;
    diags.error(where, "operator-description", "the file is not a C source")
        .help("give a C source (.c), or the description of its operators (.json)");
    good = false;
  }
  for (const std::string& path : from->descriptions) good = set.add_file(path, true, false) && good;
  if (!good) return kFailure;
  auto functions = read_operator_sources(from->sources, options.include_dirs, diags);
  if (!functions) return kFailure;
  out.functions = std::move(*functions);
  out.files = set.take();
  out.operators.reference = std::make_shared<GivenReference>(out.files, options.include_dirs);
  return out;
}

Status bind_given_operators(graph::Graph& graph, const GivenModelOperators& given, Diagnostics& diags) {
  std::set<std::string> used;
  return bind_operators(graph, given.functions, used, diags);
}

Result<GraphModel> read_archived_graph(const std::vector<uint8_t>& bytes, const CompileOptions& options,
                                       Diagnostics& diags) {
  return load_archive(bytes, options, false, diags);
}

}  // namespace aotc::driver
