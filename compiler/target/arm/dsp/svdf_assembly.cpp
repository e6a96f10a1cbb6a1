// SPDX-License-Identifier: Apache-2.0
// What svdf remembers (target/arm/dsp/svdf_kernel.h): words move on through four registers at a time and are
// multiplied on their way.
#include <algorithm>

#include "target/arm/dsp/assembly.h"
#include "target/arm/thumb.h"

namespace aotc::target::arm {

namespace {

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
    auto many = [&](std::initializer_list<Reg> list) {
      loads ? a_.ldm_after(base, list) : a_.stm_after(base, list);
    };
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
  return SvdfTimeWriter(parameter(kernel, "words"), parameter(kernel, "bytes") != 0).run();
}

}  // namespace aotc::target::arm
