# SPDX-License-Identifier: Apache-2.0
# Cross compilation for 64-bit ARM Linux with Debian's compiler, and arm64's libraries beside this machine's own
# (dpkg --add-architecture arm64): cmake --toolchain packaging/aarch64.cmake -DAOTC_STATIC=ON. `scripts/fresh-machine
# aarch64` does it all.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
