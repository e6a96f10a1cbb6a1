// SPDX-License-Identifier: Apache-2.0
// A typed assembler for the M-profile vector extension (Helium), beside that of Thumb: eight
// registers of 16 bytes, low-overhead loops, predication. The one thing to know: vector registers
// are declared to the compiler as clobbered by finish(), which saves what it must, so a text
// uses any of them freely. Sums over lanes (vmladav) go to even general registers only, and the
// loads and stores that change the size of elements take r0 to r7 as address.
#pragma once

#include <array>

#include "cores/arm/thumb.h"

namespace aotc::cores::arm {

// Even registers, where vectors' sums of products go.
inline constexpr std::array<Reg, 8> kSums = {r0, r2, r4, r6, r8, r10, r12, lr};

struct Vec {
  int number;
  friend bool operator==(Vec, Vec) = default;
};
inline constexpr Vec q0{0}, q1{1}, q2{2}, q3{3}, q4{4}, q5{5}, q6{6}, q7{7};

// Lanes are counted in bits: 8, 16 or 32.
class Helium : public Thumb {
 public:
  using Thumb::vadd;
  using Thumb::vmov;
  using Thumb::vmul;

  // ---- sums of products of bytes or half words
  void vmladav(Reg d, Vec n, Vec m, int bits = 8) { typed("vmladav.s", bits, {name(d), use(n), use(m)}); }
  void vmladava(Reg d, Vec n, Vec m, int bits = 8) { typed("vmladava.s", bits, {name(d), use(n), use(m)}); }

  // ---- between register files
  // Two lanes of 32 bits, the other two stay.
  void vmov_lanes(Vec d, int high, int low, Reg low_value, Reg high_value);
  void vmov(Vec d, Vec m) { vector("vmov", {use(d), use(m)}); }
  // One lane of 32 bits.
  void vmov_lane(Vec d, int lane, Reg t);
  void vdup(int bits, Vec d, Reg t) { typed("vdup.", bits, {use(d), name(t)}); }
  // Small numbers only.
  void vmov_imm(int bits, Vec d, int v) { typed("vmov.i", bits, {use(d), imm_text(v)}); }

  // ---- arithmetic by lane
  void vadd(int bits, Vec d, Vec n, Vec m) { typed("vadd.i", bits, {use(d), use(n), use(m)}); }
  void vadd(int bits, Vec d, Vec n, Reg m) { typed("vadd.i", bits, {use(d), use(n), name(m)}); }
  void vsub(int bits, Vec d, Vec n, Vec m) { typed("vsub.i", bits, {use(d), use(n), use(m)}); }
  void vqadd(int bits, Vec d, Vec n, Vec m) { typed("vqadd.s", bits, {use(d), use(n), use(m)}); }
  void vqadd(int bits, Vec d, Vec n, Reg m) { typed("vqadd.s", bits, {use(d), use(n), name(m)}); }
  void vmul(int bits, Vec d, Vec n, Vec m) { typed("vmul.i", bits, {use(d), use(n), use(m)}); }
  void vmul(int bits, Vec d, Vec n, Reg m) { typed("vmul.i", bits, {use(d), use(n), name(m)}); }
  // d += n * m
  void vmla(int bits, Vec d, Vec n, Reg m) { typed("vmla.s", bits, {use(d), use(n), name(m)}); }
  // d = d * n + m
  void vmlas(int bits, Vec d, Vec n, Reg m) { typed("vmlas.s", bits, {use(d), use(n), name(m)}); }
  // High half of the product, rounded down; rounded; of twice the product; of twice the product, rounded.
  void vmulh(int bits, Vec d, Vec n, Vec m) { typed("vmulh.s", bits, {use(d), use(n), use(m)}); }
  void vrmulh(int bits, Vec d, Vec n, Vec m) { typed("vrmulh.s", bits, {use(d), use(n), use(m)}); }
  void vqdmulh(int bits, Vec d, Vec n, Vec m) { typed("vqdmulh.s", bits, {use(d), use(n), use(m)}); }
  void vqrdmulh(int bits, Vec d, Vec n, Vec m) { typed("vqrdmulh.s", bits, {use(d), use(n), use(m)}); }
  void vqdmulh(int bits, Vec d, Vec n, Reg m) { typed("vqdmulh.s", bits, {use(d), use(n), name(m)}); }
  void vqrdmulh(int bits, Vec d, Vec n, Reg m) { typed("vqrdmulh.s", bits, {use(d), use(n), name(m)}); }
  // d = high half of 2 * d * n, plus m
  void vqdmlash(int bits, Vec d, Vec n, Reg m) { typed("vqdmlash.s", bits, {use(d), use(n), name(m)}); }
  // The same with the high half rounded.
  void vqrdmlash(int bits, Vec d, Vec n, Reg m) { typed("vqrdmlash.s", bits, {use(d), use(n), name(m)}); }
  void vmax(int bits, Vec d, Vec n, Vec m) { typed("vmax.s", bits, {use(d), use(n), use(m)}); }
  void vmin(int bits, Vec d, Vec n, Vec m) { typed("vmin.s", bits, {use(d), use(n), use(m)}); }
  void vand(Vec d, Vec n, Vec m) { vector("vand", {use(d), use(n), use(m)}); }
  // Bytes of n where the predicate holds, else those of m.
  void vpsel(Vec d, Vec n, Vec m) { vector("vpsel", {use(d), use(n), use(m)}); }
  void vorr(Vec d, Vec n, Vec m) { vector("vorr", {use(d), use(n), use(m)}); }
  void veor(Vec d, Vec n, Vec m) { vector("veor", {use(d), use(n), use(m)}); }
  // Sum of all lanes, and added to d; d is even.
  void vaddv(int bits, Reg d, Vec m) { typed("vaddv.s", bits, {name(d), use(m)}); }
  void vaddva(int bits, Reg d, Vec m) { typed("vaddva.s", bits, {name(d), use(m)}); }

