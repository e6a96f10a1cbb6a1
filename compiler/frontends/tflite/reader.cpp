// SPDX-License-Identifier: Apache-2.0
#include "frontends/tflite/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "frontends/tflite/operators.h"
#include "frontends/tflite/region.h"
#include "frontends/tflite/source.h"
#include "frontends/tflite/tensors.h"

namespace aotc::frontends {

namespace {

namespace schema = tflite_schema;

std::string stem_of(const std::string& file) {
  size_t begin = file.find_last_of('/');
  std::string name = begin == std::string::npos ? file : file.substr(begin + 1);
  size_t dot = name.find_last_of('.');
  return dot == std::string::npos || dot == 0 ? name : name.substr(0, dot);
}

// Is this a file whose every offset FlatBuffers can follow safely?
Status check_file(Source& source) {
  const FileBytes& bytes = source.bytes;
  Location at;
  at.file = source.file;
  // Smallest: root offset, identifier, and a table's offset to its vtable.
  if (bytes.size() < 12 || !schema::ModelBufferHasIdentifier(bytes.data())) {
    source.diags
        ->error(at, "tflite-invalid",
                fmt::format("the file is not a TFLite model ({} bytes without the identifier TFL3)", bytes.size()))
        .help("give a file written by the TensorFlow Lite converter");
    return kFailure;
  }
  if (bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) {
    source.diags->error(at, "tflite-limit", "the file is larger than 2 GB")
        .help("no microcontroller has room for such a model; quantise it or export a smaller one");
    return kFailure;
  }
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), 32, limits::kMaxTables);
  if (!schema::VerifyModelBuffer(verifier)) {
    source.diags->error(at, "tflite-invalid", "an offset in the file points outside of the file")
        .help("the file is damaged or not a TFLite model; export it again");
    return kFailure;
  }
  source.model = schema::GetModel(bytes.data());
  if (source.model->version() != 3) {
    source.diags
        ->error(
            at, "tflite-version",
            fmt::format("version {} of the TFLite format is not supported, only version 3", source.model->version()))
        .help("convert the model again with a current TensorFlow");
    return kFailure;
  }
  return success();
}

const schema::SignatureDef* signature_at(const schema::Model& model, uint32_t index) {
  return model.signature_defs()->Get(index);
}

std::string key_of(const schema::SignatureDef& signature) { return text_of(signature.signature_key(), 200); }

bool has_key(const schema::SignatureDef& signature, const std::string& key) {
  return signature.signature_key() != nullptr && signature.signature_key()->string_view() == key;
}

Status signature_unknown(Source& source, const std::string& wanted) {
  Location at;
  at.file = source.file;
  Diagnostic& d = source.diags->error(at, "signature-unknown",
                                      fmt::format("the model has no signature '{}'", escape_for_display(wanted)));
  size_t count = length(source.model->signature_defs());
  for (uint32_t i = 0; i < std::min<size_t>(count, 20); ++i) {
    d.note(fmt::format("the model has '{}'", escape_for_display(key_of(*signature_at(*source.model, i)))));
  }
  d.help(count > 0 ? "use one of these, or omit the signature to use the first"
                   : "omit the signature; the model has none");
  return kFailure;
}

bool check_counts(Source& source) {
  size_t tensors = length(source.subgraph->tensors()), operators = length(source.subgraph->operators());
  if (tensors <= limits::kMaxTensors && operators <= limits::kMaxOperators) return true;
  source.diags
      ->error(source.where(), "tflite-limit",
              fmt::format("the subgraph has {} tensors and {} operators, but the limits are {} and {}", tensors,
                          operators, limits::kMaxTensors, limits::kMaxOperators))
      .help("split the model");
  return false;
}

