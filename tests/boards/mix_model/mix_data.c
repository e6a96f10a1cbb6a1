/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

extern const int32_t mix_offset;

const int32_t mix_offset = -70000;
