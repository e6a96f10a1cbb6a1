// SPDX-License-Identifier: Apache-2.0
// Attributes of signal operators; their names are those of the custom options.
#pragma once

#include <cstdint>

#include "graph/attributes.h"

namespace aotc::ops {

struct SubtractionAttrs : graph::Attributes<SubtractionAttrs> {
  int32_t num_channels = 0, smoothing = 0, one_minus_smoothing = 0, alternate_smoothing = 0,
          alternate_one_minus_smoothing = 0, min_signal_remaining = 0, smoothing_bits = 0,
          spectral_subtraction_bits = 0;
  bool clamping = false;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("num_channels", self.num_channels);
    field("smoothing", self.smoothing);
    field("one_minus_smoothing", self.one_minus_smoothing);
    field("alternate_smoothing", self.alternate_smoothing);
    field("alternate_one_minus_smoothing", self.alternate_one_minus_smoothing);
    field("min_signal_remaining", self.min_signal_remaining);
    field("smoothing_bits", self.smoothing_bits);
    field("spectral_subtraction_bits", self.spectral_subtraction_bits);
    field("clamping", self.clamping);
  }
};

struct PcanAttrs : graph::Attributes<PcanAttrs> {
  int32_t snr_shift = 0;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("snr_shift", self.snr_shift);
  }
};

struct LogAttrs : graph::Attributes<LogAttrs> {
  int32_t input_correction_bits = 0, output_scale = 0;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("input_correction_bits", self.input_correction_bits);
    field("output_scale", self.output_scale);
  }
};

struct FftAttrs : graph::Attributes<FftAttrs> {
  int32_t fft_length = 0;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("fft_length", self.fft_length);
  }
};

struct FilterBankAttrs : graph::Attributes<FilterBankAttrs> {
  int32_t num_channels = 0;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("num_channels", self.num_channels);
  }
};

struct DelayAttrs : graph::Attributes<DelayAttrs> {
  int32_t delay_length = 0;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("delay_length", self.delay_length);
  }
};

struct FramerAttrs : graph::Attributes<FramerAttrs> {
  int32_t frame_size = 1, frame_step = 1;
  bool prefill = false;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("frame_size", self.frame_size);
    field("frame_step", self.frame_step);
    field("prefill", self.prefill);
  }
};

struct StackerAttrs : graph::Attributes<StackerAttrs> {
  int32_t num_channels = 1, stacker_left_context = 0, stacker_right_context = 0, stacker_step = 1;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("num_channels", self.num_channels);
    field("stacker_left_context", self.stacker_left_context);
    field("stacker_right_context", self.stacker_right_context);
    field("stacker_step", self.stacker_step);
  }
};

struct OverlapAddAttrs : graph::Attributes<OverlapAddAttrs> {
  int32_t frame_step = 1;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("frame_step", self.frame_step);
  }
};

struct WindowAttrs : graph::Attributes<WindowAttrs> {
  int32_t shift = 12;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("shift", self.shift);
  }
};

struct EnergyAttrs : graph::Attributes<EnergyAttrs> {
  int32_t start_index = 0, end_index = 0;

  template <typename Self, typename F>
  static void visit(Self& self, F&& field) {
    field("start_index", self.start_index);
    field("end_index", self.end_index);
  }
};

}  // namespace aotc::ops
