# SPDX-License-Identifier: 0BSD
# Where the memory of the model '@prefix@' lies, as definitions for its sources: ${definitions}.
set(arena_section "${CONFIG_@macro_prefix@_MODEL_ARENA_SECTION}")
set(definitions "")

if(CONFIG_@macro_prefix@_MODEL_USER_MODE)
  # As K_APP_BMEM(@prefix@_partition) places variables.
  set(arena_section "data_smem_@prefix@_partition_bss")
  list(APPEND definitions
    "@macro_prefix@_PLACE_DATA=__attribute__((section(\"${arena_section}\")))")
elseif(COMMAND dt_chosen)
  dt_chosen(arena_node PROPERTY "aotc,arena")
  if(arena_node)
    dt_prop(arena_section PATH "${arena_node}" PROPERTY "zephyr,memory-region")
    if("${arena_section}" STREQUAL "")
      message(FATAL_ERROR "aotc,arena is ${arena_node}, which is no zephyr,memory-region: give it that "
        "compatible and a name")
    endif()
    dt_reg_addr(arena_at PATH "${arena_node}")
    dt_reg_size(arena_room PATH "${arena_node}")
    if(arena_room LESS @arena_bytes@)
      message(FATAL_ERROR "aotc,arena is ${arena_node} with ${arena_room} bytes; the arena of @prefix@ "
        "takes @arena_bytes@")
    endif()
    dt_chosen(ram_node PROPERTY "zephyr,sram")
    dt_reg_addr(ram_at PATH "${ram_node}")
    dt_reg_size(ram_room PATH "${ram_node}")
    math(EXPR arena_end "${arena_at} + ${arena_room}")
    math(EXPR ram_end "${ram_at} + ${ram_room}")
    math(EXPR arena_at "${arena_at}")
    math(EXPR ram_at "${ram_at}")
    if(arena_at LESS ram_end AND ram_at LESS arena_end)
      message(FATAL_ERROR "aotc,arena (${arena_node}) overlaps zephyr,sram (${ram_node}): both would be "
        "written. Make zephyr,sram smaller or choose another memory")
    endif()
  endif()
endif()

if(NOT arena_section STREQUAL "")
  list(APPEND definitions
    "@macro_prefix@_PLACE_ARENA=__attribute__((section(\"${arena_section}\")))")
endif()
