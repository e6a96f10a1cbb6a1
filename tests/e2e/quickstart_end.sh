# SPDX-License-Identifier: Apache-2.0
# What scripts/quickstart prints last, of the aotc in PATH: in a directory that has tests/ and scripts/.
set -eu
python3 scripts/quickstart.py images tests/models/digits . >/dev/null
{
  aotc tests/models/digits/digits_int8.tflite --board qemu_mps2_an386 -o digits_app --samples images.npy \
    --labels labels.txt --quiet
  aotc build digits_app --quiet
  aotc run digits_app
} >/dev/null 2>&1
python3 scripts/quickstart.py summary aotc digits_app .
