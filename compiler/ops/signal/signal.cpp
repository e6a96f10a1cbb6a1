// SPDX-License-Identifier: Apache-2.0
#include "ops/signal/signal.h"

namespace aotc::ops {

using tir::Ex;

Ex emit_significant_bits(LoweringBuilder& f, const Ex& x) {
  Ex rest = x, count = u32(1);
  for (int64_t step : {16, 8, 4, 2, 1}) {
    Ex shift = f.let("shift", select(rest >= u32(int64_t{1} << step), u32(step), u32(0)));
    if (step > 1) rest = f.let("rest", rest >> shift);
    count = count + shift;
  }
  return f.let("bits", count);
}

void add_operators_signal(OperatorSet& set) {
  add_signal_window(set);
  add_signal_fft_auto_scale(set);
  add_signal_energy(set);
  add_signal_fft(set);
  add_signal_filter_bank(set);
  add_signal_square_root(set);
  add_signal_spectral_subtraction(set);
  add_signal_pcan(set);
  add_signal_log(set);
  add_signal_frames(set);
  add_signal_overlap_add(set);
}

}  // namespace aotc::ops
