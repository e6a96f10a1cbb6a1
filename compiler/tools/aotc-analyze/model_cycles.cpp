// SPDX-License-Identifier: Apache-2.0
#include "commands.h"

#include <map>
#include <memory>
#include <sstream>

#include <fmt/format.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MCA/Context.h>
#include <llvm/MCA/CustomBehaviour.h>
#include <llvm/MCA/InstrBuilder.h>
#include <llvm/MCA/Pipeline.h>
#include <llvm/MCA/SourceMgr.h>
#include <nlohmann/json.hpp>

#include "llvm_machine.h"
#include "machine/commands.h"
#include "support/files.h"
#include "support/json.h"
#include "support/streams.h"
#include "worker.h"

namespace aotc::analyze {

namespace {

// What a call takes is in the counts of its instructions.
constexpr unsigned kCallCycles = 1;
// Turns that a loop is simulated, less the first: the pipeline is then as it stays.
constexpr unsigned kTurns = 50;

struct Block {
  uint32_t begin = 0, end = 0;  // end: of the last instruction
  bool loop = false;
};

// A line for each: "8000 8010 1", in hexadecimal.
std::optional<std::vector<Block>> blocks_in(const std::string& text) {
  std::vector<Block> out;
  std::istringstream lines(text);
  uint32_t loop = 0;
  for (Block b; lines >> std::hex >> b.begin >> b.end >> loop;) {
    b.loop = loop != 0;
    if (b.end <= b.begin) return std::nullopt;
    out.push_back(b);
  }
  if (!lines.eof()) return std::nullopt;
  return out;
}

class Model {
 public:
  Model(LlvmMachine& machine)
      : m_(machine),
        instruments_(*m_.subtarget, *m_.instructions),
        builder_(*m_.subtarget, *m_.instructions, *m_.registers, m_.analysis.get(), instruments_, kCallCycles) {}

  // All instructions of the program, in order: IT blocks make those behind them conditional.
  void decode(const machine::Elf& elf) {
    m_.decode(elf,
              [&](uint32_t address, const llvm::MCInst& inst, uint32_t size) { decoded_[address] = {inst, size}; });
  }

  // Cycles of one pass when another of the same is before it.
  double cycles(const Block& block) {
    std::vector<std::unique_ptr<llvm::mca::Instruction>> sequence;
    builder_.clear();
    double apart = 0;
    for (uint32_t at = block.begin; at < block.end;) {
      auto found = decoded_.find(at);
      if (found == decoded_.end()) {
        ++apart, ++unknown_, at += 2;
        continue;
      }
      auto made = builder_.createInstruction(found->second.first, {});
      if (made) {
        sequence.push_back(std::move(*made));
      } else {
        llvm::consumeError(made.takeError());
        ++apart, ++unknown_;
      }
      at += found->second.second;
    }
    if (sequence.empty()) return apart;
    const unsigned turns = block.loop ? kTurns : 1;
    return apart + (simulated(sequence, turns + 1) - simulated(sequence, 1)) / turns;
  }

  int64_t unknown() const { return unknown_; }

 private:
  double simulated(const std::vector<std::unique_ptr<llvm::mca::Instruction>>& sequence, unsigned turns) {
    llvm::mca::CircularSourceMgr source(sequence, turns);
    llvm::mca::CustomBehaviour behaviour(*m_.subtarget, source, *m_.instructions);
    llvm::mca::Context context(*m_.registers, *m_.subtarget);
    const llvm::mca::PipelineOptions options(0, 0, 0, 0, 0, 0, true);
    auto pipeline = context.createDefaultPipeline(options, source, behaviour);
    auto ran = pipeline->run();
    if (ran) return *ran;
    llvm::consumeError(ran.takeError());
    unknown_ += static_cast<int64_t>(sequence.size());
    return static_cast<double>(sequence.size()) * turns;
  }

  LlvmMachine& m_;
  llvm::mca::InstrumentManager instruments_;
  llvm::mca::InstrBuilder builder_;
  std::map<uint32_t, std::pair<llvm::MCInst, uint32_t>> decoded_;
  int64_t unknown_ = 0;
};

// Whose model it is: LLVM takes that of another core for some.
std::string owner_of(const llvm::MCSubtargetInfo& subtarget, const std::string& cpu) {
  const llvm::MCSchedModel* model = &subtarget.getSchedModel();
  for (const char* owner : {"cortex-m4", "cortex-m55"})
    if (subtarget.isCPUStringValid(owner) && model == &subtarget.getSchedModelForCPU(owner)) return owner;
  return cpu;
}

nlohmann::ordered_json modelled(const machine::Elf& elf, const std::string& cpu, const std::vector<Block>& blocks) {
  LlvmMachine machine;
  std::string why;
  if (!machine.make(elf, cpu, why)) return {{"reason", "LLVM: " + why}};
  const std::string none = fmt::format("LLVM has no scheduling model for {}", cpu);
  if (!machine.subtarget->isCPUStringValid(cpu) || !machine.subtarget->getSchedModel().hasInstrSchedModel())
    return {{"reason", none}};
  Model model(machine);
  model.decode(elf);
  nlohmann::ordered_json out = {{"model", owner_of(*machine.subtarget, cpu)}};
  out["blocks"] = nlohmann::ordered_json::array();
  for (const Block& b : blocks) out["blocks"].push_back(model.cycles(b));
  out["unknown"] = model.unknown();
  return out;
}

struct ModelOptions {
  std::string file, cpu, blocks;
};

int model_cycles(const ModelOptions& o) {
  Diagnostics diags;
  auto elf = machine::read_program(o.file, diags);
  if (!elf) return machine::failed(diags);
  auto bytes = read_file(o.blocks, diags);
  if (!bytes) return machine::failed(diags);
  auto blocks = blocks_in(std::string(bytes->begin(), bytes->end()));
  if (!blocks)
    return options::usage_error("aotc-analyze model-cycles",
                                "a line in the file of --blocks does not have the form BEGIN END LOOP");
  const Worker::Outcome outcome = Worker().run(
      [&](Worker& worker) {
        worker.begin(o.file);
        const std::string text = aotc::json_text(modelled(*elf, o.cpu, *blocks), 0);
        worker.speak();
        write_out(text + "\n");
        return finish_streams(machine::kDone);
      },
      120);
  if (outcome.failed.empty()) return outcome.exit_code;
  write_out(aotc::json_text(nlohmann::ordered_json{{"reason", "LLVM's analyser " + outcome.failed}}, 0) + "\n");
  return machine::kDone;
}

}  // namespace

options::Command model_cycles_declaration() {
  auto o = std::make_shared<ModelOptions>();
  return {.name = "model-cycles",
          .summary =
              "Estimate the cycles of a linked program's blocks with LLVM's model of a core, and print JSON for 'aotc "
              "analyze cycles'",
          .options = {machine::firmware_option(o->file),
                      {.names = "--cpu",
                       .value = "NAME",
                       .target = &o->cpu,
                       .help = "Use LLVM's model of this core; give LLVM's name of the core, such as cortex-m4",
                       .required = true},
                      {.names = "--blocks",
                       .value = "FILE",
                       .target = &o->blocks,
                       .help = "Read the blocks from this file: lines 'BEGIN END LOOP' in hexadecimal; LOOP is 1 if "
                               "the block jumps back to itself",
                       .required = true,
                       .takes = options::Takes::kFile}},
          .run = [o] { return model_cycles(*o); }};
}

}  // namespace aotc::analyze
