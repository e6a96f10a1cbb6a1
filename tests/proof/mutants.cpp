// SPDX-License-Identifier: Apache-2.0
#include "mutants.h"

#include <algorithm>

#include <fmt/format.h>

namespace aotc::tests::proof {

std::vector<Instruction> instructions_of(const Isa& isa, const MachineCode& code, const std::vector<uint8_t>& bytes) {
  const std::vector<MachineCode::Line> lines = code.disassemble(bytes);
  if (lines.empty()) throw Failure("bytes that are no instructions");
  std::vector<Instruction> out;
  for (const MachineCode::Line& line : lines) out.push_back(isa.read(line));
  return out;
}

namespace {

using Kind = Operand::Kind;

class Maker {
 public:
  Maker(const Isa& isa, const std::vector<Instruction>& text) : isa_(isa), text_(text) {}

  std::vector<Mutant> run() {
    for (where_ = 0; where_ < text_.size(); ++where_) {
      const Instruction& i = text_[where_];
      if (i.name == "it" || i.name == "nop") continue;
      names(i);
      for (size_t k = 0; k < i.operands.size(); ++k) operand(i, k);
      add(isa_.nothing(i), "nothing");
    }
    return std::move(out_);
  }

 private:
  void add(const Instruction& other, const std::string& what) {
    const Instruction& i = text_[where_];
    Mutant m;
    m.where = where_, m.what = fmt::format("at {:#x}, '{}': {}", i.at, i.text, what), m.other = other;
    out_.push_back(std::move(m));
  }

  void names(const Instruction& i) {
    for (const auto& list : isa_.alike())
      if (std::ranges::find(list, i.name) != list.end())
        for (const std::string& name : list) {
          Instruction other = i;
          if (name != i.name && isa_.set_name(other, name)) add(other, name);
        }
    if (i.condition.empty()) return;
    for (const std::string& condition : isa_.conditions()) {
      Instruction other = i;
      other.condition = condition;
      if (i.condition != condition) add(other, condition);
    }
    Instruction always = i;
    always.condition.clear();
    add(always, "always");
  }

  void operand(const Instruction& i, size_t k) {
    constexpr int kSingles = 16;
    const Operand& o = i.operands[k];
    auto changed = [&](const std::string& what, auto&& change) {
      Instruction other = i;
      change(other.operands[k]);
      if (other.operands[k] != o) add(other, fmt::format("operand {}: {}", k, what));
    };
    const int all = o.kind == Kind::kFloat ? kSingles : isa_.registers();
    if (o.reg >= 0)
      for (int r = 0; r < all; ++r) changed(fmt::format("register {}", r), [&](Operand& to) { to.reg = r; });
    if (o.index >= 0)
      for (int r = 0; r < all; ++r) changed(fmt::format("index {}", r), [&](Operand& to) { to.index = r; });
    if (o.kind == Kind::kNumber || o.kind == Kind::kMemory || o.kind == Kind::kShift)
      for (int64_t by : {-8, -4, -1, 1, 4, 8}) changed(fmt::format("{:+}", by), [&](Operand& to) { to.number += by; });
    if (o.kind == Kind::kShift)
      for (auto shift :
           {Operand::Shift::kLeft, Operand::Shift::kRightUnsigned, Operand::Shift::kRight, Operand::Shift::kRotate})
        changed(fmt::format("shift {}", static_cast<int>(shift)), [&](Operand& to) { to.shift = shift; });
    if (o.kind == Kind::kList || o.kind == Kind::kFloatList)
      for (int r = 0; r < all; ++r)
        changed(fmt::format("bit {}", r), [&](Operand& to) { to.list ^= uint32_t{1} << r; });
    // Without an effect where nothing moves the address, or a number behind it does.
    const bool moves = o.kind == Kind::kMemory && o.index < 0 && o.number != 0 && k + 1 == i.operands.size();
    if (o.written || moves || (o.kind == Kind::kRegister && i.operands.back().kind == Kind::kList))
      changed("written", [&](Operand& to) { to.written = !to.written; });
  }

  const Isa& isa_;
  const std::vector<Instruction>& text_;
  size_t where_ = 0;
  std::vector<Mutant> out_;
};

}  // namespace

std::vector<Mutant> mutants_of(const Isa& isa, const std::vector<Instruction>& text) { return Maker(isa, text).run(); }

}  // namespace aotc::tests::proof
