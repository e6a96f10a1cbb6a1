// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/thumb.h"

#include <algorithm>

#include <fmt/format.h>

#include "cores/arm/thumb_count.h"

namespace aotc::cores::arm {

namespace {

constexpr int kSavedBytes = 9 * 4;  // r4 to r11, lr

}  // namespace

std::string Thumb::name(Reg r) {
  if (r == sp) return "sp";
  if (r == lr) return "lr";
  if (r == pc) return "pc";
  return fmt::format("r{}", r.number);
}

std::string Thumb::set(std::initializer_list<Reg> list) {
  std::string out;
  for (Reg r : list) out += (out.empty() ? "{" : ", ") + name(r);
  return out + "}";
}

std::string Thumb::target(Label to) const {
  bool before = static_cast<size_t>(to.number) < bound_.size() && bound_[static_cast<size_t>(to.number)];
  return fmt::format("{}{}", to.number, before ? "b" : "f");
}

void Thumb::emit(const std::string& mnemonic, std::initializer_list<std::string> operands) {
  std::string line = mnemonic;
  const char* separator = " ";
  for (const std::string& o : operands) {
    line += separator + o;
    separator = ",";
  }
  lines_.push_back(std::move(line));
}

void Thumb::mov32(Reg d, uint32_t imm) {
  emit("movw", {name(d), imm_text(static_cast<int>(imm & 0xFFFF))});
  emit("movt", {name(d), imm_text(static_cast<int>(imm >> 16))});
}

void Thumb::sxtb16(Reg d, Reg m, int rotate) {
  if (rotate == 0) return three("sxtb16", d, m);
  emit("sxtb16", {name(d), name(m), shift("ror", rotate)});
}

void Thumb::saturate(const char* op, Reg d, int bits, Reg m, int by) {
  if (by == 0) return emit(op, {name(d), imm_text(bits), name(m)});
  emit(op, {name(d), imm_text(bits), name(m), shift("asr", by)});
}

void Thumb::access(const char* op, Reg t, Reg n, int offset) {
  emit(op, {name(t), offset == 0 ? fmt::format("[{}]", name(n)) : fmt::format("[{}, #{}]", name(n), offset)});
}

void Thumb::access_after(const char* op, Reg t, Reg n, int step) {
  emit(op, {name(t), fmt::format("[{}]", name(n)), imm_text(step)});
}

void Thumb::access_index(const char* op, Reg t, Reg n, Reg m, int by) {
  emit(op, {name(t), by == 0 ? fmt::format("[{}, {}]", name(n), name(m))
                             : fmt::format("[{}, {}, lsl #{}]", name(n), name(m), by)});
}

void Thumb::ldrd(Reg t, Reg u, Reg n, int offset) {
  emit("ldrd", {name(t), name(u), fmt::format("[{}, #{}]", name(n), offset)});
}
void Thumb::ldrd_after(Reg t, Reg u, Reg n, int step) {
  emit("ldrd", {name(t), name(u), fmt::format("[{}]", name(n)), imm_text(step)});
}
void Thumb::strd(Reg t, Reg u, Reg n, int offset) {
  emit("strd", {name(t), name(u), fmt::format("[{}, #{}]", name(n), offset)});
}
void Thumb::strd_after(Reg t, Reg u, Reg n, int step) {
  emit("strd", {name(t), name(u), fmt::format("[{}]", name(n)), imm_text(step)});
}

void Thumb::bind(Label l) {
  auto index = static_cast<size_t>(l.number);
  if (bound_.size() <= index) bound_.resize(index + 1, false);
  bound_[index] = true;
  lines_.push_back(fmt::format("{}:", l.number));
}

void Thumb::b_at_most(const char* condition, Label to, int times) {
  lines_.push_back(fmt::format("{}{} times", kTakenAtMost, times));
  b(condition, to);
}

// From r`first` to r11, and lr.
void Thumb::save(int first_register) {
  framed_ = true;
  first_saved_ = first_register;
  emit("push", {fmt::format("{{r{}-r11, lr}}", first_saved_)});
  const int more = 4 * (4 - first_saved_);
  // The compiler's frame is behind ours from here on; what it counts from must not be a register of ours.
  unwind(".cfi_remember_state; .cfi_def_cfa_register sp; .cfi_adjust_cfa_offset " + std::to_string(kSavedBytes + more));
  for (int first = 4; first <= 12; first += 3) {
    std::string places;
    for (int i = first; i < first + 3; ++i)
      places += fmt::format("{}.cfi_rel_offset {}, {}", places.empty() ? "" : "; ", name(i < 12 ? Reg{i} : lr),
                            4 * (i - 4) + more);
    unwind(places);
  }
}

void Thumb::push(std::initializer_list<Reg> list) {
  locals_ = 4 * static_cast<int>(list.size());
  emit("push", {set(list)});
  unwind(".cfi_adjust_cfa_offset " + std::to_string(locals_));
}

void Thumb::enter(int locals) {
  // The stack pointer stays a multiple of 8: where that takes a word, it is one of r3.
  locals_ = locals == 0 ? 0 : locals + (8 - (kSavedBytes + locals) % 8) % 8;
  save(locals == 0 ? 3 : 4);
  if (locals_ == 0) return;
  sub(sp, sp, locals_);
  unwind(".cfi_adjust_cfa_offset " + std::to_string(locals_));
}

void Thumb::leave() {
  if (locals_ > 0) {
    add(sp, sp, locals_);
    unwind(".cfi_adjust_cfa_offset -" + std::to_string(locals_));
  }
  emit("pop", {fmt::format("{{r{}-r11, lr}}", first_saved_)});
  unwind(".cfi_restore_state");
}

bool fits_literal(const std::vector<std::string>& lines) { return literal_bytes(lines) <= kMostLiteral; }

namespace {

// Long texts do without the spaces for readers.
void fit_literal(std::vector<std::string>& lines) {
  if (fits_literal(lines)) return;
  for (std::string& line : lines)
    for (size_t at; !is_comment(line) && (at = line.find(", ")) != std::string::npos;) line.erase(at + 1, 1);
}

}  // namespace

void Thumb::round_even(Reg acc, Reg scale, Reg offset, bool same) {
  uses_floats(1);
  emit("vmov", {"s0", name(acc)});
  if (!same) emit("vmov", {"s1", name(scale)});
  emit("vcvt.f32.s32", {"s0", "s0"});
  emit("vmul.f32", {"s0", "s0", "s1"});
  emit("vcvtr.s32.f32", {"s0", "s0"});
  emit("vmov", {name(acc), "s0"});
  add(acc, acc, offset);
  ssat(acc, 8, acc, 0);
}

void Thumb::uses_floats(int to) { floats_ = std::max(floats_, to + 1); }

void Thumb::vmov(int s, Reg m) {
  uses_floats(s);
  emit("vmov", {"s" + std::to_string(s), name(m)});
}

void Thumb::vadd(int s, int n, int m) {
  uses_floats(std::max({s, n, m}));
  emit("vadd.f32", {"s" + std::to_string(s), "s" + std::to_string(n), "s" + std::to_string(m)});
}

void Thumb::vmul(int s, int n, int m) {
  uses_floats(std::max({s, n, m}));
  emit("vmul.f32", {"s" + std::to_string(s), "s" + std::to_string(n), "s" + std::to_string(m)});
}

void Thumb::vldr(int s, Reg n, int offset) {
  uses_floats(s);
  emit("vldr", {"s" + std::to_string(s), fmt::format("[{}, #{}]", name(n), offset)});
}

void Thumb::vstr(int s, Reg n, int offset) {
  uses_floats(s);
  emit("vstr", {"s" + std::to_string(s), fmt::format("[{}, #{}]", name(n), offset)});
}

void Thumb::take_if_first_less(int s, int n, int m, int from) {
  uses_floats(std::max({s, n, m, from}));
  emit("vcmp.f32", {"s" + std::to_string(n), "s" + std::to_string(m)});
  emit("vmrs", {"APSR_nzcv", "fpscr"});
  emit("it", {"mi"});
  emit("vmovmi.f32", {"s" + std::to_string(s), "s" + std::to_string(from)});
}

void Thumb::many_floats(const char* op, Reg n, int s, int count) {
  uses_floats(s + count - 1);
  emit(op, {name(n), count == 1 ? fmt::format("{{s{}}}", s) : fmt::format("{{s{}-s{}}}", s, s + count - 1)});
}

Implementation Thumb::finish(const std::string& core) {
  fit_literal(lines_);
  Implementation out;
  out.condition = "defined(__GNUC__) && " + core;
  if (floats_ > 0) out.condition += " && defined(__ARM_FP)";
  if (any_address_) out.condition += " && defined(__ARM_FEATURE_UNALIGNED)";
  out.family = "defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'";
  out.lines = std::move(lines_);
  out.arguments = {"r0", "r1", "r2", "r3"};
  out.clobbers = {"r12"};  // of all others the text keeps the values: compilers cannot always give them
  for (int s = 0; s < floats_; ++s) out.clobbers.push_back("s" + std::to_string(s));
  out.function_alignment = addresses_ ? 4 : 0;
  out.count = count_instructions;
  out.cycles = count_cycles;
  out.stack_bytes = framed_ ? kSavedBytes + 4 * (4 - first_saved_) + locals_ : 0;
  return out;
}

}  // namespace aotc::cores::arm
