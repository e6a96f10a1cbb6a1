// SPDX-License-Identifier: Apache-2.0
#include "frontends/tflite/operators.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontends/tflite/builtin_names.h"
#include "frontends/tflite/flex_options.h"
#include "frontends/tflite/region.h"
#include "ops/constants.h"

namespace aotc::frontends {

namespace {

namespace schema = tflite_schema;

// Steps that evaluating on constants may take: about half a second.
constexpr int64_t kMostSteps = int64_t{1} << 26;

bool is_control(int builtin) { return builtin == kTfliteIf || builtin == kTfliteWhile; }

// Bytes that checking and lowering the operator reads, of tables that other operators may share.
uint64_t constant_bytes(const graph::Op& op, const graph::Graph& graph) {
  uint64_t bytes = 0;
  for (const auto* list : {&op.operands, &op.results}) {
    for (graph::TensorId id : *list) {
      if (!id.valid()) continue;
      if (graph[id].constant) bytes += graph[id].constant->bytes.size();
      bytes += graph[id].type.quantization.scale.size() * 12;
    }
  }
  return bytes;
}

// An operator's type as TFLite spells it; a custom operator goes by its own name, as it is.
std::string type_of(const schema::OperatorCode& code) {
  int builtin = builtin_of(code);
  if (builtin == kTfliteCustom && code.custom_code() != nullptr && code.custom_code()->size() > 0) {
    return code.custom_code()->str().substr(0, 200);
  }
  return tflite_builtin_name(builtin);
}

}  // namespace

const schema::Operator& OperatorReader::raw(size_t index) const {
  return *source_.subgraph->operators()->Get(static_cast<flatbuffers::uoffset_t>(index));
}

const schema::Tensor* OperatorReader::raw_tensor(int32_t index) const {
  return source_.subgraph->tensors()->Get(static_cast<flatbuffers::uoffset_t>(index));
}

Location OperatorReader::where(size_t index) const {
  Location at = source_.where();
  at.op_index = static_cast<int>(index);
  const schema::Operator& op = raw(index);
  if (op.opcode_index() < length(source_.model->operator_codes())) {
    at.op_type = type_of(*source_.model->operator_codes()->Get(op.opcode_index()));
  }
  if (length(op.outputs()) > 0) {
    int32_t result = op.outputs()->Get(0);
    if (result >= 0 && static_cast<size_t>(result) < length(source_.subgraph->tensors())) {
      at.tensor = tensor_name(*source_.subgraph, result);
    }
  }
  return at;
}

bool OperatorReader::resolve_code(size_t index, Resolved& out) {
  const auto* codes = source_.model->operator_codes();
  uint32_t at = raw(index).opcode_index();
  if (at >= length(codes)) {
    return damaged(
        *source_.diags, where(index),
        fmt::format("opcode_index is {}, but the file has {} operator codes, numbered from 0", at, length(codes)));
  }
  const schema::OperatorCode& code = *codes->Get(at);
  out.builtin = builtin_of(code);
  if (out.builtin == kTfliteCustom) {
    if (code.custom_code() == nullptr) return true;
    const std::string_view name = code.custom_code()->string_view();
    if (source_.given != nullptr) out.given = source_.given->find(name);
    if (out.given != nullptr) out.definition = set_.find("external");
    else resolve_rule(source_.rules->find_custom(name), out);
  } else {
    resolve_rule(source_.rules->find_builtin(out.builtin), out);
  }
  return true;
}

void OperatorReader::resolve_rule(const tflite::Rule* rule, Resolved& out) const {
  if (rule == nullptr) return;
  out.definition = set_.find(rule->op);
  if (out.definition != nullptr) out.rule = rule;
}

bool OperatorReader::check_indices(size_t index, const char* what, const flatbuffers::Vector<int32_t>* list,
                                   bool optional_allowed, size_t tensors) {
  // Counted twice over: the list becomes ids in the graph, and its operator carries a location.
  if (!source_.copies.take(length(list) * sizeof(int32_t) * 2)) {
    report_aliasing(*source_.diags, where(index));
    return false;
  }
  for (uint32_t i = 0; i < length(list); ++i) {
    int32_t tensor = list->Get(i);
    bool absent = tensor == -1 && optional_allowed;
    if (absent || (tensor >= 0 && static_cast<size_t>(tensor) < tensors)) continue;
    return damaged(
        *source_.diags, where(index),
        fmt::format("{} {} is tensor {}, but the subgraph has {} tensors, numbered from 0", what, i, tensor, tensors));
  }
  return true;
}

void OperatorReader::mark(size_t index, std::vector<Role>& roles) {
  const schema::Operator& op = raw(index);
  // Handles of variables are no tensors: only what is read and assigned is.
  if (is_variable_operator(resolved_[index].builtin)) {
    if (resolved_[index].builtin == kTfliteAssignVariable && length(op.inputs()) > 1 && op.inputs()->Get(1) >= 0)
      roles[static_cast<size_t>(op.inputs()->Get(1))].operand = true;
    if (resolved_[index].builtin == kTfliteReadVariable && length(op.outputs()) > 0)
      roles[static_cast<size_t>(op.outputs()->Get(0))].result = true;
    return;
  }
  // A handle that a subgraph is given is no tensor either.
  const bool control = is_control(resolved_[index].builtin);
  auto is_handle = [&](int32_t tensor) { return control && is_resource(*source_.subgraph, tensor); };
  const bool widens = is_widening(index);
  auto is_word = [&](int32_t tensor) {
    return resolved_[index].rule != nullptr && resolved_[index].rule->words &&
           raw_tensor(tensor)->type() == schema::TensorType_UINT64;
  };
  for (uint32_t i = 0; i < length(op.inputs()); ++i) {
    if (op.inputs()->Get(i) < 0 || is_handle(op.inputs()->Get(i))) continue;
    Role& role = roles[static_cast<size_t>(op.inputs()->Get(i))];
    (widens ? role.widened : is_word(op.inputs()->Get(i)) ? role.word : role.operand) = true;
  }
  if (auto blocks = blocks_of(index)) {
    roles[static_cast<size_t>(op.inputs()->Get(1))].blocks = true;
    roles[static_cast<size_t>(blocks->scales)].scales = true;
  }
  for (int32_t tensor : state_tensors(index)) roles[static_cast<size_t>(tensor)].state = true;
  for (uint32_t i = 0; i < length(op.outputs()); ++i) {
    if (is_handle(op.outputs()->Get(i))) continue;
    Role& role = roles[static_cast<size_t>(op.outputs()->Get(i))];
    (is_word(op.outputs()->Get(i)) ? role.word : role.result) = true;
    const tflite::Rule* rule = resolved_[index].rule;
    role.kept = role.kept || (rule != nullptr && rule->variable_results);
  }
}

std::optional<BlockScales> OperatorReader::blocks_of(size_t index) const {
  const auto* inputs = raw(index).inputs();
  const Resolved& known = resolved_[index];
  if (known.rule == nullptr || known.rule->name != "FULLY_CONNECTED" || length(inputs) < 2 || inputs->Get(1) < 0)
    return std::nullopt;
  const schema::Tensor* weights = raw_tensor(inputs->Get(1));
  auto blocks = block_scales(*weights);
  const auto count = static_cast<int64_t>(length(source_.subgraph->tensors()));
  auto is_there = [&](int32_t tensor) { return tensor >= 0 && tensor < count; };
  if (!blocks || !is_there(blocks->scales) || blocks->zero_points > 0) return std::nullopt;
  const schema::Tensor* scales = raw_tensor(blocks->scales);
  const int64_t units = weights->shape()->Get(0), depth = weights->shape()->Get(1);
  const bool good = scales->type() == schema::TensorType_FLOAT16 && length(scales->shape()) == 2 &&
                    scales->shape()->Get(0) == units && scales->shape()->Get(1) * blocks->size == depth;
  return good ? blocks : std::nullopt;
}

Status OperatorReader::resolve(std::vector<Role>& roles) {
  size_t count = length(source_.subgraph->operators());
  resolved_.assign(count, {});
  outputs_.assign(roles.size(), false);
  for (size_t i = 0; i < roles.size(); ++i) outputs_[i] = roles[i].output;
  bool good = true;
  for (size_t i = 0; i < count && !source_.out_of_patience(); ++i) {
    const schema::Operator& op = raw(i);
    if (!resolve_code(i, resolved_[i]) || !check_indices(i, "operand", op.inputs(), true, roles.size()) ||
        !check_indices(i, "result", op.outputs(), false, roles.size())) {
      good = false;
    } else if (is_variable_operator(resolved_[i].builtin) || is_control(resolved_[i].builtin) ||
               resolved_[i].builtin == kTfliteComposite) {
      mark(i, roles);
    } else if (resolved_[i].definition == nullptr) {
      unsupported_.push_back({i, ""});
    } else {
      mark(i, roles);
    }
  }
  return good && !source_.out_of_patience() ? success() : Status(kFailure);
}

void OperatorReader::start(Build& build) const {
  size_t count = build.graph.tensors.size();
  build.defined.assign(count, false);
  build.derived.assign(count, false);
  build.pending.assign(count, -1);
  for (size_t i = 0; i < count; ++i) build.defined[i] = build.graph.tensors[i].constant.has_value();
  const auto* inputs = source_.subgraph->inputs();
  for (uint32_t i = 0; i < length(inputs); ++i) {
    graph::TensorId id = build.ids[static_cast<size_t>(inputs->Get(i))];
    if (!id.valid()) continue;
    const auto* stored = raw_tensor(inputs->Get(i))->shape();
    const graph::Shape& shape = build.graph[id].type.shape;
    bool as_in_file = shape.size() == length(stored);
    for (uint32_t d = 0; as_in_file && d < length(stored); ++d) as_in_file = shape[d] == stored->Get(d);
    build.defined[static_cast<size_t>(id.value)] = true;
    build.derived[static_cast<size_t>(id.value)] = !as_in_file;
  }
  for (size_t i = 0; i < resolved_.size(); ++i)
    for (int32_t tensor : state_tensors(i))
      if (graph::TensorId id = build.ids[static_cast<size_t>(tensor)]; id.valid())
        build.defined[static_cast<size_t>(id.value)] = true;
}

bool OperatorReader::build(const std::vector<graph::TensorId>& ids, graph::Graph& graph,
                           const std::vector<graph::TensorId>& given) {
  Build build{ids, graph, {}, {}, {}, {}, kMostSteps, {}, {}, {}, {}, {}, {}, {}};
  start(build);
  for (graph::TensorId id : given) build.defined[static_cast<size_t>(id.value)] = true;
  graph.ops.reserve(resolved_.size());
  for (size_t i = 0; i < resolved_.size(); ++i) {
    const bool is_plain = !is_variable_operator(resolved_[i].builtin) && !is_control(resolved_[i].builtin) &&
                          resolved_[i].builtin != kTfliteComposite;
    if (!is_plain && !make_operands(i, build)) continue;
    if (is_variable_operator(resolved_[i].builtin)) build_variable(i, build);
    else if (is_control(resolved_[i].builtin)) build_control(i, build);
    else if (resolved_[i].builtin == kTfliteComposite) build_composite(i, build);
    else build_one(i, build);
  }
  if (!make_outputs(build)) return false;
  if (source_.depth == 0) variables_.finish(graph);
  size_t kept = 0;
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    if (build.folded[i]) continue;
    if (kept != i) graph.ops[kept] = std::move(graph.ops[i]);
    ++kept;
  }
  graph.ops.resize(kept);
  if (failing() > 0) return false;
  return check_outputs(build, other_);
}

