// SPDX-License-Identifier: Apache-2.0
#include "codegen/c_places.h"

#include <fmt/format.h>

#include "codegen/c_run.h"
#include "support/text.h"
#include "support/tvm_params.h"

namespace aotc::codegen {

using plan::Program;
using plan::ProgramCall;
using plan::Storage;
using plan::StorageKind;

namespace {

void mark_repeated(const plan::ProgramStep& step, bool in_repeat, std::vector<bool>& repeated) {
  if (step.kind == plan::ProgramStep::Kind::kCall && in_repeat) repeated[static_cast<size_t>(step.call)] = true;
  in_repeat = in_repeat || step.kind == plan::ProgramStep::Kind::kRepeat;
  for (const std::vector<plan::ProgramStep>& block : step.blocks)
    for (const plan::ProgramStep& inner : block) mark_repeated(inner, in_repeat, repeated);
}

}  // namespace

PlaceNames::Key PlaceNames::key(const Storage& storage, int call) {
  return {storage.pool, storage.offset, storage.index, storage.index < 0 ? call : -1};
}

void PlaceNames::add(const Key& key, const std::string& name, const plan::CallArgument& argument, bool scratch) {
  if (!names_.emplace(key, name).second) return;
  const std::string type = tvm::DataType::of(argument.dtype).str();
  places_.push_back({name,
                     scratch ? fmt::format("{} {}, scratch", argument.elements, type)
                             : fmt::format("{} {}", type, graph::to_string(argument.shape)),
                     argument.storage.offset});
}

PlaceNames::PlaceNames(const Program& program, const CodegenOptions& options, const ModelFiles& names)
    : up_(upper(options.prefix)) {
  if (options.memory == MemoryMode::kWorkspace) return;
  for (size_t i = 0; i < program.inputs.size(); ++i)
    if (program.inputs[i].kind == StorageKind::kArena)
      names_.emplace(key(program.inputs[i], -1), fmt::format("{}_INPUT_{}_OFFSET", up_, upper(names.input_fields[i])));
  for (size_t i = 0; i < program.outputs.size(); ++i)
    if (program.outputs[i].kind == StorageKind::kArena)
      names_.emplace(key(program.outputs[i], -1),
                     fmt::format("{}_OUTPUT_{}_OFFSET", up_, upper(names.output_fields[i])));
  const bool loops = prints_loops(program, options);
  std::vector<bool> repeated(program.calls.size(), false);
  for (const plan::ProgramStep& step : program.body)
    if (loops) mark_repeated(step, false, repeated);
  for (size_t c = 0; c < program.calls.size(); ++c) {
    if (repeated[c]) continue;  // its places are numbers in lists
    const ProgramCall& call = program.calls[c];
    const auto& params = program.functions[static_cast<size_t>(call.function)].body->params;
    for (size_t a = 0; a < call.arguments.size(); ++a) {
      const Storage& storage = call.arguments[a].storage;
      if (storage.kind != StorageKind::kArena) continue;
      add(key(storage, static_cast<int>(c)), fmt::format("{}_CALL{}_{}", up_, c, upper(c_identifier(params[a]->name))),
          call.arguments[a], storage.index < 0);
    }
  }
}

std::string PlaceNames::offset(const Storage& storage, size_t call) const {
  auto found = names_.find(key(storage, static_cast<int>(call)));
  return found == names_.end() ? std::to_string(storage.offset) : found->second;
}

std::string PlaceNames::definition() const {
  if (places_.empty()) return "";
  std::string s =
      "/* Where things lie in the arena, in bytes. What is over makes place for what follows. "
      "*/\nenum {\n";
  for (const Place& place : places_)
    s += fmt::format("    {} = {}, /* {} */\n", place.name, place.offset, place.comment);
  return s + "};\n\n";
}

}  // namespace aotc::codegen
