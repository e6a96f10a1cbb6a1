# SPDX-License-Identifier: Apache-2.0
"""What scripts/make-keras-models runs: OUT_DIR [NAME...] [--kinds KIND,...]."""

import argparse
import pathlib
import sys

import common
import keras_layers


def main():
    builders = {build.__name__: build for build in keras_layers.ORDINARY}
    parser = argparse.ArgumentParser(prog="make-keras-models")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*", default=list(builders))
    parser.add_argument("--kinds", default=",".join(keras_layers.KINDS),
                        help="of %(default)s; all by default")
    options = parser.parse_args()
    kinds = options.kinds.split(",")
    for what, given, known in (("model", options.names, list(builders)),
                               ("kind", kinds, keras_layers.KINDS)):
        for name in given:
            if name not in known:
                sys.exit(f"make-keras-models: unknown {what} {name}; there are {', '.join(known)}")
    common.set_up_tensorflow()
    chosen = [builders[name] for name in options.names]
    for line in keras_layers.write(options.folder, chosen, kinds):
        print(line, flush=True)


main()