// Picks the signature and the subgraph it runs.
Status choose_subgraph(Source& source, const ReadOptions& options) {
  const schema::Model& model = *source.model;
  size_t signatures = length(model.signature_defs());
  for (uint32_t i = 0; i < signatures && source.signature == nullptr; ++i) {
    const schema::SignatureDef* s = signature_at(model, i);
    if (options.signature.empty() ? s->subgraph_index() == 0 : has_key(*s, options.signature)) {
      source.signature = s;
    }
  }
  if (!options.signature.empty() && source.signature == nullptr) {
    return signature_unknown(source, options.signature);
  }
  uint32_t index = source.signature == nullptr ? 0 : source.signature->subgraph_index();
  Location at;
  at.file = source.file;
  if (index >= length(model.subgraphs())) {
    damaged(*source.diags, at,
            fmt::format("the signature runs subgraph {}, but the file has {} subgraphs, numbered from 0", index,
                        length(model.subgraphs())));
    return kFailure;
  }
  source.subgraph = model.subgraphs()->Get(index);
  source.subgraph_index = static_cast<int>(index);
  return check_counts(source) ? success() : Status(kFailure);
}

// Subgraphs that the one that is compiled runs itself.
std::set<int> entered_subgraphs(const Source& source) {
  std::set<int> entered;
  std::vector<int> open{source.subgraph_index};
  while (!open.empty()) {
    int index = open.back();
    open.pop_back();
    if (index < 0 || static_cast<size_t>(index) >= length(source.model->subgraphs()) || !entered.insert(index).second)
      continue;
    const auto* operators = source.model->subgraphs()->Get(static_cast<uint32_t>(index))->operators();
    for (uint32_t i = 0; i < length(operators); ++i) {
      const schema::Operator& op = *operators->Get(i);
      if (const auto* once = op.builtin_options_as<schema::CallOnceOptions>())
        open.push_back(once->init_subgraph_index());
      for (int inner : subgraphs_of(op)) open.push_back(inner);
    }
  }
  return entered;
}

// Other subgraphs are entered by control flow or through other signatures; say what is left out.
void warn_of_other_subgraphs(Source& source) {
  size_t count = length(source.model->subgraphs());
  if (count <= entered_subgraphs(source).size()) return;
  Diagnostic& d = source.diags->warning(
      source.where(), "subgraph-unused",
      fmt::format("the model has {} subgraphs; only subgraph {} is compiled", count, source.subgraph_index));
  bool other = false;
  for (uint32_t i = 0; i < std::min<size_t>(length(source.model->signature_defs()), 20); ++i) {
    const schema::SignatureDef* s = signature_at(*source.model, i);
    if (s == source.signature) continue;
    other = true;
    d.note(fmt::format("signature '{}' runs subgraph {}", escape_for_display(key_of(*s)), s->subgraph_index()));
  }
  if (other) d.help("choose another signature with --signature KEY");
}

// The subgraph's inputs or outputs: indices in range, none missing, inputs not given twice.
// `what` of a model, or of a region, which may have none.
Status mark_ports(Source& source, const flatbuffers::Vector<int32_t>* ports, bool inputs, std::vector<Role>& roles) {
  const char* what = inputs ? "input" : "output";
  auto fail = [&](const std::string& message) {
    damaged(*source.diags, source.where(), message);
    return Status(kFailure);
  };
  if (length(ports) == 0) {
    if (source.depth > 0) return success();
    source.diags->error(source.where(), "tflite-invalid", fmt::format("the model has no {}s", what))
        .help("export the model with at least one input and one output");
    return kFailure;
  }
  if (length(ports) > limits::kMaxPorts) {
    source.diags
        ->error(source.where(), "tflite-limit",
                fmt::format("the model has {} {}s, but the limit is {}", length(ports), what, limits::kMaxPorts))
        .help("split the model");
    return kFailure;
  }
  for (uint32_t i = 0; i < ports->size(); ++i) {
    int32_t index = ports->Get(i);
    if (index < 0 || static_cast<size_t>(index) >= roles.size()) {
      return fail(fmt::format("{} {} is tensor {}, but the subgraph has {} tensors, numbered from 0", what, i, index,
                              roles.size()));
    }
    // A handle that a region is given is no tensor.
    if (source.depth > 0 && is_resource(*source.subgraph, index)) continue;
    Role& role = roles[static_cast<size_t>(index)];
    bool& mark = inputs ? role.input : role.output;
    if (mark && inputs) return fail(fmt::format("input {} is listed twice", i));
    mark = true;
  }
  return success();
}

