# SPDX-License-Identifier: Apache-2.0
"""Projects of ONNX models whose constants lie in a file beside them: the project has that file too, and can be verified
when the model is gone; options that belong to ONNX models are kept.
"""
import shutil

import common
import networks
import pytest


@pytest.fixture(scope="module", autouse=True)
def modules():
    common.need_modules("onnx")


def model_with_data(folder, location):
    (folder / location).parent.mkdir(parents=True)
    import onnx
    onnx.save_model(networks.images(), str(folder / "net.onnx"), save_as_external_data=True, location=location,
                    size_threshold=256)
    return folder / "net.onnx"


@pytest.mark.parametrize("location", ["net.data", "data/weights.bin"], ids=["beside", "below"])
def test_kept(location, tmp_path):
    """The project has the file where the model says, and needs nothing else."""
    model = model_with_data(tmp_path / "from", location)
    data = (model.parent / location).read_bytes()
    app = tmp_path / "app"
    common.aotc("create", model, "--board", "host", "-o", app, "--input-layout", "nhwc", "--quiet")
    shutil.rmtree(tmp_path / "from")
    found = list(app.rglob(location.split("/")[-1]))
    assert len(found) == 1 and found[0].read_bytes() == data and str(found[0]).endswith(location)
    assert "1x32x32x3" in next(app.rglob("net.h")).read_text(), "the input is in the order that was asked for"
    common.aotc("verify", app)


def test_name_of_the_projects_own(tmp_path):
    model = model_with_data(tmp_path / "from", "net.c")
    done = common.aotc("create", model, "--board", "host", "-o", tmp_path / "app", expect=None)
    assert done.returncode != 0 and "[onnx-external]" in done.stderr and not (tmp_path / "app").exists()
