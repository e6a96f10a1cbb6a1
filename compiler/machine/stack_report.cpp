// SPDX-License-Identifier: Apache-2.0
#include "machine/stack_report.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/text.h"

namespace aotc::machine {

namespace {

using Json = nlohmann::ordered_json;

// Eight words, eighteen more with the floating-point unit's, and one to align.
constexpr int64_t kArmFrame = 32, kArmFloatFrame = 104, kArmAlignment = 4;

const char* word_for(BoundState state) {
  switch (state) {
    case BoundState::kProven: return "proven";
    case BoundState::kAssumed: return "assumed";
    case BoundState::kUnbounded: break;
  }
  return "unbounded";
}

const char* word_for(ProblemKind kind) {
  switch (kind) {
    case ProblemKind::kStackPointer: return "stack-pointer";
    case ProblemKind::kStackGrows: return "stack-grows";
    case ProblemKind::kUnbalanced: return "unbalanced";
    case ProblemKind::kJump: return "jump";
    case ProblemKind::kIndirectCall: return "indirect-call";
    case ProblemKind::kException: return "exception";
    case ProblemKind::kVectorLength: return "vector-length";
    case ProblemKind::kRecursion: return "recursion";
    case ProblemKind::kNoReturn: return "no-return";
    case ProblemKind::kNoCode: break;
  }
  return "no-code";
}

std::string bound_text(const Elf& elf, const StackBound& b) {
  const bool none = b.state == BoundState::kUnbounded;
  std::string out =
      fmt::format("{}: {}{} bytes of stack, {} ({} function{})\n", elf.function_name(b.root), none ? "at least " : "",
                  with_commas(b.bytes), word_for(b.state), b.functions, b.functions == 1 ? "" : "s");
  for (size_t i = 0; i < b.chain.size(); ++i) {
    const ChainLink& link = b.chain[i];
    out += fmt::format("  {:>6}  {:<32} {} {}\n", with_commas(link.bytes), elf.function_name(link.function),
                       i + 1 < b.chain.size() ? "calls at" : "deepest at", elf.place(link.place));
  }
  for (const Problem& p : b.problems)
    out += fmt::format("  {}: {}: {}\n", p.assumed ? "assumed" : "unbounded", elf.place(p.address), p.text);
  return out;
}

Json bound_json(const Elf& elf, const StackBound& b) {
  Json j;
  j["function"] = elf.function_name(b.root);
  j["address"] = b.root;
  j["bytes"] = b.bytes;
  j["state"] = word_for(b.state);
  j["functions"] = b.functions;
  j["chain"] = Json::array();
  for (const ChainLink& link : b.chain)
    j["chain"].push_back({{"function", elf.function_name(link.function)},
                          {"address", link.function},
                          {"bytes", link.bytes},
                          {"place", elf.place(link.place)}});
  j["problems"] = Json::array();
  for (const Problem& p : b.problems)
    j["problems"].push_back({{"kind", word_for(p.kind)},
                             {"place", elf.place(p.address)},
                             {"address", p.address},
                             {"assumed", p.assumed},
                             {"text", p.text}});
  return j;
}

bool is_proven(const StackBound& b) {
  return std::all_of(b.problems.begin(), b.problems.end(), [](const Problem& p) { return p.given; });
}

}  // namespace

// The deepest handler of every priority, one on the other, with what is pushed for each.
int64_t StackReport::handlers() const {
  std::map<int, int64_t> worst;
  for (const Interrupt& i : interrupts) {
    int64_t& bytes = worst[i.priority];
    bytes = std::max(bytes, i.bound.bytes + frame_bytes);
  }
  int64_t sum = 0;
  for (auto& [priority, bytes] : worst) sum += bytes;
  return sum;
}

int64_t StackReport::with_interrupts(const StackBound& root) const {
  if (!handlers_apart) return root.bytes + handlers();
  return root.bytes + (interrupts.empty() ? 0 : frame_bytes);
}

int64_t StackReport::handlers_stack() const {
  return handlers_apart && !interrupts.empty() ? handlers() - frame_bytes : 0;
}

bool StackReport::proven() const {
  return std::all_of(roots.begin(), roots.end(), is_proven) &&
         std::all_of(interrupts.begin(), interrupts.end(), [](const Interrupt& i) { return is_proven(i.bound); });
}

int64_t exception_frame(const Elf& elf, const Listing& listing) {
  if (elf.isa() != Isa::kThumb) return 0;
  bool has_float = false;
  for (const Instruction& i : listing.all()) has_float = has_float || i.uses(kSingles);
  return (has_float ? kArmFloatFrame : kArmFrame) + kArmAlignment;
}

std::string stack_text(const Elf& elf, const StackReport& report) {
  std::string out;
  for (const StackBound& b : report.roots) {
    out += bound_text(elf, b);
    if (!report.interrupts.empty())
      out += fmt::format("  with interrupts: {} bytes\n", with_commas(report.with_interrupts(b)));
  }
  if (report.handlers_stack() > 0)
    out += fmt::format("the stack of the interrupts: {} bytes\n", with_commas(report.handlers_stack()));
  for (const Interrupt& i : report.interrupts)
    out += fmt::format("interrupt of priority {}, {} bytes pushed by the processor\n{}", i.priority, report.frame_bytes,
                       bound_text(elf, i.bound));
  return out;
}

nlohmann::ordered_json stack_json(const Elf& elf, const StackReport& report) {
  Json j;
  j["file"] = elf.file();
  j["isa"] = elf.isa() == Isa::kThumb ? "thumb" : elf.isa() == Isa::kRiscv ? "rv32" : "avr";
  j["roots"] = Json::array();
  for (const StackBound& b : report.roots) {
    j["roots"].push_back(bound_json(elf, b));
    j["roots"].back()["with_interrupts"] = report.with_interrupts(b);
  }
  if (report.handlers_apart) j["interrupt_stack_bytes"] = report.handlers_stack();
  j["interrupts"] = Json::array();
  for (const Interrupt& i : report.interrupts) {
    j["interrupts"].push_back(bound_json(elf, i.bound));
    j["interrupts"].back()["priority"] = i.priority;
    j["interrupts"].back()["frame_bytes"] = report.frame_bytes;
  }
  return j;
}

}  // namespace aotc::machine