// A port that is an input or a constant as it stands has no operator to write it; a region's may be one.
bool OperatorReader::check_outputs(const Build& build, Diagnostics& told) const {
  std::vector<bool> computed(build.graph.tensors.size());
  for (const graph::Op& op : build.graph.ops) {
    for (graph::TensorId id : op.results) computed[static_cast<size_t>(id.value)] = true;
  }
  const auto* outputs = source_.subgraph->outputs();
  for (uint32_t i = 0; i < length(outputs); ++i) {
    graph::TensorId id = build.ids[static_cast<size_t>(outputs->Get(i))];
    if (!id.valid() || (source_.depth > 0 ? build.defined : computed)[static_cast<size_t>(id.value)]) continue;
    told.error(source_.where_tensor(build.graph[id].name), "output-not-computed",
               fmt::format("output {} is not computed by any operator", i))
        .help("remove this output from the model, or compute it from an input");
    return false;
  }
  return true;
}

// Results of an operator that is left out, so that those behind it are still looked at.
void OperatorReader::skip(size_t index, Build& build) const {
  for (uint32_t i = 0; i < length(raw(index).outputs()); ++i) {
    graph::TensorId id = build.ids[static_cast<size_t>(raw(index).outputs()->Get(i))];
    if (id.valid()) build.defined[static_cast<size_t>(id.value)] = true;
  }
}