// Name of a port in the signature, or the tensor's name. `before`: how many ports before this one are the same tensor;
// the signature has a name for each of them.
std::string port_name(const Source& source, int32_t index, bool input, int64_t before = 0) {
  const schema::TensorMap* found = nullptr;
  if (source.signature != nullptr) {
    const auto* maps = input ? source.signature->inputs() : source.signature->outputs();
    for (uint32_t i = 0; i < length(maps) && (found == nullptr || before >= 0); ++i) {
      const schema::TensorMap* map = maps->Get(i);
      if (map->tensor_index() != static_cast<uint32_t>(index) || map->name() == nullptr || map->name()->size() == 0)
        continue;
      found = map;
      --before;
    }
  }
  return found != nullptr ? text_of(found->name(), 4096) : tensor_name(*source.subgraph, index);
}

Status add_ports(Source& source, const std::vector<graph::TensorId>& ids, bool input, std::vector<graph::Port>& ports) {
  const auto* from = input ? source.subgraph->inputs() : source.subgraph->outputs();
  for (uint32_t i = 0; i < length(from); ++i) {
    int32_t index = from->Get(i);
    if (!ids[static_cast<size_t>(index)].valid()) continue;
    const int64_t before = std::count(from->begin(), from->begin() + i, index);
    std::string name = port_name(source, index, input, before);
    if (!source.copies.take(name.size() + sizeof(graph::Port))) {
      report_aliasing(*source.diags, source.where());
      return kFailure;
    }
    ports.push_back({ids[static_cast<size_t>(index)], std::move(name)});
  }
  return success();
}

// A signature that names a tensor the subgraph does not have as input or output is a damaged one.
Status check_signature(Source& source, const std::vector<Role>& roles) {
  if (source.signature == nullptr) return success();
  for (bool input : {true, false}) {
    const auto* maps = input ? source.signature->inputs() : source.signature->outputs();
    if (length(maps) > limits::kMaxPorts) {
      source.diags
          ->error(source.where(), "tflite-limit",
                  fmt::format("a signature has {} entries, but the limit is {}", length(maps), limits::kMaxPorts))
          .help("split the model");
      return kFailure;
    }
    for (uint32_t i = 0; i < length(maps); ++i) {
      uint32_t index = maps->Get(i)->tensor_index();
      if (index < roles.size() && (input ? roles[index].input : roles[index].output)) continue;
      if (index < roles.size()) {
        // Tools that cut a model leave the signature as it was.
        source.diags
            ->warning(source.where(), "signature-port",
                      fmt::format("the signature names tensor {} '{}', which is not an {} of the subgraph", index,
                                  escape_for_display(tensor_name(*source.subgraph, static_cast<int>(index))),
                                  input ? "input" : "output"))
            .help("aotc compiles the subgraph's own inputs and outputs");
        continue;
      }
      damaged(*source.diags, source.where(),
              fmt::format("the signature names tensor {}, which is not an {} of the subgraph", index,
                          input ? "input" : "output"));
      return kFailure;
    }
  }
  return success();
}

