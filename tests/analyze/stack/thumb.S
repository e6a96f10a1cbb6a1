// SPDX-License-Identifier: Apache-2.0
@ `root: NAME BYTES; STATE KINDS`: counted by hand.
    .syntax unified
    .thumb
    .text

    .macro function name
    .balign 4
    .global \name
    .type \name, %function
    .thumb_func
\name:
    .endm

@ root: asm_pops_into_other 8; proven
    function asm_pops_into_other
    push {r4, lr}
    movs r4, #1
    pop {r4}
    pop {r3}
    bx r3
    .size asm_pops_into_other, . - asm_pops_into_other

@ root: asm_grows 12; unbounded stack-grows
    function asm_grows
    push {r4, r5, lr}
1:  push {r4}
    subs r0, #1
    bne 1b
    pop {r4, r5, pc}
    .size asm_grows, . - asm_grows

@ root: asm_unbalanced 12; unbounded unbalanced
    function asm_unbalanced
    push {r4, r5, r6}
    pop {r4, r5}
    bx lr
    .size asm_unbalanced, . - asm_unbalanced

@ Even and odd by jumps into each other: a loop, no recursion.
@ root: asm_even 4; proven
    function asm_even
    subs r0, #1
    bmi 1f
    b asm_odd
1:  push {lr}
    pop {pc}
    .size asm_even, . - asm_even
    function asm_odd
    subs r0, #1
    bmi 1f
    b asm_even
1:  bx lr
    .size asm_odd, . - asm_odd

@ To one of three places, by an address that comes from memory.
@ root: asm_computed 20; assumed jump
    function asm_computed
    push {r4, r5, r6, lr}
    ldr r1, [r0]
    mov pc, r1
    movs r0, #1
    pop {r4, r5, r6, pc}
    push {r0}
    movs r0, #2
    pop {r1}
    pop {r4, r5, r6, pc}
    .size asm_computed, . - asm_computed

@ To a place that a table of the caller states, and not to the one that takes most: 8 + 16 + 4.
@ root: asm_enters_by_table 28; proven
    function asm_enters_by_table
    push {r4, lr}
    ldr r3, =asm_first_place
    bl asm_entered
    ldr r3, =asm_second_place
    bl asm_entered
    pop {r4, pc}
    .size asm_enters_by_table, . - asm_enters_by_table

@ The same through a function that hands the table on.
@ root: asm_enters_through_other 36; proven
    function asm_enters_through_other
    push {r4, lr}
    ldr r3, =asm_first_place
    bl asm_hands_on
    pop {r4, pc}
    .size asm_enters_through_other, . - asm_enters_through_other
    function asm_hands_on
    push {r5, lr}
    movs r0, #0
    bl asm_entered
    pop {r5, pc}
    .size asm_hands_on, . - asm_hands_on

@ One of two callers has a table that is not known.
@ root: asm_enters_by_any_table 36; assumed jump
    function asm_enters_by_any_table
    push {r4, lr}
    ldr r3, =asm_first_place
    bl asm_entered
    mov r3, r0
    bl asm_entered
    pop {r4, pc}
    .size asm_enters_by_any_table, . - asm_enters_by_any_table

@ root: asm_entered 28; assumed jump
    function asm_entered
    push {r4, r5, r6, lr}
    ldm r3!, {r5, r6}
    adr r4, 2f
    cmp r5, #7
    beq 1f
    adr r4, 3f
1:  adds r4, r4, r6
    sub sp, #4
    str r4, [sp]
    str r5, [r0]
    ldr r4, [sp]
    add sp, #4
    mov pc, r4
    .balign 4
2:  push {r0}
    pop {r1}
    pop {r4, r5, r6, pc}
    .balign 4
3:  push {r0, r1, r2}
    pop {r0, r1, r2}
    pop {r4, r5, r6, pc}
    .size asm_entered, . - asm_entered
    .pool
    .section .rodata
    .balign 4
asm_first_place:
    .word 7, 0
asm_second_place:
    .word 7, 4
    .text

#ifdef __ARM_FEATURE_MVE
@ The sum over lanes is not the number that was in its register.
@ root: asm_sum_of_lanes 24; proven
    function asm_sum_of_lanes
    push {r4, lr}
    movs r0, #0
    vmladava.s8 r0, q0, q1
    cmp r0, #0
    beq 1f
    push {r0, r1, r2, r3}
    pop {r0, r1, r2, r3}
1:  pop {r4, pc}
    .size asm_sum_of_lanes, . - asm_sum_of_lanes
#endif