void OperatorReader::build_one(size_t index, Build& build) {
  if (resolved_[index].definition == nullptr) return skip(index, build);
  if (is_widening(index)) return build_widening(index, build);
  graph::Op op;
  Diagnostics told;
  bool good = connect(index, build, op, told) && share_quantization(index, build, op, told);
  // What has no lowering needs its operands now, and what LiteRT computes first may be weights
  // here.
  bool only_constants = good && !resolved_[index].definition->has_lowering({build.graph, op});
  if (only_constants) fold_operands(op, build);
  if (only_constants && !ops::can_evaluate({build.graph, op})) {
    size_t first = 0;
    while (first + 1 < op.operands.size() &&
           (!op.operands[first].valid() || build.graph.is_constant(op.operands[first])))
      ++first;
    const std::string& name = build.graph[op.operands[first]].name;
    unsupported_.push_back(
        {index, fmt::format("is supported only on constants, but operand {} '{}' is computed when the model runs",
                            first, escape_for_display(name))});
    return skip(index, build);
  }
  if (good && !import(index, build, op, told)) {
    Diagnostics again;
    graph::Op retried;
    good = connect(index, build, retried, again);
    if (good) fold_operands(retried, build);
    good = good && share_quantization(index, build, retried, again);
    good = good && import(index, build, retried, again, true);
    // What only then is another operator of ours says itself why it is refused.
    if (good || retried.definition != op.definition) told = std::move(again);
    if (good) op = std::move(retried);
  }
  if (good && only_constants && is_output(index)) {
    unsupported_.push_back({index, "is supported only on constants, but its result is an output"});
    return skip(index, build);
  }
  good = good && fold(index, op, build, told);
  if (good) restore_results(index, build, op);
  if (good) keep_states(index, build);
  settle_bytes(index, build);
  skip(index, build);
  if (!good) failed_.push_back({index, std::move(told)});
}