// Shapes that the user gives inputs.
Status settle_inputs(Source& source, const ReadOptions& options) {
  Location at = source.where();
  const auto* inputs = source.subgraph->inputs();
  bool good = true;
  for (const auto& [name, shape] : options.shapes) {
    int32_t index = -1;
    std::vector<std::string> names;
    for (uint32_t i = 0; i < inputs->size(); ++i) {
      std::string port = port_name(source, inputs->Get(i), true);
      if (port == name || tensor_name(*source.subgraph, inputs->Get(i)) == name) index = inputs->Get(i);
      if (i < 20) names.push_back(std::move(port));
    }
    if (index < 0) {
      Diagnostic& d =
          source.diags->error(at, "input-name", fmt::format("the model has no input '{}'", escape_for_display(name)));
      for (const std::string& known : names) d.note(fmt::format("the model has '{}'", escape_for_display(known)));
      d.help("name one of these before the '=' of --shape");
      good = false;
      continue;
    }
    const schema::Tensor& raw = *source.subgraph->tensors()->Get(static_cast<uint32_t>(index));
    // An input of unknown rank takes any.
    size_t rank = length(raw.shape());
    if (shape.size() == rank || (rank == 0 && !raw.has_rank())) {
      source.shapes[index] = shape;
      continue;
    }
    graph::Shape had;
    for (uint32_t i = 0; i < rank; ++i) had.push_back(raw.shape()->Get(i));
    source.diags
        ->error(source.where_tensor(name), "dynamic-shape",
                fmt::format("the input has {} dimensions ({}), but --shape gives {}", rank, graph::to_string(had),
                            shape.size()))
        .help("give a size for each dimension of the model's input");
    good = false;
  }
  return good ? success() : Status(kFailure);
}

// Shapes of a region's inputs are those of the operator's operands, whatever the file says.
bool settle_arguments(Source& source, const RegionRequest& request) {
  size_t position = 0;
  const auto* inputs = source.subgraph->inputs();
  for (uint32_t i = 0; i < length(inputs); ++i) {
    if (is_resource(*source.subgraph, inputs->Get(i))) continue;
    if (position == request.arguments.size()) break;
    source.shapes[inputs->Get(i)] = request.arguments[position++].shape;
  }
  if (position + request.inputs.size() == request.arguments.size()) return true;
  return damaged(*source.diags, source.where(),
                 fmt::format("the subgraph must have {} inputs, one for each operand of the operator that runs it",
                             request.arguments.size() - request.inputs.size()));
}

// An input of the region whose value is known.
bool know_argument(Source& source, const std::optional<graph::ConstantView>& value, graph::Tensor& tensor) {
  if (!value) return true;
  if (static_cast<int64_t>(value->bytes.size()) != tensor.type.bytes())
    return damaged(*source.diags, source.where_tensor(tensor.name),
                   "this input has a different type than the operand of the operator that runs the subgraph");
  if (!source.constants.take(value->bytes.size())) {
    report_aliasing(*source.diags, source.where());
    return false;
  }
  tensor.constant = value;
  return true;
}

// Its variables: more inputs, defined before the first operator.
std::vector<graph::TensorId> add_variables(const RegionRequest& request, Variables& variables, graph::Graph& graph) {
  std::vector<graph::TensorId> out;
  const size_t first = request.arguments.size() - request.inputs.size();
  for (size_t k = 0; k < request.inputs.size(); ++k) {
    graph::Tensor tensor;
    tensor.name = request.inputs[k].second;
    tensor.type = request.arguments[first + k];
    out.push_back(graph.add_tensor(std::move(tensor)));
    variables.set_value(request.inputs[k], out.back());
  }
  return out;
}

}  // namespace

