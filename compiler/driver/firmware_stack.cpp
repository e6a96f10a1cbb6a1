// SPDX-License-Identifier: Apache-2.0
#include "driver/stack.h"

#include <fstream>

#include <algorithm>

#include <fmt/format.h>

#include "machine/objdump.h"
#include "support/files.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

constexpr int64_t kAlignment = 16;
constexpr const char* kSizeOption = "AOTC_STACK_SIZE";  // of the project's CMakeLists.txt
constexpr int kMostLinks = 4;

const machine::Section* section_named(const machine::Elf& elf, const char* name) {
  for (const machine::Section& s : elf.sections())
    if (s.name == name) return &s;
  return nullptr;
}

// Of a Cortex-M, behind the stack and the reset: priority 1 for NMI and HardFault, which interrupt all others.
std::vector<std::pair<uint32_t, int>> handlers_of(const machine::Elf& elf) {
  std::vector<std::pair<uint32_t, int>> out;
  const machine::Section* vectors = section_named(elf, ".vectors");
  if (vectors == nullptr || elf.isa() != machine::Isa::kThumb) return out;
  for (uint32_t i = 2; 4 * i + 4 <= vectors->size; ++i) {
    const auto word = elf.constant(vectors->address + 4 * i, 4);
    if (!word || *word == 0) continue;
    const std::pair<uint32_t, int> handler = {*word & ~1u, i < 4 ? 1 : 0};
    if (std::find(out.begin(), out.end(), handler) == out.end()) out.push_back(handler);
  }
  return out;
}

void bound_firmware(const machine::Elf& elf, const machine::Listing& listing, machine::StackAnalysis& analysis,
                    FirmwareStack& out) {
  machine::StackReport report;
  report.frame_bytes = machine::exception_frame(elf, listing);
  report.roots.push_back(analysis.bound(elf.entry() & ~1u));
  for (auto [handler, priority] : handlers_of(elf)) {
    report.interrupts.push_back({priority, analysis.bound(handler)});
    const machine::BoundState state = report.interrupts.back().bound.state;
    out.handlers_bounded = out.handlers_bounded && state != machine::BoundState::kUnbounded;
    out.handlers_proven = out.handlers_proven && state == machine::BoundState::kProven;
  }
  out.firmware_bytes = report.with_interrupts(report.roots[0]);
  out.firmware_json = machine::stack_json(elf, report)["roots"][0];
  out.firmware = std::move(report.roots[0]);
}

// What build_project does, with the stack's size.
int link_with(const ProjectDir& project, int64_t bytes, bool quiet, Diagnostics& diags) {
  ProjectDir sized = project;
  sized.manifest["configure"].push_back(fmt::format("-D{}={}", kSizeOption, bytes));
  return build_project(sized, quiet, diags);
}

// Bytes that hold what was bounded.
int64_t size_for(const FirmwareStack& stack) {
  return (stack.firmware_bytes + kAlignment - 1) / kAlignment * kAlignment;
}

bool takes_size(const ProjectDir& project) {
  Diagnostics ignored;
  auto bytes = read_file(project.path + "/CMakeLists.txt", ignored, 1 << 20);
  return bytes && project.manifest.contains("configure") &&
         std::string_view(reinterpret_cast<const char*>(bytes->data()), bytes->size()).find(kSizeOption) !=
             std::string_view::npos;
}

bool was_fitted(const ProjectDir& project) {
  std::ifstream cache(project.path + "/build/CMakeCache.txt");
  const std::string begin = std::string(kSizeOption) + ":";
  for (std::string line; std::getline(cache, line);)
    if (line.starts_with(begin)) return !line.ends_with("=");
  return false;
}

const char* word_for(const machine::StackBound& bound) {
  return bound.state == machine::BoundState::kProven    ? "proven"
         : bound.state == machine::BoundState::kAssumed ? "assumed"
                                                        : "unbounded";
}

}  // namespace