void OperatorReader::build_variable(size_t index, Build& build) {
  Diagnostics told;
  const schema::Operator& op = raw(index);
  bool good = true;
  std::string missing;
  switch (resolved_[index].builtin) {
    case kTfliteVarHandle: good = variables_.open(op, where(index), told); break;
    case kTfliteCallOnce: good = variables_.initialise(op, where(index), told, missing); break;
    case kTfliteReadVariable: good = read_variable(index, build, told); break;
    default: good = assign_variable(index, build, told); break;
  }
  if (!missing.empty()) unsupported_.push_back({index, missing});
  if (!good) failed_.push_back({index, std::move(told)});
}

// The value under the name that the file gives what is read: a view, which costs nothing.
bool OperatorReader::read_variable(size_t index, Build& build, Diagnostics& told) {
  graph::Op op;
  op.definition = set_.find("reshape");
  op.location = where(index);
  auto value = variables_.read(raw(index), op.location, build.graph, told);
  build.mark_added();
  const size_t results = length(raw(index).outputs());
  if (results != 1 || op.definition == nullptr)
    return damaged(told, op.location, fmt::format("the operator has {} results, expected 1", results));
  graph::TensorId result = build.ids[static_cast<size_t>(raw(index).outputs()->Get(0))];
  if (result.valid() && !may_write(build, result, 0, op, told)) return false;
  if (value && result.valid()) {
    graph::TensorType& type = build.graph[result].type;
    // Converters leave the shape open.
    type.shape = build.graph[*value].type.shape;
    auto attributes = op.definition->default_attributes();
    attributes->parse("shape", graph::attribute_text::print(type.shape));
    op.attributes = std::move(attributes);
    op.operands = {*value};
    op.results = {result};
  }
  skip(index, build);
  if (!value || !result.valid() || !ops::verify_op({build.graph, op}, told)) return false;
  build.graph.ops.push_back(std::move(op));
  build.folded.push_back(false);
  return true;
}

bool OperatorReader::assign_variable(size_t index, Build& build, Diagnostics& told) {
  const auto* inputs = raw(index).inputs();
  int32_t tensor = length(inputs) == 2 ? inputs->Get(1) : -1;
  if (tensor < 0) return damaged(told, where(index), "the operator has no value to assign");
  graph::TensorId value = build.ids[static_cast<size_t>(tensor)];
  if (!value.valid() || !may_read(build, value, -1, where(index), told) ||
      !may_leave(build, value, where(index), told) || !every_run_comes_here(build.graph, where(index), told))
    return false;
  return variables_.assign(raw(index), value, where(index), build.graph, told);
}

bool OperatorReader::may_read(const Build& build, graph::TensorId id, int operand, const Location& at,
                              Diagnostics& told) {
  if (build.is_defined(id)) return true;
  const std::string what = operand < 0 ? "" : fmt::format("operand {} ", operand);
  return damaged(told, at,
                 fmt::format("{}'{}' is not a constant, and no earlier operator computes it", what,
                             escape_for_display(build.graph[id].name)));
}

bool OperatorReader::may_write(const Build& build, graph::TensorId id, uint32_t i, const graph::Op& op,
                               Diagnostics& told) {
  const bool listed = std::find(op.results.begin(), op.results.end(), id) != op.results.end();
  return (!build.is_defined(id) && !listed) ||
         damaged(told, op.location,
                 fmt::format("result {} '{}' is an input, or an earlier operator already computes it", i,
                             escape_for_display(build.graph[id].name)));
}

