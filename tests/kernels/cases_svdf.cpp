// SPDX-License-Identifier: Apache-2.0
// Kernels of cores/arm/dsp/svdf_kernel.h.
#include "cases.h"
#include "cores/arm/dsp/svdf_kernel.h"

namespace aotc::tests {

void add_svdf_cases(std::vector<KernelCase>& to) {
  for (Pattern pattern : kPatterns)
    for (bool bytes : {false, true})
      for (int64_t words : {1, 2, 3, 4, 5, 8, 9})
        for (int64_t filters : {1, 5}) {
          Data data(pattern, static_cast<uint32_t>(words * 10 + filters));
          std::vector<int32_t> stream = {static_cast<int32_t>(filters)}, values;
          data.add_words(stream, filters * (words * (bytes ? 2 : 1) + 1));
          // New values are of the state's type.
          for (int64_t f = 0; f < filters; ++f) {
            std::vector<int32_t> one;
            data.add_words(one, 1);
            values.push_back(bytes ? static_cast<int8_t>(one[0]) : static_cast<int16_t>(one[0]));
          }
          to.push_back({arm::svdf_time_kernel(words, bytes),
                        {data.words(filters * words), table(stream), data.words(filters * words), table(values)},
                        {}});
        }
}

}  // namespace aotc::tests
