# SPDX-License-Identifier: Apache-2.0
"""A client of TVM's Project API, as TVM up to 0.18 is one, against aotc project-server.

The client is written from the description of the protocol, with the standard library only.
Generates a project of TVM's op_add, builds and flashes it, opens its transport and calls op_add
through read_transport and write_transport.
"""
import base64
import json
import os
import pathlib
import struct
import subprocess
import sys
import time

import common
import pytest
from test_rpc_boards import (ALLOCATE, ARCHIVE, CALL, HELLO, READ, WORKING, WRITE, allocate, check, frame, need_archive,
                             need_tools, packets)

METHODS = {
    "server_info_query": {"tvm_version": "0.18.0"},
    "generate_project": {"model_library_format_path": "", "standalone_crt_dir": "",
                         "project_dir": "", "options": {}},
    "build": {"options": {}},
    "flash": {"options": {}},
    "open_transport": {"options": {}},
    "close_transport": {},
    "read_transport": {"n": 1, "timeout_sec": 0.1},
    "write_transport": {"data": "", "timeout_sec": 0.1},
}


class ServerError(Exception):
    def __init__(self, error):
        super().__init__(error["message"])
        self.code = error["code"]
        self.data = error.get("data")


class Client:
    """Launches the server script of a directory as TVM does."""

    def __init__(self, directory):
        script = pathlib.Path(directory) / "microtvm_api_server.py"
        their_read, self.write_fd = os.pipe()
        self.read_fd, their_write = os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, str(script), "--read-fd", str(their_read), "--write-fd",
             str(their_write)], cwd=directory, pass_fds=(their_read, their_write))
        os.close(their_read)
        os.close(their_write)
        self.answers = os.fdopen(self.read_fd, "rb")
        self.last_id = 0
        self.info = self.call("server_info_query", tvm_version="0.14.0")

    def raw(self, line):
        os.write(self.write_fd, line + b"\n")
        answer = self.answers.readline()
        if not answer.endswith(b"\n"):
            raise common.Failure("the server has ended")
        return json.loads(answer)

    def call(self, method, **params):
        self.last_id += 1
        reply = self.raw(json.dumps({"jsonrpc": "2.0", "method": method, "params": params,
                                     "id": self.last_id}).encode())
        if reply.get("jsonrpc") != "2.0" or reply.get("id") != self.last_id:
            raise common.Failure(f"no answer to this request: {reply}")
        if ("result" in reply) == ("error" in reply):
            raise common.Failure(f"neither a result nor an error: {reply}")
        if "error" in reply:
            raise ServerError(reply["error"])
        return reply["result"]

    def options_for(self, method, given):
        """Defaults for what is not given; unknown and missing ones are refused, as TVM does."""
        known = {o["name"]: o for o in self.info["project_options"]}
        if set(given) - set(known):
            raise common.Failure(f"unknown options {set(given) - set(known)}")
        for name, option in known.items():
            if method in (option["required"] or []) and name not in given:
                raise common.Failure(f"option '{name}' is required")
        return {**{name: o["default"] for name, o in known.items()}, **given}

    def close(self):
        os.close(self.write_fd)
        self.process.wait(timeout=600)
        self.answers.close()


class Transport:
    def __init__(self, client):
        self.client = client
        self.sequence = 0
        self.heard = b""

    def ask(self, kind, payload=b""):
        self.sequence += 1
        self.client.call("write_transport", timeout_sec=600.0,
                         data=base64.b85encode(frame(kind, self.sequence, 99, payload)).decode())
        until = time.monotonic() + 600
        while time.monotonic() < until:
            for _, answered, sequence, _, data in packets(self.heard):
                if sequence == self.sequence and answered != WORKING:
                    self.heard = b""
                    return answered, data
            data = base64.b85decode(self.client.call("read_transport", n=1,
                                                     timeout_sec=600.0)["data"])
            if len(data) != 1:
                raise common.Failure(f"read_transport gave {len(data)} bytes, not 1")
            self.heard += data
        raise common.Failure("no answer through the transport")


def expect_error(code, act, what, message=None):
    try:
        act()
    except ServerError as error:
        good = error.code == code and (message is None or str(error) == message)
        if code == -32000:
            good = good and isinstance(error.data["traceback"], str)
        check(good, what, f"{error.code}: {error}")
        return
    raise common.Failure(f"{what}: no error")


def check_requests(client):
    def code_of(line):
        reply = client.raw(line)
        return reply["error"]["code"], reply["id"]
    check(code_of(b"{nonsense") == (-32700, None), "a line that is no JSON")
    base = {"jsonrpc": "2.0", "method": "close_transport", "params": {}, "id": 5}
    for change in ({"jsonrpc": "1.0"}, {"method": "bad-name"}, {"method": ""}, {"method": 3},
                   {"params": []}, {"params": None}, {"id": 1.5}, {"id": [1]}):
        code, _ = code_of(json.dumps({**base, **change}).encode())
        check(code == -32600, f"an invalid request: {change}", code)
    check(code_of(b"[]")[0] == -32600, "a list is no request")
    for identity in (7, "seven", None):
        check(code_of(json.dumps({**base, "method": "nothing", "id": identity}).encode()) ==
              (-32601, identity), f"an unknown method, id {identity!r}")
    for method, params in METHODS.items():
        for name in params:
            rest = {k: v for k, v in params.items() if k != name}
            expect_error(-32602, lambda m=method, p=rest: client.call(m, **p),
                         f"{method} without {name}")
        expect_error(-32602, lambda m=method, p=params: client.call(m, **p, more=1),
                     f"{method} with a parameter too many")
    expect_error(-32602, lambda: client.call("read_transport", n="1", timeout_sec=None),
                 "a parameter of the wrong type")
    expect_error(-32000, lambda: client.call("read_transport", n=1, timeout_sec=0.1),
                 "reading before the transport is open", "TransportClosedError")
    expect_error(-32000, lambda: client.call("write_transport", data="", timeout_sec=0.1),
                 "writing before the transport is open", "TransportClosedError")