@ A write through one of two addresses in the stack.
@ root: asm_writes_to_either 88; proven
    function asm_writes_to_either
    push {r4, lr}
    sub sp, #16
    movs r0, #0
    str r0, [sp, #8]
    mov r1, sp
    cmp r2, #5
    beq 1f
    adds r1, #8
1:  movs r3, #1
    str r3, [r1]
    ldr r0, [sp, #8]
    cmp r0, #0
    beq 2f
    sub sp, #64
    add sp, #64
2:  add sp, #16
    pop {r4, pc}
    .size asm_writes_to_either, . - asm_writes_to_either

@ A jump by an argument, which comes back: code behind the call counts, or nothing is proven.
@ root: asm_comes_back_by_argument 40; unbounded jump
    function asm_comes_back_by_argument
    push {r4, lr}
    ldr r3, =asm_back
    bl asm_jumps_to_argument
    push {r0, r1, r2, r3}
    push {r0, r1, r2, r3}
    add sp, #32
    pop {r4, pc}
    .size asm_comes_back_by_argument, . - asm_comes_back_by_argument
    function asm_jumps_to_argument
    push {r4, r5, r6, lr}
    mov pc, r3
    .size asm_jumps_to_argument, . - asm_jumps_to_argument
asm_back:  @ no function: pointers are not taken to reach it
    pop {r4, r5, r6, pc}
    .pool

@ A function that only the arguments lead to has other arguments for a function that was walked before: 8 + 8 + 8 + 128.
@ root: asm_finds_other_arguments 152; unbounded jump
    function asm_finds_other_arguments
    push {r4, lr}
    movs r3, #0
    bl asm_entered_by_number
    ldr r3, =asm_calls_again
    bl asm_goes_to_argument
    pop {r4, pc}
    .size asm_finds_other_arguments, . - asm_finds_other_arguments
    function asm_goes_to_argument
    push {r4, lr}
    mov pc, r3
    .size asm_goes_to_argument, . - asm_goes_to_argument
asm_calls_again:
    movs r3, #4
    bl asm_entered_by_number
    pop {r4, pc}
    .pool
    function asm_entered_by_number
    push {r4, lr}
    adr r4, 2f
    adds r4, r4, r3
    mov pc, r4
    .balign 4
2:  pop {r4, pc}
    nop
    sub sp, #128
    add sp, #128
    pop {r4, pc}
    .size asm_entered_by_number, . - asm_entered_by_number

@ A frame pointer, and a literal pool between the code.
@ root: asm_frame 2056; proven
    function asm_frame
    push {r7, lr}
    mov r7, sp
    ldr r3, 1f
    add sp, r3
    b 2f
    .balign 4
1:  .word -2048
2:  mov sp, r7
    pop {r7, pc}
    .size asm_frame, . - asm_frame

@ root: asm_sets_sp 8; unbounded stack-pointer
    function asm_sets_sp
    push {r4, lr}
    mov sp, r0
    pop {r4, pc}
    .size asm_sets_sp, . - asm_sets_sp

@ root: asm_asks 8; assumed exception
    function asm_asks
    push {r4, lr}
    svc 0
    pop {r4, pc}
    .size asm_asks, . - asm_asks

@ root: asm_far_call 16; proven
    function asm_far_call
    push {r4, lr}
    ldr r3, =asm_pops_into_other
    blx r3
    pop {r4, pc}
    .size asm_far_call, . - asm_far_call
    .pool

@ What its compiler took not to come back.
@ root: asm_last_call 16; assumed no-return
    function asm_last_call
    push {r4, lr}
    bl asm_pops_into_other
    .size asm_last_call, . - asm_last_call

@ root: asm_last_call_before_data 24; assumed no-return
    function asm_last_call_before_data
    push {r4, r5, r6, lr}
    ldr r0, 1f
    bl asm_pops_into_other
    .balign 4
1:  .word 0xde00de00
    .size asm_last_call_before_data, . - asm_last_call_before_data

#if __ARM_ARCH >= 7 && !defined(__ARM_ARCH_6M__)
@ root: asm_conditional 12; proven
    function asm_conditional
    push {r4, r5, lr}
    cmp r0, #3
    it eq
    popeq {r4, r5, pc}
    movs r0, #1
    ldr r4, [sp], #8
    ldr pc, [sp], #4
    .size asm_conditional, . - asm_conditional

@ root: asm_words 16; proven
    function asm_words
    str lr, [sp, #-4]!
    strd r4, r5, [sp, #-8]!
    sub sp, #4
    cmp r0, #2
    bhi 3f
    adr r1, 1f
    ldr pc, [r1, r0, lsl #2]
    .balign 4
1:  .word 2f + 1, 3f + 1, 4f + 1
2:  nop
3:  nop
4:  add sp, #4
    ldrd r4, r5, [sp], #8
    ldr pc, [sp], #4
    .size asm_words, . - asm_words

@ root: asm_nearby 8; proven
    function asm_nearby
    push {r4, lr}
    cmp r0, #2
    bhi 3f
    tbb [pc, r0]
1:  .byte (2f - 1b) / 2, (3f - 1b) / 2, (4f - 1b) / 2, 0
2:  movs r4, #1
3:  movs r4, #2
4:  pop {r4, pc}
    .size asm_nearby, . - asm_nearby
#endif

#ifdef __ARM_FP
@ root: asm_floats 88; proven
    function asm_floats
    push {r4, lr}
    vpush {d8-d15}
    vpush {s0-s3}
    vpop {s0-s3}
    vldmia sp!, {d8-d15}
    pop {r4, pc}
    .size asm_floats, . - asm_floats
#endif

#if __ARM_ARCH >= 8 && defined(__ARM_FEATURE_MVE)
@ root: asm_vectors 40; proven
    function asm_vectors
    push {r4, lr}
    vpush {d8-d11}
    dlstp.8 lr, r2
1:  vldrb.u8 q0, [r0], #16
    vstrb.8 q0, [r1], #16
    letp lr, 1b
    wls lr, r2, 3f
2:  vldrb.u8 q4, [r0], #16
    le lr, 2b
3:  vpop {d8-d11}
    pop {r4, pc}
    .size asm_vectors, . - asm_vectors
#endif
