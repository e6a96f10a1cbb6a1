// SPDX-License-Identifier: Apache-2.0
#include "driver/operator_bench.h"

#include <algorithm>

#include <fmt/format.h>

#include "cores/instruction_counter.h"
#include "driver/device.h"
#include "mlf/full_model.h"
#include "mlf/operator_archive.h"
#include "ops/operator.h"
#include "support/files.h"
#include "support/json.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

constexpr const char* kTexts = "src/tir-";

// A value that any operator takes: wide integers are more often indices than data.
std::vector<uint8_t> operand_value(const rpc::TensorType& type, uint64_t seed) {
  if (type.code != 2 && type.bits >= 32) return std::vector<uint8_t>(type.bytes());
  return random_values(type, seed);
}

Result<BenchParameter> parameter_of(const tir::Buffer& buffer, Diagnostics& diags) {
  BenchParameter out;
  out.name = buffer.name;
  out.dtype = mlf::dtype_text(buffer.dtype);
  auto type = tensor_type(out.dtype, {buffer.elements}, diags);
  if (!type) return kFailure;
  out.type = *type;
  return out;
}

// Those of `function`, which is the lowered one or the same under other names, with the tables and
// constants that it is called with, and some values for what the model computes.
Result<std::vector<BenchParameter>> parameters_of(const tir::Function& function, const ops::Lowered& lowered,
                                                  uint64_t seed, Diagnostics& diags) {
  std::vector<BenchParameter> out;
  for (size_t i = 0; i < function.params.size(); ++i) {
    auto parameter = parameter_of(*function.params[i], diags);
    if (!parameter) return kFailure;
    const ops::Arg& arg = lowered.args.at(i);
    parameter->result = arg.kind == ops::ArgKind::kResult;
    if (arg.kind == ops::ArgKind::kConstant)
      parameter->value = lowered.constants.at(static_cast<size_t>(arg.index)).bytes;
    if (arg.kind == ops::ArgKind::kOperand) parameter->value = operand_value(parameter->type, seed + i);
    parameter->value.resize(parameter->value.empty() ? 0 : parameter->type.bytes());
    out.push_back(std::move(*parameter));
  }
  return out;
}

// The function with the tables and the constants that the model's operator calls it with.
Result<BenchOperator> from_entry(const mlf::OperatorEntry& entry, const Compiled& compiled, uint64_t seed,
                                 Diagnostics& diags) {
  const graph::Graph& graph = compiled.program.graph;
  const graph::Op& op = graph.ops[static_cast<size_t>(entry.ops.at(0))];
  const ops::OpView view{graph, op};
  ops::TargetInfo cpu = compiled.plan_options.target;
  const int part = plan::parts_of(graph)[static_cast<size_t>(entry.ops.at(0))];
  cpu.asked = ops::find_schedule(compiled.options.schedules, op.location.op_index, part);
  const ops::Lowered lowered = ops::lower(view, cpu);
  BenchOperator out;
  out.name = entry.name;
  out.title = fmt::format("{}", op.name());
  for (int i : entry.ops) out.ops.push_back(graph.ops[static_cast<size_t>(i)].location.op_index);
  out.macs = ops::definition_of(op).macs(view);
  const cores::LoweredCost cost = cores::estimate_of(lowered, cpu);
  out.instructions = cost.instructions;
  out.cycles = cost.cycles;
  out.function = entry.function;
  auto parameters = parameters_of(*entry.function, lowered, seed, diags);
  if (!parameters) return kFailure;
  out.parameters = std::move(*parameters);
  return out;
}

Result<Bench> from_model(const CompileOptions& options, uint64_t seed, Diagnostics& diags) {
  auto compiled = compile_model(options, diags);
  if (!compiled) return kFailure;
  mlf::OperatorChoice choice;
  choice.target = compiled->plan_options.target;
  choice.schedules = compiled->options.schedules;
  const auto& devices = compiled->program.devices;
  auto entries = mlf::collect_operators(compiled->program.graph, choice, devices, diags);
  if (!entries) return kFailure;
  mlf::OperatorArchive description;
  description.name = compiled->prefix;
  description.kernels = options.kernels;
  description.version = kVersion;
  auto files = mlf::operator_files(*entries, devices, description, diags);
  if (!files) return kFailure;
  Bench out;
  out.archive.version = mlf::kVersion;
  out.archive.style = mlf::kOperator;
  (void)parse_json(files->at(mlf::kMetadata), out.archive.metadata);
  for (const auto& [name, text] : *files) out.archive.files[name].assign(text.begin(), text.end());
  for (const mlf::OperatorEntry& entry : *entries) {
    auto op = from_entry(entry, *compiled, seed, diags);
    if (!op) return kFailure;
    out.operators.push_back(std::move(*op));
  }
  return out;
}

