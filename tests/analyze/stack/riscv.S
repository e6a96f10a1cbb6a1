// SPDX-License-Identifier: Apache-2.0
# `root: NAME BYTES; STATE KINDS`: counted by hand.
    .text
    .option norelax

    .macro function name
    .balign 4
    .global \name
    .type \name, @function
\name:
    .endm

# root: asm_frame 4112; proven
    function asm_frame
    addi sp, sp, -16
    sw ra, 12(sp)
    sw s0, 8(sp)
    addi s0, sp, 16
    li t0, -4096
    add sp, sp, t0
    addi sp, s0, -16
    lw ra, 12(sp)
    lw s0, 8(sp)
    addi sp, sp, 16
    ret
    .size asm_frame, . - asm_frame

# A frame of twelve vector registers, as compilers write it. vlenb is 0xc22.
# root: asm_vectors 208; assumed vector-length
    function asm_vectors
    addi sp, sp, -16
    csrr t0, 0xc22
    li t1, 12
    mul t0, t0, t1
    sub sp, sp, t0
    csrr t0, 0xc22
    slli t1, t0, 3
    slli t0, t0, 2
    add t1, t1, t0
    add sp, sp, t1
    addi sp, sp, 16
    ret
    .size asm_vectors, . - asm_vectors

# root: asm_other_csr 16; unbounded stack-pointer
    function asm_other_csr
    addi sp, sp, -16
    csrr t0, mscratch
    sub sp, sp, t0
    ret
    .size asm_other_csr, . - asm_other_csr

# root: asm_saves 48; proven
    function asm_saves
    jal t0, asm_save
    addi sp, sp, -32
    addi sp, sp, 32
    j asm_restore
    .size asm_saves, . - asm_saves
    function asm_save
    addi sp, sp, -16
    sw ra, 12(sp)
    jr t0
    .size asm_save, . - asm_save
    function asm_restore
    lw ra, 12(sp)
    addi sp, sp, 16
    ret
    .size asm_restore, . - asm_restore

# root: asm_grows 16; unbounded stack-grows
    function asm_grows
    addi sp, sp, -16
    addi a0, a0, -1
    bnez a0, asm_grows
    addi sp, sp, 16
    ret
    .size asm_grows, . - asm_grows

# root: asm_unbalanced 16; unbounded unbalanced
    function asm_unbalanced
    addi sp, sp, -16
    ret
    .size asm_unbalanced, . - asm_unbalanced

# root: asm_even 16; proven
    function asm_even
    addi a0, a0, -1
    bltz a0, 1f
    j asm_odd
1:  addi sp, sp, -16
    addi sp, sp, 16
    ret
    .size asm_even, . - asm_even
    function asm_odd
    addi a0, a0, -1
    bltz a0, 1f
    j asm_even
1:  ret
    .size asm_odd, . - asm_odd

# root: asm_computed 32; assumed jump
    function asm_computed
    addi sp, sp, -16
    lw t1, 0(a0)
    jr t1
    addi sp, sp, 16
    ret
    addi sp, sp, -16
    addi sp, sp, 32
    ret
    .size asm_computed, . - asm_computed

# root: asm_sets_sp 16; unbounded stack-pointer
    function asm_sets_sp
    addi sp, sp, -16
    mv sp, a0
    ret
    .size asm_sets_sp, . - asm_sets_sp

# root: asm_far_call 32; proven
    function asm_far_call
    addi sp, sp, -16
    sw ra, 0(sp)
    la t1, asm_even
    jalr t1
    lw ra, 0(sp)
    addi sp, sp, 16
    ret
    .size asm_far_call, . - asm_far_call

# What its compiler took not to come back.
# root: asm_last_call 32; assumed no-return
    function asm_last_call
    addi sp, sp, -16
    jal asm_even
    .size asm_last_call, . - asm_last_call
    function asm_behind
    ret
    .size asm_behind, . - asm_behind

# root: asm_switches 48; proven
    function asm_switches
    addi sp, sp, -16
    lui sp, 0x81001
    addi sp, sp, -1808
    addi sp, sp, -48
1:  j 1b
    .size asm_switches, . - asm_switches
