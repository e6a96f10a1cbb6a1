// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "frontends/onnx/import.h"
#include "frontends/onnx/values.h"
#include "frontends/onnx/written_out.h"

namespace aotc::frontends {

namespace onnx {

Importer::Importer(const Model& model, TensorReader& tensors, const std::string& file, const OnnxOptions& options,
                   graph::Graph& graph, Diagnostics& diags)
    : model_(model),
      tensors_(tensors),
      file_(file),
      options_(options),
      diags_(diags),
      builder_(graph, ops::operators()),
      graph_(graph) {}

bool Importer::error(const Location& at, std::string_view slug, std::string message, std::string help) {
  diags_.error(at, std::string(slug), std::move(message)).help(std::move(help));
  return false;
}

Location Importer::where(std::string_view tensor) const {
  Location at;
  at.file = file_;
  at.tensor = std::string(tensor.substr(0, 4096));
  return at;
}

// Of the operator sets whose changes are in the rules.
static int64_t newest_version(std::string_view domain) {
  if (domain.empty()) return kNewestOpset;
  if (domain == "ai.onnx.ml") return 5;
  return domain == "com.microsoft" || domain == "ai.onnx.preview.training" ? 1 : INT64_MAX;
}

bool Importer::read_opsets(const std::vector<Opset>& from, Versions& to) {
  for (const Opset& o : from) {
    std::string_view domain = o.domain == "ai.onnx" ? "" : o.domain;
    if (domain.empty() && o.version < kOldestOpset)
      return error(where(""), "onnx-version",
                   fmt::format("the model has operator set {}; aotc reads {} and newer", o.version, kOldestOpset),
                   "convert it: onnx.version_converter.convert_version(model, 17)");
    const int64_t newest = newest_version(domain);
    if (o.version > newest)
      return error(where(""), "onnx-version",
                   fmt::format("the model has operator set {}{}{}; the newest that aotc reads is {}", domain,
                               domain.empty() ? "" : " ", o.version, newest),
                   "export the model for an older operator set; aotc does not know the changes in newer ones");
    to[domain] = o.version;
  }
  return true;
}

bool Importer::add_initializers(const Graph& from, Scope& scope) {
  for (const Tensor& t : from.initializers) {
    Id id;
    if (t.type == kString && !builder_.is_region()) {
      if (!build(t.name, [&] { id = builder_.labels_of(t); })) return false;
      builder_.name(id, t.name);
    } else {
      graph::Tensor tensor;
      tensor.name = std::string(t.name);
      graph::ConstantView value;
      if (!tensors_.read(t, where(t.name), tensor.type, value, diags_)) return false;
      tensor.constant = std::move(value);
      id = builder_.set_element(graph_.add_tensor(std::move(tensor)), t.type);
    }
    if (t.name.empty() || !scope.values.emplace(t.name, id).second)
      return error(where(t.name), "onnx-invalid", "two constants have this name, or a constant has no name",
                   "the file is damaged; export the model again");
  }
  if (from.sparse)
    return error(where(""), "onnx-type", "the model has sparse constants", "export the model with dense constants");
  return true;
}

// The shape of an input, as the file and the user say; nothing if a dimension stays open.
std::optional<graph::Shape> Importer::shape_of(const ValueInfo& info, bool tell) {
  auto given = options_.shapes.find(std::string(info.name));
  if (given != options_.shapes.end()) return given->second;
  graph::Shape shape;
  for (size_t i = 0; i < info.dims.size(); ++i) {
    const Dimension& d = info.dims[i];
    auto named = options_.dimensions.find(std::string(d.name));
    if (d.value) {
      shape.push_back(*d.value);
    } else if (!d.name.empty() && named != options_.dimensions.end()) {
      shape.push_back(named->second);
    } else if (int64_t size = size_of_open(d, i, options_.open_size); size > 0) {
      const bool batch = i == 0 && !d.name.empty() && size_of_open(d, i, 0) == 1;
      if (tell && batch) tell_batch(d.name);
      shape.push_back(size);
    } else {
      if (tell) tell_open(info, i);
      return std::nullopt;
    }
  }
  return shape;
}

// A named dimension that is the first one wherever inputs have it.
bool Importer::is_batch(std::string_view name) const {
  if (name.empty()) return false;
  for (const ValueInfo& info : model_.graph.inputs)
    for (size_t i = 1; i < info.dims.size(); ++i)
      if (!info.dims[i].value && info.dims[i].name == name) return false;
  return true;
}

// 1 of a batch, else `size`.
int64_t Importer::size_of_open(const Dimension& d, size_t at, int64_t size) const {
  if (at == 0 && (d.name.empty() || is_batch(d.name))) return 1;
  return size > 0 && d.name.find("batch") != std::string_view::npos ? 1 : size;
}

void Importer::tell_batch(std::string_view name) {
  if (!batches_.insert(name).second) return;
  const std::string shown = escape_for_display(std::string(name));
  Diagnostic& d = diags_.warning(
      where(""), "onnx-batch",
      fmt::format("the first dimension of the inputs, '{}', has no fixed size; aotc reads it as 1", shown));
  d.severity = Severity::kNote;
  d.help(fmt::format("another size: --dim {}=N", shown));
}

// The size that makes the model one that can be read is looked for by the caller (read_onnx), who knows the file.
void Importer::tell_open(const ValueInfo& info, size_t at) {
  const std::string name = escape_for_display(std::string(info.dims[at].name));
  error(where(info.name), "dynamic-shape",
        fmt::format("dimension {}{} of the input has no fixed size", at, name.empty() ? "" : " ('" + name + "')"),
        open_help(info));
}

// Options that give every open dimension of an input a size: `size`, or N where none is known to work.
std::string Importer::open_help(const ValueInfo& info) const {
  const std::string size = options_.working_size > 0 ? std::to_string(options_.working_size) : "N";
  std::string dims, shape;
  bool all_named = true;
  for (size_t i = 0; i < info.dims.size(); ++i) {
    const Dimension& d = info.dims[i];
    auto named = options_.dimensions.find(std::string(d.name));
    const bool given = !d.value && named != options_.dimensions.end();
    const bool batch = size_of_open(d, i, 0) == 1;
    const std::string own = size_of_open(d, i, 2) == 1 ? "1" : size;
    shape += (i == 0 ? "" : ",") + (d.value ? std::to_string(*d.value) : given ? std::to_string(named->second) : own);
    if (d.value || given || batch) continue;
    all_named = all_named && !d.name.empty();
    const std::string option = fmt::format(" --dim {}={}", escape_for_display(std::string(d.name)), own);
    if (dims.find(option + " ") == std::string::npos && !dims.ends_with(option)) dims += option;
  }
  const std::string text =
      all_named ? dims.substr(1) : fmt::format("--shape {}={}", escape_for_display(std::string(info.name)), shape);
  return options_.working_size > 0 ? fmt::format("give a size; this one works: {}", text)
                                   : fmt::format("give a size for N: {}", text);
}

bool Importer::add_given(const ValueInfo& info, const std::string& text, Scope& scope) {
  DType dtype = form_of(info.type)->carrier;
  std::optional<graph::Shape> declared;
  if (info.has_shape) declared = shape_of(info, false);
  auto value = parse_value(text, dtype, declared);
  if (!value)
    return error(where(info.name), "value-invalid",
                 fmt::format("'{}' is not a value of type {}{} for this input", escape_for_display(text),
                             element_type_name(info.type), declared ? " and shape " + graph::to_string(*declared) : ""),
                 "write a number for each element of the input, in brackets: --value axes=[0,2]");
  Id id = graph_.add_constant(std::string(info.name), value->type, std::move(value->bytes));
  return build(info.name, [&] { scope.values[info.name] = builder_.rounded(id, info.type); });
}

// Adds operators that belong to no operator of the file.
bool Importer::build(std::string_view tensor, const std::function<void()>& add) {
  Location at = where(tensor);
  at.op_type = "Identity";
  return build_at(at, add);
}

// Steps of a builder outside of rules.
bool Importer::build_at(const Location& at, const std::function<void()>& add) {
  Diagnostics told;
  builder_.begin(at, told);
  bool good = true;
  try {
    add();
  } catch (const Stop&) {
    good = false;
  }
  for (const Diagnostic& d : told.all()) append(diags_, d);
  return good;
}

// The rank of inputs that --input-layout applies to.
size_t Importer::image_rank() const {
  const bool images = std::any_of(model_.graph.inputs.begin(), model_.graph.inputs.end(), [&](const ValueInfo& info) {
    const auto given = options_.shapes.find(std::string(info.name));
    return (given == options_.shapes.end() ? info.dims.size() : given->second.size()) == 4;
  });
  return images ? 4 : 3;
}

bool Importer::add_input(const ValueInfo& info, Scope& scope) {
  auto form = form_of(info.type);
  if (info.kind != ValueInfo::Kind::kTensor || !form)
    return error(where(info.name), "onnx-type",
                 info.kind == ValueInfo::Kind::kTensor
                     ? fmt::format("an input of type {} is not supported", element_type_name(info.type))
                     : std::string("an input is not a tensor"),
                 "export the model with numeric tensors");
  auto given = options_.values.find(std::string(info.name));
  if (given != options_.values.end()) return add_given(info, given->second, scope);
  if (!info.has_shape && !options_.shapes.contains(std::string(info.name)))
    return error(where(info.name), "dynamic-shape", "the input has no shape",
                 fmt::format("give the shape: --shape {}=...", escape_for_display(std::string(info.name))));
  auto shape = shape_of(info, true);
  if (!shape) return false;
  if (bounded_bytes(*shape, form->stored) < 0 || shape->size() > limits::kMaxRank)
    return error(
        where(info.name), "onnx-limit",
        fmt::format("an input of shape {} exceeds the limit for bytes or for dimensions", graph::to_string(*shape)),
        fmt::format("the limits are {} bytes and {} dimensions", limits::kMaxTensorBytes, limits::kMaxRank));
  graph::Tensor tensor;
  tensor.name = std::string(info.name);
  tensor.type.shape = *shape;
  // What has no elements has nothing to hand over: it is known, and no input of the C.
  if (graph::element_count(*shape) == 0) {
    tensor.type.dtype = form->carrier;
    Id id = graph_.add_constant(tensor.name, tensor.type, {});
    scope.values[info.name] = builder_.set_element(id, info.type);
    return true;
  }
  tensor.type.dtype = form->stored;
  const bool turned = options_.images_last && shape->size() == image_rank();
  if (turned) std::rotate(tensor.type.shape.begin() + 1, tensor.type.shape.begin() + 2, tensor.type.shape.end());
  Id id = graph_.add_tensor(std::move(tensor));
  graph_.inputs.push_back({id, std::string(info.name)});
  return build(info.name, [&] {
    Id x = builder_.from_stored(id, info.type);
    if (turned) x = shape->size() == 3 ? builder_.transpose(x, {0, 2, 1}) : nhwc_to_nchw(builder_, x);
    scope.values[info.name] = turned ? builder_.set_element(x, info.type) : x;
  });
}

bool Importer::add_inputs(Scope& scope) {
  std::set<std::string_view> names;
  bool good = true;
  for (const ValueInfo& info : model_.graph.inputs) {
    if (!names.insert(info.name).second || info.name.empty())
      return error(where(info.name), "onnx-invalid", "two inputs have this name, or an input has no name",
                   "the file is damaged; export the model again");
    // Before IR 4 constants had to be listed as inputs too.
    bool given = options_.values.contains(std::string(info.name));
    if (scope.values.contains(info.name) && !given) continue;
    good = add_input(info, scope) && good;
  }
  auto unknown = [&](const auto& map, const char* option) {
    for (const auto& [name, value] : map)
      if (!names.contains(name))
        good = error(where(""), "input-name",
                     fmt::format("{}: the model has no input '{}'", option, escape_for_display(name)),
                     "'aotc check' lists the inputs");
  };
  unknown(options_.shapes, "--shape");
  unknown(options_.values, "--value");
  const bool images = std::any_of(graph_.inputs.begin(), graph_.inputs.end(), [&](const graph::Port& port) {
    return static_cast<size_t>(builder_.rank(port.tensor)) == image_rank();
  });
  if (good && options_.images_last && !images)
    good = error(where(""), "input-name", "--input-layout nhwc: no input has three or four dimensions",
                 "omit this option");
  for (const auto& [name, value] : options_.dimensions) {
    bool used = false;
    for (const ValueInfo& info : model_.graph.inputs)
      for (const Dimension& d : info.dims) used = used || d.name == name;
    if (!used)
      good =
          error(where(""), "input-name", fmt::format("--dim: no input has a dimension '{}'", escape_for_display(name)),
                "'aotc check' without --dim lists the open dimensions");
  }
  return good;
}

// What the file says of an output; shapes that the user changed make it stale.
bool Importer::check_declared(const ValueInfo& info, Id id) {
  const graph::TensorType& type = graph_[id].type;
  int32_t element = builder_.element(id);
  const bool label = info.type == kString && element == kInt64 && !builder_.labels().empty();
  if (info.kind == ValueInfo::Kind::kTensor && info.type != kUndefined && element != info.type && !label)
    return error(where(info.name), "onnx-shape",
                 fmt::format("the file declares this output as {}, but the operators give {}",
                             element_type_name(info.type), element_type_name(element)),
                 "the file is damaged; export the model again");
  if (!info.has_shape || !options_.shapes.empty()) return true;
  bool fits = info.dims.size() == type.shape.size();
  const std::optional<Counted> counted = builder_.counted(id);
  for (size_t i = 0; fits && i < info.dims.size(); ++i) {
    const bool largest = counted && counted->axis == static_cast<int64_t>(i);
    fits =
        !info.dims[i].value || *info.dims[i].value == type.shape[i] || (largest && *info.dims[i].value < type.shape[i]);
  }
  if (fits) return true;
  std::string declared;
  for (const Dimension& d : info.dims)
    declared += (declared.empty() ? "" : "x") + (d.value ? std::to_string(*d.value) : std::string("?"));
  // As onnxruntime has it: the shape follows from the operators, and what the file says is passed over.
  diags_
      .warning(where(info.name), "onnx-shape",
               fmt::format("the file declares shape {} for this output, but the operators give {}",
                           declared.empty() ? "scalar" : declared, graph::to_string(type.shape)))
      .help("the C uses the shape from the operators; to remove this warning, run onnx.shape_inference on the model");
  return true;
}

bool Importer::add_outputs(const Scope& scope) {
  if (model_.graph.outputs.empty())
    return error(where(""), "onnx-invalid", "the model has no output", "export the model again");
  std::vector<graph::Port> counts;  // behind all of the file's
  for (const ValueInfo& info : model_.graph.outputs) {
    Id id = find(scope, info.name);
    if (id.value < 0)
      return error(where(info.name), "output-not-computed", "this output is not computed by any operator",
                   "remove this output from the model, or compute it from an input");
    if (!check_declared(info, id)) return false;
    // Nothing to write, and C has no arrays without elements.
    if (graph_[id].type.elements() == 0) continue;
    const std::optional<Counted> counted = builder_.counted(id);
    auto named = [&](const graph::Port& port) { return counted && port.tensor == counted->count; };
    if (counted && std::none_of(counts.begin(), counts.end(), named))
      counts.push_back({counted->count, std::string(info.name) + "_count"});
    // The caller's buffer has to be written by somebody.
    bool good = build(info.name, [&] {
      if (builder_.element(id) != element_of(builder_.dtype(id)) && graph_.is_constant(id)) id = builder_.copy(id);
      id = builder_.to_stored(id);
      if (graph_.is_constant(id) || graph_.is_input(id) || graph_.is_output(id)) id = builder_.copy(id);
    });
    if (!good) return false;
    graph_[id].name = std::string(info.name);
    graph_.outputs.push_back({id, std::string(info.name)});
  }
  for (const graph::Port& port : counts) {
    graph_[port.tensor].name = port.name;
    graph_.outputs.push_back(port);
  }
  if (graph_.outputs.empty())
    return error(where(""), "onnx-empty", "all outputs of the model are empty",
                 "give the inputs shapes whose dimensions are at least 1");
  if (!builder_.labels().empty()) {
    std::string list;
    for (size_t i = 0; i < builder_.labels().size(); ++i)
      list += fmt::format("{}{} '{}'", i == 0 ? "" : ", ", i, escape_for_display(builder_.labels()[i]));
    diags_.warning(where(""), "onnx-labels", "labels are strings, but the C returns their indices: " + list)
        .help("keep this list in your firmware");
  }
  if (builder_.has_float64())
    diags_.warning(where(""), "onnx-float64", "float64 is computed as float32")
        .help("inputs and outputs stay float64; export the model with float32 to avoid the casts");
  return true;
}

bool Importer::run() {
  Scope scope;
  if (!model_.has_graph) return error(where(""), "onnx-invalid", "the file has no graph", "export the model again");
  Versions versions;
  if (!read_opsets(model_.opsets, versions) || !check_weights(versions) || !add_initializers(model_.graph, scope) ||
      !add_inputs(scope))
    return false;
  versions[kGroups] = 1;
  std::vector<Node> nodes = model_.graph.nodes;
  bool good = fold_quantised(nodes, versions, scope);
  good = add_nodes(nodes, versions, scope, 0) && good;
  report_unknown();
  if (!good || !unknown_.empty()) return false;
  good = add_outputs(scope);
  builder_.finish();
  return good;
}

}  // namespace onnx

bool is_onnx_model(std::span<const uint8_t> bytes) { return onnx::is_onnx(bytes); }

namespace {

Result<graph::Graph> read_once(FileBytes bytes, const std::string& file, Diagnostics& diags,
                               const OnnxOptions& options) {
  Location where;
  where.file = file;
  auto model = onnx::read_messages(bytes, where, diags);
  if (!model) return kFailure;
  graph::Graph graph;
  graph.source_file = file;
  graph.name = std::filesystem::path(file).stem().string();
  onnx::TensorReader tensors(std::move(bytes), file);
  onnx::Importer importer(*model, tensors, file, options, graph, diags);
  if (!importer.run()) return kFailure;
  onnx::recognise_written_out(graph, ops::operators());
  if (options.files != nullptr) *options.files = tensors.files();
  graph::compact(graph);
  return graph;
}

// A size for all open dimensions with which the model can be read; 0 if none of a few does.
int64_t find_working_size(const FileBytes& bytes, const std::string& file, const OnnxOptions& options) {
  constexpr int64_t kSizes[] = {32, 64, 128, 224, 256, 512, 16, 8, 4, 2, 1};
  for (int64_t size : kSizes) {
    OnnxOptions tried = options;
    tried.open_size = size;
    tried.files = nullptr;
    Diagnostics told;
    if (read_onnx(bytes, file, told, tried)) return size;
  }
  return 0;
}

}  // namespace

Result<graph::Graph> read_onnx(FileBytes bytes, const std::string& file, Diagnostics& diags,
                               const OnnxOptions& options) {
  const bool asks = options.open_size == 0 && options.working_size == 0;
  Diagnostics told;
  auto graph = read_once(bytes, file, told, options);
  const auto is_open = [](const Diagnostic& d) { return d.severity == Severity::kError && d.slug == "dynamic-shape"; };
  const bool open = asks && !graph && std::any_of(told.all().begin(), told.all().end(), is_open);
  if (!open) {
    for (const Diagnostic& d : told.all()) onnx::append(diags, d);
    return graph;
  }
  OnnxOptions known = options;
  known.working_size = find_working_size(bytes, file, options);
  return read_once(bytes, file, diags, known);
}

}  // namespace aotc::frontends