  // ---- shifts: by a number; by m's lanes (negative: to the right), rounding half up
  void vshl(int bits, Vec d, Vec m, int by) { typed("vshl.i", bits, {use(d), use(m), imm_text(by)}); }
  void vshr(int bits, Vec d, Vec m, int by) { typed("vshr.s", bits, {use(d), use(m), imm_text(by)}); }
  void vshr_unsigned(int bits, Vec d, Vec m, int by) { typed("vshr.u", bits, {use(d), use(m), imm_text(by)}); }
  void vrshr(int bits, Vec d, Vec m, int by) { typed("vrshr.s", bits, {use(d), use(m), imm_text(by)}); }
  void vshl(int bits, Vec d, Vec n, Vec m) { typed("vshl.s", bits, {use(d), use(n), use(m)}); }
  void vrshl(int bits, Vec d, Vec n, Vec m) { typed("vrshl.s", bits, {use(d), use(n), use(m)}); }

  // Every lane by the signed number in m.
  void vrshl(int bits, Vec d, Reg m) { typed("vrshl.s", bits, {use(d), name(m)}); }
  // All 128 bits to the left by 1 to 32: the low bits of `carry` come in, those that leave go there.
  void vshlc(Vec d, Reg carry, int by) { vector("vshlc", {use(d), name(carry), imm_text(by)}); }

  // ---- widening: of the even (b) or odd (t) lanes of `bits`
  void vmullb(int bits, Vec d, Vec n, Vec m) { typed("vmullb.s", bits, {use(d), use(n), use(m)}); }
  void vmullt(int bits, Vec d, Vec n, Vec m) { typed("vmullt.s", bits, {use(d), use(n), use(m)}); }
  void vmovlb(int bits, Vec d, Vec m) { typed("vmovlb.s", bits, {use(d), use(m)}); }
  void vmovlt(int bits, Vec d, Vec m) { typed("vmovlt.s", bits, {use(d), use(m)}); }

  // ---- narrowing lanes of `bits`, saturating, into the even or odd half lanes; the others stay.
  // The shifts round half up. There is none without rounding: GNU as 2.40 encodes VQSHRN as
  // VQRSHRN.
  void vqmovnb(int bits, Vec d, Vec m) { typed("vqmovnb.s", bits, {use(d), use(m)}); }
  void vqmovnt(int bits, Vec d, Vec m) { typed("vqmovnt.s", bits, {use(d), use(m)}); }
  void vqrshrnb(int bits, Vec d, Vec m, int by) { typed("vqrshrnb.s", bits, {use(d), use(m), imm_text(by)}); }
  void vqrshrnt(int bits, Vec d, Vec m, int by) { typed("vqrshrnt.s", bits, {use(d), use(m), imm_text(by)}); }
  // Into the even lanes of half the size, or the odd ones: saturated, and where `by` is not 0, shifted and rounded
  // before.
  void narrow(int bits, Vec d, Vec m, int by, bool odd = false) {
    if (by == 0) odd ? vqmovnt(bits, d, m) : vqmovnb(bits, d, m);
    else odd ? vqrshrnt(bits, d, m, by) : vqrshrnb(bits, d, m, by);
  }
  // Four words into the lanes of a vector.
  void gather(Vec d, Reg lane0, Reg lane1, Reg lane2, Reg lane3) {
    vmov_lanes(d, 2, 0, lane0, lane2);
    vmov_lanes(d, 3, 1, lane1, lane3);
  }

