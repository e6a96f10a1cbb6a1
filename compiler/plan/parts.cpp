// SPDX-License-Identifier: Apache-2.0
#include "plan/parts.h"

#include <algorithm>

namespace aotc::plan {

// from0, to0, from1, to1 ... and, of several levels, first and last.
size_t scalars_of(size_t levels) { return 2 * levels + (levels > 1 ? 2 : 0); }

std::vector<int64_t> scalars_of_part(const CallBands& bands, std::optional<int64_t> part) {
  const std::vector<BandLevel>& levels = bands.levels;
  std::vector<int64_t> out(scalars_of(levels.size()), 1);
  int64_t inner = part.value_or(0);
  for (size_t i = levels.size(); i-- > 0;) {
    const BandLevel& level = levels[i];
    const int64_t size = level.turns * level.step, count = std::max<int64_t>(1, level.parts());
    out[2 * i] = level.begin + (part ? inner % count * size : 0);
    out[2 * i + 1] = part ? std::min(level.end, out[2 * i] + size) : level.end;
    inner /= count;
  }
  if (part && levels.size() > 1) {
    out[out.size() - 2] = *part == 0 ? 1 : 0;
    out.back() = *part == bands.parts() - 1 ? 1 : 0;
  }
  return out;
}

tir::FunctionPtr with_scalars(const tir::Function& function, const std::vector<int64_t>& values) {
  auto made = std::make_shared<tir::Function>(function);
  std::vector<tir::StmtPtr> body;
  for (size_t i = 0; i < function.scalars.size(); ++i)
    body.push_back(std::make_shared<tir::Declare>(function.scalars[i],
                                                  std::make_shared<tir::IntImm>(DType::kI32, values[i]), false));
  made->scalars.clear();
  body.push_back(function.body);
  made->body = std::make_shared<tir::Block>(std::move(body));
  return made;
}

}  // namespace aotc::plan
