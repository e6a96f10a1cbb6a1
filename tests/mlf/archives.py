# SPDX-License-Identifier: Apache-2.0
"""What the tests of archives share: making archives of every version, running aotc."""
import io
import json
import os
import pathlib
import subprocess
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Failure(Exception):
    pass


def expect(good, text):
    if not good:
        raise Failure(text)


def run(program, *args, code=0, env=None):
    """Output of a command that must exit with `code`."""
    command = [str(program), *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=600,
                          stdin=subprocess.DEVNULL, env={**os.environ, **(env or {})})
    expect(done.returncode == code, f"exit code {done.returncode} instead of {code}: "
           f"{' '.join(command)}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return done


# --- Metadata of every version ----------------------------------------------------------------------


def functions(version):
    main = {"device": 1, "workspace_size_bytes": 96, "constants_size_bytes": 8, "io_size_bytes": 18}
    if version == 7:
        main["inputs"] = {"a": {"size": 10, "dtype": "int8"}}
        main["outputs"] = {"output": {"size": 8, "dtype": "int32"}}
    return {"main": [main], "operator_functions": [
        {"function_name": "tvmgen_default_fused_add",
         "workspace": [{"device": 1, "workspace_size_bytes": 32}]}]}


def full_model(version, executor="graph"):
    """metadata.json of a full model called `default`."""
    sids = [{"storage_id": 0, "size_bytes": 10, "input_binding": "a"},
            {"storage_id": 1, "size_bytes": 8}]
    m = {"model_name": "default", "export_datetime": "2021-05-05 10:00:00Z"}
    if version == 1:
        m["memory"] = sids if executor == "graph" else []
    else:
        m["memory"] = {"functions": functions(version)}
        if executor == "graph":
            m["memory"]["sids"] = sids
    m["target"] = ["c -keys=cpu "] if version >= 6 else {"1": "c -keys=cpu "}
    m["executors" if version >= 5 else "runtimes"] = [executor]
    if version >= 4:
        m["style"] = "full-model"
    if version == 7:
        return {"version": 7, "modules": {"default": m}}
    return {"version": version, **m}


def operator(version):
    """metadata.json of an operator."""
    parameters = [{"size_bytes": 8, "shape": [2], "dtype": "int32", "input_binding": "A"},
                  {"size_bytes": 8, "shape": [2], "dtype": "int32", "input_binding": None}]
    return {"version": version, "model_name": "add", "export_datetime": "2021-07-05 10:00:00Z",
            "memory": {"add": parameters},
            "target": ["c -keys=cpu"] if version >= 6 else {"1": "c -keys=cpu"},
            "executors" if version >= 5 else "runtimes": [], "style": "operator"}


def every_metadata():
    """name -> metadata, for every version and style there was."""
    out = {f"v{v}-{e}": full_model(v, e) for v in range(1, 8) for e in ("graph", "aot")}
    out.update({f"v{v}-operator": operator(v) for v in range(4, 8)})
    return out


# --- Tars -------------------------------------------------------------------------------------------


def member(name, data=b"", **fields):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for key, value in fields.items():
        setattr(info, key, value)
    return info, data


def make_tar(path, members, mode="w", form=tarfile.PAX_FORMAT):
    with tarfile.open(path, mode, format=form) as tar:
        for info, data in members:
            tar.addfile(info, io.BytesIO(data))
    return path


def archive_of(metadata, files=()):
    """Members of an archive with this metadata."""
    text = metadata if isinstance(metadata, bytes) else json.dumps(metadata).encode()
    return [member(".", type=tarfile.DIRTYPE), member("./metadata.json", text),
            *(member(f"./{name}", data) for name, data in dict(files).items())]
