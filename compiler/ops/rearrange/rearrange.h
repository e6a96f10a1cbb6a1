// SPDX-License-Identifier: Apache-2.0
// Operators that put elements in other places: each file here adds some. What one is, is its map
// (ops/common/affine_map.h).
#pragma once

#include "ops/common/affine_map.h"

namespace aotc::ops {

void add_block_operators(OperatorSet& set);     // depth_to_space, space_to_depth and the like
void add_diagonal_operators(OperatorSet& set);  // matrix_diag, matrix_set_diag
void add_border_operators(OperatorSet& set);    // mirror_pad, reverse, tile

}  // namespace aotc::ops
