// SPDX-License-Identifier: Apache-2.0
// The assembler for Cortex-M3: what it has beside what other kernels use.
#pragma once

#include "cores/arm/thumb.h"

namespace aotc::cores::arm {

class PlainThumb : public Thumb {
 public:
  using Thumb::and_;
  void and_(Reg d, Reg n, Reg m) { emit("and", {name(d), name(n), name(m)}); }
  using Thumb::asr;
  void asr(Reg d, Reg m, Reg by) { emit("asr", {name(d), name(m), name(by)}); }
  // Bits [0, count) of m, sign-extended.
  void sbfx(Reg d, Reg m, int count) { emit("sbfx", {name(d), name(m), "#0", imm_text(count)}); }
  void smull(Reg low, Reg high, Reg n, Reg m) { emit("smull", {name(low), name(high), name(n), name(m)}); }
  void add_asr(Reg d, Reg n, Reg m, int by) { emit("add", {name(d), name(n), name(m), shift("asr", by)}); }
  void sub_asr(Reg d, Reg n, Reg m, int by) { emit("sub", {name(d), name(n), name(m), shift("asr", by)}); }

  void str_index(Reg t, Reg n, Reg m) { access_index("str", t, n, m, 0); }

  Implementation finish() { return Thumb::finish("defined(__thumb2__) && defined(__ARMEL__)"); }
};

}  // namespace aotc::cores::arm