// Operands, results and place. False without a message: a tensor could not be read.
bool OperatorReader::connect(size_t index, Build& build, graph::Op& op, Diagnostics& told) {
  const schema::Operator& from = raw(index);
  op.definition = resolved_[index].definition;
  op.location = where(index);
  if (!source_.copies.take(op.location.tensor.size())) {
    report_aliasing(told, op.location);
    return false;
  }
  bool readable = true;
  const bool control = is_control(resolved_[index].builtin);
  for (uint32_t i = 0; i < length(from.inputs()); ++i) {
    int32_t tensor = from.inputs()->Get(i);
    if (control && is_resource(*source_.subgraph, tensor)) continue;
    graph::TensorId id = tensor < 0 ? graph::TensorId{} : build.ids[static_cast<size_t>(tensor)];
    if (tensor >= 0 && !id.valid()) readable = false;
    if (id.valid() && !may_read(build, id, static_cast<int>(i), op.location, told)) return false;
    if (control && !may_leave(build, id, op.location, told)) return false;
    op.operands.push_back(id);
  }
  // What only changes variables has none.
  if (length(from.outputs()) == 0 && !control) return damaged(told, op.location, "the operator has no results");
  for (uint32_t i = 0; i < length(from.outputs()); ++i) {
    if (control && is_resource(*source_.subgraph, from.outputs()->Get(i))) continue;
    graph::TensorId id = build.ids[static_cast<size_t>(from.outputs()->Get(i))];
    if (id.valid() && !may_write(build, id, i, op, told)) return false;
    if (!id.valid()) readable = false;
    op.results.push_back(id);
  }
  return connect_states(index, build, op, told) && readable && (control || shift_bytes(build, op, told));
}

// A call of the user's function, which is passed what its description says of the file's options.
bool OperatorReader::import_given(size_t index, const TfliteOp& from, Build& build, graph::Op& op, Diagnostics& told) {
  const ops::GivenOperator& given = *resolved_[index].given;
  std::optional<FlexOptions> numbers;
  if (!given.attributes.empty()) {
    Diagnostics unread;
    const bool none = from.custom_options().empty();
    numbers.emplace(from, op, none ? unread : told);
    if (!none && !numbers->good()) return false;
  }
  const ops::GivenOptions options{
      from.custom_options(), [&](const std::string& name) { return numbers ? numbers->number(name) : std::nullopt; }};
  const bool good = ops::import_given(given, options, source_.given->reference, build.graph, op, told).ok();
  build.mark_added();
  return good;
}

// Attributes and shapes; is it then an operator that aotc takes?
bool OperatorReader::import(size_t index, Build& build, graph::Op& op, Diagnostics& told, bool settled) {
  if (!source_.constants.take(constant_bytes(op, build.graph))) {
    report_aliasing(told, op.location);
    return false;
  }
  bool derived = std::any_of(op.operands.begin(), op.operands.end(), [&](graph::TensorId id) {
    return id.valid() && build.derived[static_cast<size_t>(id.value)];
  });
  for (graph::TensorId id : op.results) build.derived[static_cast<size_t>(id.value)] = derived;
  const Resolved& known = resolved_[index];
  TfliteOp view(raw(index), build.graph, !derived, source_.subgraph);
  view.set_settled(settled);
  if (auto blocks = blocks_of(index)) view.set_block_scales(build.ids[static_cast<size_t>(blocks->scales)]);
  view.set_shifted(std::any_of(op.operands.begin(), op.operands.end(),
                               [&](graph::TensorId id) { return build.twins.contains(id); }));
  const bool imported = known.given != nullptr
                            ? import_given(index, view, build, op, told)
                            : known.rule->import(view, op, told) && connect_kept(index, build, op, told) &&
                                  connect_count(index, build, op, told);
  if (!imported) return false;
  settle_shapes(index, op, build);
  if (check_sizes(op, build, told) && ops::verify_op({build.graph, op}, told))
    return pass_count(index, build, op, told);
  if (known.given != nullptr)
    told.error(op.location, "operator-description",
               fmt::format("the description of '{}' does not match the model", escape_for_display(known.given->name)))
        .note(fmt::format("{}: described here", known.given->where.str()))
        .help("see \"shape\" in docs/custom-operators.md");
  return false;
}

bool OperatorReader::is_output(size_t index) const {
  const auto* results = raw(index).outputs();
  return std::any_of(results->begin(), results->end(), [&](int32_t r) { return outputs_[static_cast<size_t>(r)]; });
}

}  // namespace aotc::frontends