  // ---- memory: bytes into lanes of `bits` (sign-extended) and the low bytes of lanes back;
  // words (at multiples of 4). Offsets: bytes up to 127, words up to 508.
  void vldrb(int bits, Vec d, Reg n, int offset = 0) { vector(load_bytes(bits), {use(d), place(n, offset)}); }
  void vldrb_after(int bits, Vec d, Reg n, int step) {
    vector(load_bytes(bits), {use(d), place(n, 0), imm_text(step)});
  }
  void vldrb_before(int bits, Vec d, Reg n, int step) { vector(load_bytes(bits), {use(d), place(n, step) + "!"}); }
  void vstrb(int bits, Vec d, Reg n, int offset = 0) { typed("vstrb.", bits, {use(d), place(n, offset)}); }
  void vstrb_after(int bits, Vec d, Reg n, int step) { typed("vstrb.", bits, {use(d), place(n, 0), imm_text(step)}); }
  void vstrh(Vec d, Reg n) { vector("vstrh.16", {use(d), place(n, 0)}); }
  void vstrh_after(Vec d, Reg n, int step) { vector("vstrh.16", {use(d), place(n, 0), imm_text(step)}); }
  void vldrw(Vec d, Reg n, int offset = 0) { vector("vldrw.u32", {use(d), place(n, offset)}); }
  void vldrw_after(Vec d, Reg n, int step) { vector("vldrw.u32", {use(d), place(n, 0), imm_text(step)}); }
  void vstrw(Vec d, Reg n, int offset = 0) { vector("vstrw.32", {use(d), place(n, offset)}); }
  void vstrw_after(Vec d, Reg n, int step) { vector("vstrw.32", {use(d), place(n, 0), imm_text(step)}); }

  // Words at n plus the byte offset in each lane of m; the low bytes of lanes there.
  void vldrw_gather(Vec d, Reg n, Vec m) { vector("vldrw.u32", {use(d), "[" + name(n) + ", " + use(m) + "]"}); }
  void vstrb_scatter(int bits, Vec d, Reg n, Vec m) {
    typed("vstrb.", bits, {use(d), "[" + name(n) + ", " + use(m) + "]"});
  }
  // Four registers from `first` with their bytes interleaved, 64 bytes; all four parts have to be
  // run. The last part of a store moves n past them.
  void vld4_bytes(Vec first, Reg n, int part);
  void vst4_bytes(Vec first, Reg n, int part);
  // The same of two registers and two parts; of words, 32 bytes.
  void vst2_bytes(Vec first, Reg n, int part) { store_pair(8, first, n, part); }
  void vst2_words(Vec first, Reg n, int part) { store_pair(32, first, n, part); }

  // ---- predication. Until the next change of it, instructions wrapped in predicated() act on the
  // first n lanes only; vpst() announces as many of them as it says, at most 4.
  void vctp(int bits, Reg n) { typed("vctp.", bits, {name(n)}); }
  void vpst(int count);
  template <typename Body>
  void predicated(Body body) {
    suffix_ = "t";
    body();
    suffix_ = "";
  }

  // ---- floats: four of 32 bits. Subnormal operands and results become 0, whatever FPSCR says.
  void vmul_float(Vec d, Vec n, Vec m) { vector("vmul.f32", {use(d), use(n), use(m)}); }
  void vmul_float(Vec d, Vec n, Reg m) { vector("vmul.f32", {use(d), use(n), name(m)}); }
  // From and to int32; the latter is rounded, ties to even, and saturated.
  void vcvt_to_float(Vec d, Vec m) { vector("vcvt.f32.s32", {use(d), use(m)}); }
  void vcvt_to_nearest(Vec d, Vec m) { vector("vcvtn.s32.f32", {use(d), use(m)}); }
  void vadd_float(Vec d, Vec n, Vec m) { vector("vadd.f32", {use(d), use(n), use(m)}); }
  // The next instruction, to be wrapped in predicated(), acts on the lanes in which n is more than m; NaN is not.
  void vpt_more(Vec n, Vec m) { emit("vpt.f32", {"gt", use(n), use(m)}); }
  void vpt_more(Vec n, Reg m) { emit("vpt.f32", {"gt", use(n), name(m)}); }

  // ---- low-overhead loops; the counter is lr
  void dls(Reg count) { emit("dls", {"lr", name(count)}); }
  void wls(Reg count, Label end) { emit("wls", {"lr", name(count), target(end)}); }
  void le(Label begin) { emit("le", {"lr", target(begin)}); }
  // Of `count` lanes, as many in a pass as fit a register, the last pass predicated.
  void dlstp(int bits, Reg count) { typed("dlstp.", bits, {"lr", name(count)}); }
  void wlstp(int bits, Reg count, Label end) { typed("wlstp.", bits, {"lr", name(count), target(end)}); }
  void letp(Label begin) { emit("letp", {"lr", target(begin)}); }

  // Instructions of a generated block, whose vector registers count as changed.
  void append(const std::vector<std::string>& lines);

  // Condition: a compiler that knows GNU asm, for a core with the vector extension of integers, or also of floats.
  Implementation finish(bool floats = false);

 private:
  std::string use(Vec v);
  std::string use_some(Vec first, int count);
  void store_pair(int bits, Vec first, Reg n, int part);
  static std::string place(Reg n, int offset);
  static std::string load_bytes(int bits);
  void typed(const char* op, int bits, std::initializer_list<std::string> operands);
  // With the suffix of a predicated instruction before the type.
  void vector(const std::string& op, std::initializer_list<std::string> operands);

  unsigned used_ = 0;  // a bit for each vector register
  const char* suffix_ = "";
};

}  // namespace aotc::cores::arm