// The functions of an archive that aotc wrote have tables whose contents only the model knows:
// with others they might run for ever.
Status refuse_tables(const mlf::Archive& archive, const std::string& path, Diagnostics& diags) {
  for (const auto& [name, bytes] : archive.files) {
    if (!name.starts_with(kTexts)) continue;
    Diagnostics unread;  // texts that other programs wrote
    auto functions = mlf::parse_operators(std::string(bytes.begin(), bytes.end()), name, unread);
    if (!functions) continue;
    for (const tir::FunctionPtr& f : *functions)
      for (const tir::BufferPtr& b : f->params)
        if (b->role == tir::Role::kConstant) {
          Location where;
          where.file = path;
          diags
              .error(
                  where, "bench-tables",
                  fmt::format(
                      "the archive does not contain the tables that its functions need (such as '{}' of function '{}')",
                      b->name, f->name))
              .help("give the model instead: aotc bench --ops MODEL --board BOARD");
          return kFailure;
        }
  }
  return success();
}

// The functions that the graph of an archive calls, with the parameters that it gives them.
Result<std::vector<BenchOperator>> graph_operators(const CompileOptions& options, uint64_t seed, Diagnostics& diags) {
  auto graph = load_model(options, nullptr, nullptr, diags);
  if (!graph) return kFailure;
  std::vector<BenchOperator> out;
  for (const graph::Op& op : graph->ops) {
    if (!ops::definition_of(op).traits().external) continue;
    const ops::Lowered lowered = ops::lower({*graph, op}, {});
    if (!lowered.external) continue;
    auto known = std::find_if(out.begin(), out.end(),
                              [&](const BenchOperator& o) { return o.name == lowered.external->symbol; });
    if (known != out.end()) {
      known->ops.push_back(op.location.op_index);
      continue;
    }
    auto parameters = parameters_of(*lowered.function, lowered, seed, diags);
    if (!parameters) return kFailure;
    BenchOperator made;
    made.name = lowered.external->symbol;
    made.ops = {op.location.op_index};
    made.parameters = std::move(*parameters);
    out.push_back(std::move(made));
  }
  return out;
}

Result<Bench> from_archive(const CompileOptions& options, uint64_t seed, Diagnostics& diags) {
  auto archive = mlf::read_archive(options.model_path, diags);
  if (!archive || !refuse_tables(*archive, options.model_path, diags)) return kFailure;
  auto operators = archive_operators(*archive, options, seed, diags);
  if (!operators) return kFailure;
  return Bench{std::move(*archive), std::move(*operators)};
}

}  // namespace

Result<std::vector<BenchOperator>> archive_operators(const mlf::Archive& archive, const CompileOptions& options,
                                                     uint64_t seed, Diagnostics& diags) {
  if (archive.style != mlf::kOperator) return graph_operators(options, seed, diags);
  std::vector<BenchOperator> out;
  for (const mlf::OperatorInfo& info : mlf::operators_of(archive)) {
    BenchOperator op;
    op.name = info.name;
    for (const mlf::OperatorParameter& p : info.parameters) {
      auto type = tensor_type(p.dtype, p.shape, diags);
      if (!type) return kFailure;
      op.parameters.push_back({p.binding, p.dtype, *type, operand_value(*type, seed + op.parameters.size()), false});
    }
    out.push_back(std::move(op));
  }
  return out;
}

std::vector<mlf::OperatorInfo> infos_of(const std::vector<BenchOperator>& operators) {
  std::vector<mlf::OperatorInfo> out;
  for (const BenchOperator& op : operators) {
    mlf::OperatorInfo info{op.name, {}};
    for (const BenchParameter& p : op.parameters) {
      std::vector<int64_t> shape(p.type.shape.begin(), p.type.shape.end());
      info.parameters.push_back({p.name, p.dtype, shape, static_cast<int64_t>(p.type.bytes())});
    }
    out.push_back(std::move(info));
  }
  return out;
}

Result<Bench> prepare_bench(const CompileOptions& options, uint64_t seed, Diagnostics& diags) {
  if (options.model_path.ends_with(".tar")) return from_archive(options, seed, diags);
  return from_model(options, seed, diags);
}

Result<std::vector<std::vector<uint8_t>>> expected_results(const BenchOperator& op, Diagnostics& diags) {
  std::vector<std::vector<uint8_t>> out;
  if (!op.function) return out;
  std::vector<tir::Memory> memory;
  for (const BenchParameter& p : op.parameters) {
    out.push_back(p.value);
    out.back().resize(p.type.bytes());
  }
  for (auto& bytes : out) memory.push_back({bytes.data(), static_cast<int64_t>(bytes.size())});
  if (!tir::interpret(*op.function, memory, diags)) return kFailure;
  return out;
}

}  // namespace aotc::driver
