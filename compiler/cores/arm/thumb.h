// SPDX-License-Identifier: Apache-2.0
// A typed assembler for Thumb-2 with the DSP extension: each member writes one instruction. It is
// the only place where ARM assembly text is made. The one thing to know: nothing allocates
// registers or checks ranges of immediates; the kernels' tests run every one of them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "cores/implementation.h"

namespace aotc::cores::arm {

struct Reg {
  int number;
  friend bool operator==(Reg, Reg) = default;
};
inline constexpr Reg r0{0}, r1{1}, r2{2}, r3{3}, r4{4}, r5{5}, r6{6}, r7{7}, r8{8}, r9{9}, r10{10}, r11{11}, r12{12},
    sp{13}, lr{14}, pc{15};

// A place in the text. Made by Thumb::label(), put down by bind().
struct Label {
  int number;
};

// C99 promises string literals of 4095 characters only (an escape is one). Notes are none of a text.
bool fits_literal(const std::vector<std::string>& lines);

class Thumb {
 public:
  // ---- moves and arithmetic
  void mov(Reg d, Reg m) { three("mov", d, m); }
  void mov(Reg d, int imm) { emit("mov", {name(d), imm_text(imm)}); }
  // Any word: two instructions.
  void mov32(Reg d, uint32_t imm);
  void add(Reg d, Reg n, Reg m) { emit("add", {name(d), name(n), name(m)}); }
  void add(Reg d, Reg n, int imm) { emit("add", {name(d), name(n), imm_text(imm)}); }
  void add_lsl(Reg d, Reg n, Reg m, int by) { emit("add", {name(d), name(n), name(m), shift("lsl", by)}); }
  // d = n + m + the carry
  void adc(Reg d, Reg n, Reg m) { emit("adc", {name(d), name(n), name(m)}); }
  void sub(Reg d, Reg n, Reg m) { emit("sub", {name(d), name(n), name(m)}); }
  void sub(Reg d, Reg n, int imm) { emit("sub", {name(d), name(n), imm_text(imm)}); }
  void sub_lsl(Reg d, Reg n, Reg m, int by) { emit("sub", {name(d), name(n), name(m), shift("lsl", by)}); }
  void subs(Reg d, Reg n, int imm) { emit("subs", {name(d), name(n), imm_text(imm)}); }
  void lsl(Reg d, Reg m, int by) { emit("lsl", {name(d), name(m), imm_text(by)}); }
  // By the lowest byte of `by`: 32 and more leave nothing.
  void lsl(Reg d, Reg m, Reg by) { emit("lsl", {name(d), name(m), name(by)}); }
  void lsr(Reg d, Reg m, Reg by) { emit("lsr", {name(d), name(m), name(by)}); }
  void orr(Reg d, Reg n, Reg m) { emit("orr", {name(d), name(n), name(m)}); }
  void lsr(Reg d, Reg m, int by) { emit("lsr", {name(d), name(m), imm_text(by)}); }
  void asr(Reg d, Reg m, int by) { emit("asr", {name(d), name(m), imm_text(by)}); }
  // The flags are those of the result; nothing is shifted out where `by` is 0.
  void asrs(Reg d, Reg m, int by) { by == 0 ? three("movs", d, m) : emit("asrs", {name(d), name(m), imm_text(by)}); }
  void and_(Reg d, Reg n, int imm) { emit("and", {name(d), name(n), imm_text(imm)}); }
  void bic(Reg d, Reg n, int imm) { emit("bic", {name(d), name(n), imm_text(imm)}); }
  void orr_lsl(Reg d, Reg n, Reg m, int by) { emit("orr", {name(d), name(n), name(m), shift("lsl", by)}); }
  void uxth(Reg d, Reg m) { three("uxth", d, m); }
  // d = n & (m >> by), arithmetic shift
  void and_asr(Reg d, Reg n, Reg m, int by) { emit("and", {name(d), name(n), name(m), shift("asr", by)}); }
  // Armv8.1-M: n if the condition holds, else m
  void csel(Reg d, Reg n, Reg m, const char* condition) { emit("csel", {name(d), name(n), name(m), condition}); }
  void cmp(Reg n, Reg m) { three("cmp", n, m); }
  void cmp(Reg n, int imm) { emit("cmp", {name(n), imm_text(imm)}); }
  void tst(Reg n, int imm) { emit("tst", {name(n), imm_text(imm)}); }
  void mul(Reg d, Reg n, Reg m) { emit("mul", {name(d), name(n), name(m)}); }

