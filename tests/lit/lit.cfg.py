# SPDX-License-Identifier: Apache-2.0
"""lit configuration: every .air, .tir and .plan file under tests/lit is a test with RUN lines.

lit is pointed at the build folder, whose lit.site.cfg.py says where the tools are:
  lit build/release/tests/lit
"""

import os

import lit.formats

config.name = "aotc"
config.test_format = lit.formats.ShTest(execute_external=True)
config.suffixes = [".air", ".tir", ".plan"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.exec_dir

aotc_opt = os.path.join(config.aotc_opt_dir, "aotc-opt")
config.substitutions.append(("%aotc-opt", aotc_opt))
config.substitutions.append(("%FileCheck", config.filecheck + " --dump-input=fail"))
config.substitutions.append(("%models", os.path.join(config.source_dir, "tests", "models")))

# Sanitizers must fail a test, whatever exit code it expects.
config.environment["ASAN_OPTIONS"] = "abort_on_error=1"
config.environment["UBSAN_OPTIONS"] = "abort_on_error=1"
