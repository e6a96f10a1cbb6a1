# SPDX-License-Identifier: 0BSD
# How to compile for @board@ (@cpu@): CMakeLists.txt uses this unless CMAKE_TOOLCHAIN_FILE is given.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR @cpu@)

# -DTOOLCHAIN_PREFIX=/opt/gcc/bin/arm-none-eabi- takes another toolchain of the same kind.
set(TOOLCHAIN_PREFIX "@toolchain_prefix@" CACHE STRING "what the compiler's name begins with")
set(link_flags "@link_flags@")
if(link_flags STREQUAL "")
  set(CMAKE_C_COMPILER "${TOOLCHAIN_PREFIX}gcc")
else()
  # gcc links, because it knows the C library.
  set(CMAKE_C_COMPILER "@compiler@")
  set(CMAKE_C_LINK_EXECUTABLE
    "${TOOLCHAIN_PREFIX}gcc ${link_flags} <CMAKE_C_LINK_FLAGS> <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>")
endif()
set(CMAKE_OBJCOPY "${TOOLCHAIN_PREFIX}objcopy" CACHE STRING "")
set(CMAKE_SIZE "${TOOLCHAIN_PREFIX}size" CACHE STRING "")

set(CMAKE_C_FLAGS_INIT "@cpu_flags@")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TOOLCHAIN_PREFIX)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)

set(AOTC_BARE_METAL ON)