  // ---- DSP
  // Bytes 0 and 2 of m (rotated right by 0, 8, 16, 24 bits), sign-extended into halfwords.
  void sxtb16(Reg d, Reg m, int rotate = 0);
  // d = a + n.low * m.low + n.high * m.high
  void smlad(Reg d, Reg n, Reg m, Reg a) { four("smlad", d, n, m, a); }
  void smlabb(Reg d, Reg n, Reg m, Reg a) { four("smlabb", d, n, m, a); }
  void smlabt(Reg d, Reg n, Reg m, Reg a) { four("smlabt", d, n, m, a); }
  void smlatb(Reg d, Reg n, Reg m, Reg a) { four("smlatb", d, n, m, a); }
  void smlatt(Reg d, Reg n, Reg m, Reg a) { four("smlatt", d, n, m, a); }
  void mla(Reg d, Reg n, Reg m, Reg a) { four("mla", d, n, m, a); }
  // d = a - n * m
  void mls(Reg d, Reg n, Reg m, Reg a) { four("mls", d, n, m, a); }
  // d = a + (n * m >> 32)
  void smmla(Reg d, Reg n, Reg m, Reg a) { four("smmla", d, n, m, a); }
  // d = n * m >> 32, rounded
  void smmulr(Reg d, Reg n, Reg m) { emit("smmulr", {name(d), name(n), name(m)}); }
  // The same, cut off
  void smmul(Reg d, Reg n, Reg m) { emit("smmul", {name(d), name(n), name(m)}); }
  // Saturates m >> by to `bits` unsigned bits, or signed ones.
  void usat(Reg d, int bits, Reg m, int by = 0) { saturate("usat", d, bits, m, by); }
  void ssat(Reg d, int bits, Reg m, int by) { saturate("ssat", d, bits, m, by); }
  // Low half of n, high half from the low half of m.
  void pkhbt(Reg d, Reg n, Reg m) { emit("pkhbt", {name(d), name(n), name(m), shift("lsl", 16)}); }
  void pkhtb(Reg d, Reg n, Reg m) { emit("pkhtb", {name(d), name(n), name(m), shift("asr", 16)}); }
  // Bits [low, low + count) of d become the lowest bits of n.
  void bfi(Reg d, Reg n, int low, int count) { emit("bfi", {name(d), name(n), imm_text(low), imm_text(count)}); }
  void sadd16(Reg d, Reg n, Reg m) { emit("sadd16", {name(d), name(n), name(m)}); }
  void ssub16(Reg d, Reg n, Reg m) { emit("ssub16", {name(d), name(n), name(m)}); }

  // ---- FPU, in the rounding mode that is in force from reset: to nearest, ties to even
  // acc = saturate8(round(float(acc) * scale) + offset), `scale` being the bits of a float32. Changes s0 and s1;
  // `same`: s1 holds the scale already.
  void round_even(Reg acc, Reg scale, Reg offset, bool same = false);
  // Registers s0 to s15, by their numbers.
  void vmov(int s, Reg m);
  void vadd(int s, int n, int m);
  void vmul(int s, int n, int m);
  void vldr(int s, Reg n, int offset = 0);
  void vstr(int s, Reg n, int offset = 0);
  // s = m where n is less than m, or where it is more; NaN is neither.
  void take_if_less(int s, int n, int m) { take_if_first_less(s, n, m, m); }
  void take_if_more(int s, int n, int m) { take_if_first_less(s, m, n, m); }
  // The FPU's status and control.
  void read_fpscr(Reg d) { emit("vmrs", {name(d), "fpscr"}); }
  void write_fpscr(Reg n) { emit("vmsr", {"fpscr", name(n)}); }
  // `count` of them from s on; n stays.
  void vldm(Reg n, int s, int count) { many_floats("vldmia", n, s, count); }
  void vstm(Reg n, int s, int count) { many_floats("vstmia", n, s, count); }

  // ---- memory: [n, #offset], [n], #step after, [n, m, lsl #by]
  void ldr(Reg t, Reg n, int offset = 0) { access("ldr", t, n, offset); }
  void ldr_after(Reg t, Reg n, int step) { access_after("ldr", t, n, step); }
  void ldr_index(Reg t, Reg n, Reg m, int by = 0) { access_index("ldr", t, n, m, by); }
  void ldrb(Reg t, Reg n, int offset = 0) { access("ldrb", t, n, offset); }
  void ldrb_index(Reg t, Reg n, Reg m, int by = 0) { access_index("ldrb", t, n, m, by); }
  void ldrsb(Reg t, Reg n, int offset = 0) { access("ldrsb", t, n, offset); }
  void ldrsb_after(Reg t, Reg n, int step) { access_after("ldrsb", t, n, step); }
  void ldrsb_index(Reg t, Reg n, Reg m, int by = 0) { access_index("ldrsb", t, n, m, by); }
  void ldrsh(Reg t, Reg n, int offset = 0) { access("ldrsh", t, n, offset); }
  void ldrh_index(Reg t, Reg n, Reg m, int by = 0) { access_index("ldrh", t, n, m, by); }
  void ldrh_after(Reg t, Reg n, int step) { access_after("ldrh", t, n, step); }
  void ldrsh_index(Reg t, Reg n, Reg m, int by = 0) { access_index("ldrsh", t, n, m, by); }
  void ldrsh_after(Reg t, Reg n, int step) { access_after("ldrsh", t, n, step); }
  void ldrd(Reg t, Reg u, Reg n, int offset = 0);
  void ldrd_after(Reg t, Reg u, Reg n, int step);
  void str(Reg t, Reg n, int offset = 0) { access("str", t, n, offset); }
  void str_after(Reg t, Reg n, int step) { access_after("str", t, n, step); }
  void strb(Reg t, Reg n, int offset = 0) { access("strb", t, n, offset); }
  void strb_after(Reg t, Reg n, int step) { access_after("strb", t, n, step); }
  void strb_index(Reg t, Reg n, Reg m, int by = 0) { access_index("strb", t, n, m, by); }
  void strh(Reg t, Reg n, int offset = 0) { access("strh", t, n, offset); }
  void strh_after(Reg t, Reg n, int step) { access_after("strh", t, n, step); }
  void strh_index(Reg t, Reg n, Reg m, int by = 0) { access_index("strh", t, n, m, by); }
  void strd(Reg t, Reg u, Reg n, int offset = 0);
  void strd_after(Reg t, Reg u, Reg n, int step);
  // Registers in ascending order; n stays, or moves past them.
  void ldm(Reg n, std::initializer_list<Reg> list) { emit("ldmia", {name(n), set(list)}); }
  void stm(Reg n, std::initializer_list<Reg> list) { emit("stmia", {name(n), set(list)}); }
  void ldm_after(Reg n, std::initializer_list<Reg> list) { emit("ldmia", {name(n) + "!", set(list)}); }
  void stm_after(Reg n, std::initializer_list<Reg> list) { emit("stmia", {name(n) + "!", set(list)}); }

