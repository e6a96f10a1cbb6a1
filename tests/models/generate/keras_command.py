# SPDX-License-Identifier: Apache-2.0
"""What scripts/make-keras-models runs: OUT_DIR [NAME...]."""

import pathlib
import sys

import common
import keras_layers


def main():
    builders = {build.__name__: build for build in keras_layers.ORDINARY}
    names = sys.argv[2:] or list(builders)
    unknown = sorted(set(names) - set(builders))
    if unknown:
        sys.exit(f"make-keras-models: unknown model {unknown[0]}; there are {', '.join(builders)}")
    common.set_up_tensorflow()
    for line in keras_layers.write(pathlib.Path(sys.argv[1]), [builders[name] for name in names]):
        print(line, flush=True)


main()