bool read_region(Source& outer, const ops::OperatorSet& set, const RegionRequest& request, graph::Graph& graph) {
  Source source = outer;
  source.subgraph = source.model->subgraphs()->Get(static_cast<uint32_t>(request.subgraph));
  source.subgraph_index = request.subgraph;
  source.signature = nullptr;
  source.shapes.clear();
  ++source.depth;
  const schema::SubGraph& subgraph = *source.subgraph;
  // A subgraph may be entered from many places, and enter others from many.
  constexpr uint64_t kBytesOfOperator = 64;
  if (!source.copies.take(kBytesOfOperator * (1 + length(subgraph.operators())))) {
    report_aliasing(*source.diags, source.where());
    return false;
  }
  graph.name = text_of(subgraph.name(), 200);
  if (graph.name.empty()) graph.name = fmt::format("subgraph {}", request.subgraph);
  graph.source_file = source.file;
  std::vector<Role> roles(length(subgraph.tensors()));
  bool good = check_counts(source) && mark_ports(source, subgraph.inputs(), true, roles) &&
              mark_ports(source, subgraph.outputs(), false, roles) && settle_arguments(source, request);
  Variables variables(source);
  for (const auto& [tensor, key] : request.handles) variables.set_handle(tensor, key);
  OperatorReader operators(source, set, variables);
  std::vector<graph::TensorId> ids;
  good = good && operators.resolve(roles) && read_tensors(source, roles, graph, ids);
  for (uint32_t i = 0; good && i < std::min(request.constants.size(), length(subgraph.inputs())); ++i)
    if (graph::TensorId id = ids[static_cast<size_t>(subgraph.inputs()->Get(i))]; id.valid())
      good = know_argument(source, request.constants[i], graph[id]);
  if (good) {
    std::vector<graph::TensorId> given = add_variables(request, variables, graph);
    good = operators.build(ids, graph, given);
    good = good && add_ports(source, ids, true, graph.inputs) && add_ports(source, ids, false, graph.outputs);
    for (size_t k = 0; good && k < given.size(); ++k) graph.inputs.push_back({given[k], request.inputs[k].second});
    for (size_t k = 0; good && k < request.outputs.size(); ++k) {
      auto value = variables.value(request.outputs[k], source.where(), graph, *source.diags);
      good = value.has_value();
      if (good) graph.outputs.push_back({*value, request.outputs[k].second});
    }
  }
  operators.report_unsupported(*source.diags);
  operators.report(*source.diags);
  outer.copies = source.copies;
  outer.scales = source.scales;
  outer.constants = source.constants;
  return good;
}

Result<graph::Graph> read_tflite(FileBytes bytes, const std::string& file, Diagnostics& diags,
                                 const ReadOptions& options, const tflite::RuleTable& rules) {
  Source source;
  source.file = file;
  source.given = options.given;
  source.rules = &rules;
  source.diags = &diags;
  source.errors_before = diags.error_count();
  source.bytes = std::move(bytes);
  source.copies = Budget(source.bytes.size() * 8 + 65536);
  source.constants = Budget(source.bytes.size() * kMostReads + 65536);
  if (!check_file(source) || !choose_subgraph(source, options)) return kFailure;
  warn_of_other_subgraphs(source);

  graph::Graph graph;
  graph.name = stem_of(file);
  graph.source_file = file;
  if (source.model->description() != nullptr) {
    graph.description = source.model->description()->str();
  }

  std::vector<Role> roles(length(source.subgraph->tensors()));
  if (!mark_ports(source, source.subgraph->inputs(), true, roles) ||
      !mark_ports(source, source.subgraph->outputs(), false, roles) || !check_signature(source, roles)) {
    return kFailure;
  }
  if (!settle_inputs(source, options)) return kFailure;
  const ops::OperatorSet& set = options.operators ? *options.operators : ops::operators();
  Variables variables(source);
  OperatorReader operators(source, set, variables);
  // What is wrong with tensors is told behind the operators that are missing. Both are looked at
  // whatever fails, so that one run tells all there is to tell.
  Diagnostics of_tensors;
  source.diags = &of_tensors;
  source.errors_before = 0;
  bool good = operators.resolve(roles).ok();
  bool sound = good;
  std::vector<graph::TensorId> ids;
  if (!check_weights(source, of_tensors)) good = sound = false;
  if (!read_tensors(source, roles, graph, ids)) good = false;
  if (source.out_of_patience()) {
    of_tensors.error(source.where(), "tflite-limit", "too many errors; the others are omitted")
        .help("correct these first");
    sound = false;
  }
  if (sound && !operators.build(ids, graph)) good = false;
  operators.report_unsupported(diags);
  for (const Diagnostic& d : of_tensors.all()) append(diags, d);
  operators.report(diags);
  source.diags = &diags;
  if (!good || !add_ports(source, ids, true, graph.inputs) || !add_ports(source, ids, false, graph.outputs)) {
    return kFailure;
  }
  operators.add_counts(graph.outputs);
  report_scales(source.scales, diags);
  return graph;
}

}  // namespace aotc::frontends
