# SPDX-License-Identifier: 0BSD
"""What TVM's Project API (up to 0.18) launches: hands over to 'aotc project-server'.

The program is $AOTC, or 'aotc' in the path.
"""
import os
import sys

os.chdir(os.path.dirname(os.path.abspath(__file__)))
program = os.environ.get("AOTC", "aotc")
try:
    os.execvp(program, [program, "project-server", *sys.argv[1:]])
except OSError as error:
    sys.exit(f"cannot start '{program}': {error}; set AOTC to where it is")