std::string FirmwareStack::state() const {
  if (!firmware || !handlers_bounded || firmware->state == machine::BoundState::kUnbounded) return "unbounded";
  return handlers_proven && firmware->state == machine::BoundState::kProven ? "proven" : "assumed";
}

std::optional<FirmwareStack> stack_of_firmware(const ProjectDir& project) {
  if (!project.has_image() || project.board.is_host()) return std::nullopt;
  Diagnostics ignored;  // what is no program that can be read has no such figure
  auto bytes = read_file(project.image(), ignored);
  if (!bytes) return std::nullopt;
  auto elf = machine::Elf::read(std::move(*bytes), project.image(), ignored);
  if (!elf) return std::nullopt;
  auto listing = machine::objdump_decoder("")(*elf, ignored);
  if (!listing) return std::nullopt;
  machine::StackAnalysis analysis(*elf, *listing, {});
  FirmwareStack out;
  if (const auto roots = machine::functions_called(*elf, project.manifest.value("prefix", "") + "_run");
      !roots.empty()) {
    machine::StackReport report;
    report.roots.push_back(analysis.bound(roots[0]));
    out.model_json = machine::stack_json(*elf, report)["roots"][0];
    out.model = std::move(report.roots[0]);
  }
  if (const machine::Section* stack = section_named(*elf, ".stack")) {
    out.reserved = stack->size;
    out.fitted = was_fitted(project);
    bound_firmware(*elf, *listing, analysis, out);
  }
  return out;
}

int fit_stack(const ProjectDir& project, bool quiet, std::optional<FirmwareStack>& stack, Diagnostics& diags) {
  Location where;
  where.file = project.path;
  if (!takes_size(project) || !stack || !stack->firmware) {
    diags.error(where, "stack-fixed", "the stack size of this project cannot be set at link time")
        .help(
            "compute a bound with 'aotc analyze stack', and set the size in the configuration of the project's "
            "framework");
    return kExitBadInput;
  }
  for (int links = 0; links < kMostLinks; ++links) {
    if (stack->state() == "unbounded") {
      diags.error(where, "stack-unbounded", "the stack of the firmware has no bound")
          .help("'aotc analyze stack " + shell_quoted(project.image()) + "' names the obstacles");
      return kExitBadInput;
    }
    const int64_t bytes = size_for(*stack);
    if (stack->reserved == bytes) return kExitDone;
    if (const int code = link_with(project, bytes, quiet, diags); code != kExitDone) {
      Diagnostics ignored;  // the project is as it was: the next build takes what this one took
      (void)link_with(project, stack->reserved, true, ignored);
      return code;
    }
    stack = stack_of_firmware(project);
    if (!stack || !stack->firmware) break;
  }
  if (stack && stack->fits()) return kExitDone;
  diags.error(where, "internal", "the stack of the firmware grows with the reserved size")
      .help("please report this with the project");
  return kExitInternal;
}

std::string stack_text(const FirmwareStack& s) {
  std::string out;
  if (s.model) {
    const bool none = s.model->state == machine::BoundState::kUnbounded;
    out += fmt::format("stack: a run takes {}{}, {}\n", none ? "an unbounded number of bytes, at least " : "at most ",
                       exact_bytes(s.model->bytes), word_for(*s.model));
  }
  if (s.firmware && s.state() == "unbounded")
    out += fmt::format("stack: no bound for the firmware; {} reserved\n", exact_bytes(s.reserved));
  else if (s.firmware)
    out += fmt::format("stack: the firmware with its handlers takes at most {}, {}; {} reserved\n",
                       exact_bytes(s.firmware_bytes), s.state(), exact_bytes(s.reserved));
  return out;
}

nlohmann::ordered_json stack_json(const FirmwareStack& s) {
  nlohmann::ordered_json j;
  if (s.model) j["model"] = s.model_json;
  if (!s.firmware) return j;
  j["firmware"] = s.firmware_json;
  j["bytes"] = s.firmware_bytes;
  j["state"] = s.state();
  j["reserved_bytes"] = s.reserved;
  return j;
}

}  // namespace aotc::driver