def check_options(info):
    kinds = {"str": str, "int": int, "bool": bool}
    for option in info["project_options"]:
        if set(option) != {"name", "choices", "default", "type", "required", "optional", "help"}:
            raise common.Failure(f"option with other keys: {option}")
        if not option["required"] and not option["optional"] or option["type"] not in kinds:
            raise common.Failure(f"option that no method takes: {option}")
        if option["default"] is not None and not isinstance(option["default"],
                                                            kinds[option["type"]]):
            raise common.Failure(f"default of another type: {option}")
        for method in (option["required"] or []) + (option["optional"] or []):
            if method not in METHODS:
                raise common.Failure(f"option of an unknown method: {option}")
    check(True, "the options have the form that TVM reads")


def check_transport(client):
    options = client.options_for("open_transport", {"board": "x", "project_type": "host_driven"})
    timeouts = client.call("open_transport", options=options)["timeouts"]
    check(set(timeouts) == {"session_start_retry_timeout_sec", "session_start_timeout_sec",
                            "session_established_timeout_sec"}, "open_transport gives timeouts")
    expect_error(-32000, lambda: client.call("open_transport", options=options),
                 "opening it again is refused")
    expect_error(-32602, lambda: client.call("write_transport", data="\x01\x02",
                                             timeout_sec=1.0), "data that is not in base 85")
    started = time.monotonic()
    expect_error(-32000, lambda: client.call("read_transport", n=4, timeout_sec=0.3),
                 "a read that is too early", "IoTimeoutError")
    check(0.2 < time.monotonic() - started, "and it takes its time")
    check(client.call("read_transport", n=0, timeout_sec=None) == {"data": ""}, "reading nothing")
    line = Transport(client)
    check(line.ask(HELLO)[0] == HELLO | 0x80, "the firmware greets through the transport")
    for slot, n in ((0, 2), (1, 1), (2, 2)):
        line.ask(ALLOCATE, allocate(slot, n))
    line.ask(WRITE, struct.pack("<BI2b", 0, 0, 100, -4))
    line.ask(WRITE, struct.pack("<BIb", 1, 0, 7))
    _, answer = line.ask(CALL, b"\xff\xffadd\0" + bytes([3, 7, 0, 7, 1, 7, 2]))
    _, result = line.ask(READ, struct.pack("<BIH", 2, 0, 2))
    check(answer[:4] == bytes(4) and struct.unpack("<2b", result) == (107, 3),
          "op_add is right through the transport")
    client.call("close_transport")
    expect_error(-32000, lambda: client.call("read_transport", n=1, timeout_sec=0.1),
                 "reading after it was closed", "TransportClosedError")


@pytest.mark.parametrize("board", ["host", "qemu_mps2_an386"])
def test_project_api(board, tmp_path):
    need_tools(board)
    need_archive()
    work = tmp_path
    common.aotc("project-server", "--template", work / "template")
    client = Client(work / "template")
    check(client.info["is_template"] and client.info["protocol_version"] == 1 and
          client.info["model_library_format_path"] == "", "a template says that it is one")
    check_options(client.info)
    check_requests(client)
    chosen = {"project_type": "host_driven", "board": board}
    expect_error(-32000, lambda: client.call(
        "generate_project", model_library_format_path=str(work / "absent.tar"),
        standalone_crt_dir="", project_dir=str(work / "none"),
        options=client.options_for("generate_project", chosen)), "an archive that is not there")
    check(not (work / "none").exists(), "leaves no project behind")
    client.call("generate_project", model_library_format_path=str(ARCHIVE), standalone_crt_dir="",
                project_dir=str(work / "project"),
                options=client.options_for("generate_project", chosen))
    client.close()
    check(client.process.returncode == 0, "the server ends when its client goes")
    client = Client(work / "project")
    check(not client.info["is_template"] and
          pathlib.Path(client.info["model_library_format_path"]).read_bytes() ==
          ARCHIVE.read_bytes(), "a project says that it is one, and has its archive")
    given = client.options_for("build", chosen)
    expect_error(-32000, lambda: client.call("flash", options=given), "flashing before building")
    check(client.call("build", options=given) is None, "builds")
    check(client.call("flash", options=given) is None, "flashes")
    check_transport(client)
    # A second time, as a script does for each of its measurements.
    client.call("open_transport", options=given)
    client.close()
    check(client.process.returncode == 0, "ends with an open transport")
