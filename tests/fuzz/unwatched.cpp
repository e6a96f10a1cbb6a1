// SPDX-License-Identifier: Apache-2.0
// What instrumented code calls in programs that do not fuzz: nothing is done. The other hooks that
// gcc calls are in its sanitizers' libraries, and empty there.
extern "C" void __sanitizer_cov_trace_pc();
extern "C" void __sanitizer_cov_trace_cmpf(float, float);
extern "C" void __sanitizer_cov_trace_cmpd(double, double);

extern "C" void __sanitizer_cov_trace_pc() {}
extern "C" void __sanitizer_cov_trace_cmpf(float, float) {}
extern "C" void __sanitizer_cov_trace_cmpd(double, double) {}
