// SPDX-License-Identifier: Apache-2.0
// What svdf remembers (cores/arm/dsp/svdf_kernel.h): words move on through four registers at a time and are
// multiplied on their way. Where all weights of a filter fit registers, it is loaded whole.
#include <algorithm>

#include "cores/arm/dsp/assembly.h"
#include "cores/arm/thumb.h"

namespace aotc::cores::arm {

namespace {

// A filter of few words: its state, then its sum and weights, at once.
class ShortFilterWriter {
 public:
  ShortFilterWriter(int words, bool bytes) : words_(words), bytes_(bytes) {}

  static bool fits(int words, bool bytes) { return words <= (bytes ? 2 : 4); }

  // r0 state, r1 weights, r2 next state, r3 values.
  Implementation run() {
    Label filter = a_.label();
    a_.enter(4);
    a_.ldr_after(kEnd, r1, 4);
    a_.add_lsl(kEnd, r3, kEnd, 2);
    a_.bind(filter);
    load(r0, {kHead, kWords[0], kWords[1], kWords[2]}, words_);
    load(r1, {kSum, kWeights[0], kWeights[1], kWeights[2], kWeights[3]}, 1 + words_ * each());
    for (int i = 0; i + 1 < words_; ++i) multiply(kWords[i], i);
    last();
    a_.cmp(r3, kEnd);
    a_.b("ne", filter);
    a_.leave();
    return a_.finish();
  }

 private:
  // The last word takes the register of the first weight, which was used then: stored at once, registers ascend.
  static constexpr Reg kHead = r4, kSpread = r7, kSum = r8, kEnd = lr;
  static constexpr Reg kWords[] = {r5, r6, r7}, kWeights[] = {r9, r10, r11, r12};

  int each() const { return bytes_ ? 2 : 1; }  // words of weights for a word of state
  Reg last_word() const { return words_ > 1 ? kWeights[0] : kWords[1]; }

  void load(Reg from, std::initializer_list<Reg> list, int count) {
    const Reg* r = list.begin();
    if (count == 1) return a_.ldr_after(r[0], from, 4);
    if (count == 2) a_.ldm_after(from, {r[0], r[1]});
    if (count == 3) a_.ldm_after(from, {r[0], r[1], r[2]});
    if (count == 4) a_.ldm_after(from, {r[0], r[1], r[2], r[3]});
    if (count == 5) a_.ldm_after(from, {r[0], r[1], r[2], r[3], r[4]});
  }

  void multiply(Reg word, int number) {
    if (!bytes_) return a_.smlad(kSum, word, kWeights[number], kSum);
    a_.sxtb16(kSpread, word);
    a_.smlad(kSum, kSpread, kWeights[2 * number], kSum);
    a_.sxtb16(kSpread, word, 8);
    a_.smlad(kSum, kSpread, kWeights[2 * number + 1], kSum);
  }

  // The word that begins with what the first one ended with and ends with the new value, and what is stored.
  void last() {
    const Reg last = last_word();
    a_.ldr(last, r3);
    a_.lsr(kHead, kHead, bytes_ ? 8 : 16);
    bytes_ ? a_.orr_lsl(last, kHead, last, 24) : a_.pkhbt(last, kHead, last);
    if (words_ == 1) a_.str_after(last, r2, 4);
    if (words_ == 2) a_.stm_after(r2, {kWords[0], last});
    if (words_ == 3) a_.stm_after(r2, {kWords[0], kWords[1], last});
    if (words_ == 4) a_.stm_after(r2, {kWords[0], kWords[1], kWords[2], last});
    multiply(last, words_ - 1);
    a_.str_after(kSum, r3, 4);
  }

  Thumb a_;
  int words_;
  bool bytes_;
};

class SvdfTimeWriter {
 public:
  SvdfTimeWriter(int words, bool bytes) : words_(words), bytes_(bytes) {}

  // r0 state, r1 weights, r2 next state, r3 values.
  Implementation run() {
    Label filter = a_.label();
    a_.enter(4);
    a_.ldr_after(r12, r1, 4);
    a_.add_lsl(r12, r3, r12, 2);
    a_.str(r12, sp, kValuesEnd);
    a_.bind(filter);
    a_.ldr_after(kHead, r0, 4);
    a_.ldr_after(kSum, r1, 4);
    const int chunk = bytes_ ? 2 : 4;
    a_.repeat((words_ - 1) / chunk, [&] { move_on(chunk); });
    if ((words_ - 1) % chunk != 0) move_on((words_ - 1) % chunk);
    last();
    a_.ldr(r4, sp, kValuesEnd);
    a_.cmp(r3, r4);
    a_.b("ne", filter);
    a_.leave();
    return a_.finish();
  }

 private:
  static constexpr int kValuesEnd = 0;
  static constexpr Reg kSum = r12, kHead = r11;

  void load(Reg from, int first, int count) { multiple(from, first, count, true); }
  void store(Reg to, int first, int count) { multiple(to, first, count, false); }
  void multiple(Reg base, int first, int count, bool loads) {
    auto n = [&](int i) { return i == 3 && first == 8 ? lr : Reg{first + i}; };
    if (count == 1 && loads) return a_.ldr_after(n(0), base, 4);
    if (count == 1) return a_.str_after(n(0), base, 4);
    auto many = [&](std::initializer_list<Reg> list) { loads ? a_.ldm_after(base, list) : a_.stm_after(base, list); };
    if (count == 2) many({n(0), n(1)});
    if (count == 3) many({n(0), n(1), n(2)});
    if (count == 4) many({n(0), n(1), n(2), n(3)});
  }
  static Reg weight(int i) { return i == 3 ? lr : Reg{8 + i}; }

  // `count` words from r4 on, whose weights begin in r8.
  void multiply(int count) {
    for (int i = 0; i < count; ++i) {
      Reg word{4 + i};
      if (!bytes_) {
        a_.smlad(kSum, word, weight(i), kSum);
        continue;
      }
      a_.sxtb16({6}, word);
      a_.smlad(kSum, {6}, weight(2 * i), kSum);
      a_.sxtb16({6}, word, 8);
      a_.smlad(kSum, {6}, weight(2 * i + 1), kSum);
    }
  }

  void move_on(int count) {
    load(r0, 4, count);
    load(r1, 8, bytes_ ? 2 * count : count);
    multiply(count);
    store(r2, 4, count);
  }

  // The word that begins with what the first one ended with and ends with the new value.
  void last() {
    a_.ldr(r4, r3);
    load(r1, 8, bytes_ ? 2 : 1);
    if (bytes_) {
      a_.lsr(kHead, kHead, 8);
      a_.orr_lsl(r4, kHead, r4, 24);
    } else {
      a_.lsr(kHead, kHead, 16);
      a_.pkhbt(r4, kHead, r4);
    }
    store(r2, 4, 1);
    multiply(1);
    a_.str_after(kSum, r3, 4);
  }

  Thumb a_;
  int words_;
  bool bytes_;
};

}  // namespace

Implementation svdf_time(const tir::Kernel& kernel) {
  const int words = parameter(kernel, "words");
  const bool bytes = parameter(kernel, "bytes") != 0;
  return ShortFilterWriter::fits(words, bytes) ? ShortFilterWriter(words, bytes).run()
                                               : SvdfTimeWriter(words, bytes).run();
}

}  // namespace aotc::cores::arm
