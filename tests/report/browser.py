#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Chromium without a window, driven over a pipe (its DevTools protocol): pages are opened, asked, and drawn.

Usage: browser.py PAGE.html PICTURE.png [--width N] [--height N] [--dark] [--part ID] [--whole]

Draws what is seen of a page, from the part of that id on, or all of it.
"""
import argparse
import base64
import json
import os
import pathlib
import shutil
import subprocess
import tempfile


def find():
    """The program, or None."""
    return next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)


class Browser:
    """One page of one browser. What it asks of a network, what its console says and what goes wrong in scripts is
    kept in `requests`, `messages`."""

    def __init__(self, program):
        self._folder = tempfile.TemporaryDirectory(prefix="aotc_browser_", ignore_cleanup_errors=True)
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()

        def descriptors():  # the protocol is spoken on 3 and 4, whatever these are now
            high_in, high_out = os.dup(to_browser), os.dup(from_browser)
            first, second = os.dup(high_in), os.dup(high_out)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self._process = subprocess.Popen(
            [program, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--disable-extensions", "--disable-background-networking", "--hide-scrollbars",
             "--disable-component-update", "--force-color-profile=srgb", f"--user-data-dir={self._folder.name}", "about:blank"],
            preexec_fn=descriptors, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self._left, self._number, self._session = b"", 0, None
        self.requests, self.messages, self._events = [], [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._session = None
        try:
            self.call("Browser.close")
        except EOFError:
            pass
        self._process.wait(timeout=60)
        os.close(self._in)
        os.close(self._out)
        self._folder.cleanup()

    def _message(self):
        while b"\0" not in self._left:
            piece = os.read(self._in, 1 << 20)
            if not piece:
                raise EOFError("the browser ended")
            self._left += piece
        text, _, self._left = self._left.partition(b"\0")
        message = json.loads(text)
        method, params = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.messages.append(str(params["exceptionDetails"].get("exception", {}).get("description", params)))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.messages.append(params["entry"]["text"])
        elif method == "Runtime.consoleAPICalled":
            self.messages.append(str([a.get("value") for a in params["args"]]))
        if method:
            self._events.append(method)
        return message

    def call(self, method, **params):
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while (answer := self._message()).get("id") != self._number:
            pass
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def look(self, width=1280, height=900, dark=False, medium="screen"):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", media=medium,
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                            {"name": "prefers-reduced-motion", "value": "reduce"}])

    def open(self, path):
        self._events.clear()
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        while "Page.loadEventFired" not in self._events:
            self._message()

    def ask(self, expression):
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def press(self, key, shift=False):
        code = {"Tab": 9, "Enter": 13, "ArrowRight": 39, "ArrowLeft": 37, " ": 32}[key]
        for kind in ("keyDown", "keyUp"):
            more = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code,
                      modifiers=8 if shift else 0, **more)

    def picture(self, path, clip=None):
        more = {"clip": {**clip, "scale": 1}, "captureBeyondViewport": True} if clip else {}
        data = self.call("Page.captureScreenshot", format="png", **more)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page")
    parser.add_argument("picture")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, default=900)
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--part", help="id of the part to draw")
    parser.add_argument("--whole", action="store_true")
    args = parser.parse_args()
    with Browser(find()) as browser:
        browser.look(args.width, args.height, args.dark)
        browser.open(args.page)
        clip = None
        if args.whole or args.part:
            at = f"document.getElementById({json.dumps(args.part)})" if args.part else "document.body"
            clip = browser.ask(f"(() => {{ const r = {at}.getBoundingClientRect(); return {{x: 0, y: r.y + scrollY, "
                               "width: innerWidth, height: r.height}; })()")
        browser.picture(args.picture, clip)
        for text in browser.messages:
            print(text)


if __name__ == "__main__":
    main()
