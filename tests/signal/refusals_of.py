# SPDX-License-Identifier: Apache-2.0
"""Models that `aotc check` takes or refuses."""
import common
import pytest


def test_of(cases):
    """A test of pytest for `cases`: (name, model, what the message has to say or None)."""
    @pytest.mark.parametrize("model, wanted", [pytest.param(model, wanted, id=name) for name, model, wanted in cases])
    def test(model, wanted, tmp_path):
        path = tmp_path / "model.tflite"
        path.write_bytes(model)
        done = common.aotc("check", path, expect=None)
        assert done.returncode == (0 if wanted is None else 1)
        assert (wanted or "") in done.stdout + done.stderr, f"no {wanted!r} in {done.stderr}"

    return test
