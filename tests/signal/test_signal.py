# SPDX-License-Identifier: Apache-2.0
"""Signal operators and a whole audio front end as emitted C, run after run: every byte as TensorFlow Lite Micro's.

make_models.py writes the models; tests/state/run_state.py runs them.
"""
import common
import make_models
import run_state


def lane(made, targets, runs):
    """A test of the models that `made`, a module, writes. Who computes them is the package tflite-micro."""
    def find(work):
        made.write(work / "models")
        return {name: work / "models" / f"{name}.tflite" for name in made.MODELS}

    return run_state.test_of(made.MODELS, find, lambda path, work: run_state.prepared(path, work, runs), targets,
                             lambda: common.need_modules("tflite_micro"))


test_host = lane(make_models, ["gcc", "clang"], 24)
test_boards = lane(make_models, ["cortex_m4", "rv32imac"], 8)
