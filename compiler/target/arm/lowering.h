// SPDX-License-Identifier: Apache-2.0
// What lowerings for ARM cores begin with. The one thing to know: they are written in the words of operators.
#pragma once

#include <optional>

#include "ops/operator.h"

namespace aotc::target::arm {

using namespace ops;  // NOLINT: in this namespace only

}  // namespace aotc::target::arm