  // ---- flow
  Label label() { return {next_label_++}; }
  void bind(Label l);
  void b(Label to) { emit("b", {target(to)}); }
  void b(const char* condition, Label to) { emit(std::string("b") + condition, {target(to)}); }
  // A branch that data decides, taken at most so many times in turn: that is what is counted (thumb_count.h).
  void b_at_most(const char* condition, Label to, int times);
  // d = address of a label further down
  void adr(Reg d, Label to) {
    emit("adr.w", {name(d), target(to)});
    addresses_ = true;
  }
  // Continues at the address (its bit 0 set) in the word [n, #offset].
  void jump(Reg n, int offset) { access("ldr", pc, n, offset); }

  // Writes what `body` writes `times` times over. The text has it once: C99 promises string literals of
  // 4095 characters only. No labels in it.
  template <typename Body>
  void repeat(int times, Body body) {
    if (times > 1) lines_.push_back(".rept " + std::to_string(times));
    if (times > 0) body();
    if (times > 1) lines_.push_back(".endr");
  }

  // Instructions of a generated block.
  void append(const std::vector<std::string>& lines) { lines_.insert(lines_.end(), lines.begin(), lines.end()); }

  // What follows, for readers: no part of the text that is assembled.
  void note(const std::string& text) { lines_.push_back("@ " + text); }

  // ---- frame: r4 to r11 and lr (r3 as well where that makes a multiple of 8), then `locals` bytes
  void enter(int locals);
  // The same with the values of an odd number of registers as locals, in ascending order from sp, once they are known.
  void enter() { save(4); }
  void push(std::initializer_list<Reg> list);
  void leave();

  // Says that words or halfwords are read or written at addresses that need not be multiples of their size. The text is
  // then for compilations that allow it: cores trap such accesses if UNALIGN_TRP is set.
  void at_any_address() { any_address_ = true; }

  // Condition: a compiler that knows GNU asm, for a little-endian core with what `core` asks of the preprocessor:
  // Thumb-2 and the DSP extension by default.
  Implementation finish(const std::string& core = kDspCore);

 protected:
  static constexpr const char* kDspCore = "defined(__thumb2__) && defined(__ARMEL__) && defined(__ARM_FEATURE_DSP)";

  static std::string name(Reg r);
  static std::string imm_text(int v) { return "#" + std::to_string(v); }
  static std::string shift(const char* kind, int by) { return kind + (" #" + std::to_string(by)); }
  static std::string set(std::initializer_list<Reg> list);
  std::string target(Label to) const;
  void emit(const std::string& mnemonic, std::initializer_list<std::string> operands);
  // For debuggers: where registers of the caller are.
  void unwind(const std::string& text) { lines_.push_back(text); }
  void save(int first);
  void three(const char* op, Reg d, Reg m) { emit(op, {name(d), name(m)}); }
  void four(const char* op, Reg d, Reg n, Reg m, Reg a) { emit(op, {name(d), name(n), name(m), name(a)}); }
  void many_floats(const char* op, Reg n, int s, int count);
  void take_if_first_less(int s, int n, int m, int from);
  void uses_floats(int to);
  void saturate(const char* op, Reg d, int bits, Reg m, int by);
  void access(const char* op, Reg t, Reg n, int offset);
  void access_after(const char* op, Reg t, Reg n, int step);
  void access_index(const char* op, Reg t, Reg n, Reg m, int by);

  std::vector<std::string> lines_;
  std::vector<bool> bound_;
  int next_label_ = 1;
  int locals_ = 0;
  int first_saved_ = 4;  // register
  int floats_ = 0;       // registers of the FPU that change, from s0 on
  bool framed_ = false;
  bool addresses_ = false;  // some are taken of places in the text
  bool any_address_ = false;
};

}  // namespace aotc::cores::arm
