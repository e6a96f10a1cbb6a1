// SPDX-License-Identifier: Apache-2.0
// unidirectional_sequence_lstm of int8 with peepholes, projection or layer normalisation. The one thing to know:
// normalisation needs all cells of a gate, so that gates are computed one behind the other and kept in scratch.
#pragma once

#include "ops/recurrent/lstm.h"

namespace aotc::ops {

inline bool has_int8_extras(const LstmSizes& s) { return s.peepholes || s.projected || s.normalised; }

// Types and constants of what is there of them, shapes being in order. Reports.
bool check_int8_extras(const OpView& op, Diagnostics& diags);
// What their sums and products can reach, once scales are known to be in order. Reports.
bool check_int8_extra_sums(const OpView& op, Diagnostics& diags);
Lowered lower_int8_extras(const OpView& op);

}  // namespace aotc::ops
