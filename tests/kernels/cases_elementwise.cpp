// SPDX-License-Identifier: Apache-2.0
// Kernels of cores/arm/dsp/sum.h.
#include "cases.h"
#include "cores/arm/dsp/sum.h"

namespace aotc::tests {

void add_elementwise_cases(std::vector<KernelCase>& to) {
  // Weights and offsets as fits make them: no sum leaves 32 bits.
  const ops::AffineForm forms[] = {{{1 << 20, -(1 << 19) - 3}, 1 << 18, 19, 0, 0},
                                   {{(1 << 22) - 1, 1 << 22}, -(1 << 29), 22, 0, 0},
                                   {{1, -1}, 0, 0, 0, 0}};
  for (Pattern pattern : kPatterns)
    for (const ops::AffineForm& form : forms)
      for (int64_t elements : {4, 12, 100}) {
        Data data(pattern, static_cast<uint32_t>(elements));
        to.push_back({arm::dsp_sum_kernel(form.shift),
                      {data.bytes(elements, 1), data.bytes(elements, 2), data.bytes(elements, 3),
                       table(arm::dsp_sum_table(form, elements))},
                      {}});
      }
}

}  // namespace aotc::tests
