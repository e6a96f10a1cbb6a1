// SPDX-License-Identifier: Apache-2.0
; `root: NAME BYTES; STATE KINDS`: counted by hand, with the two bytes of the call of NAME.
    .text

    .macro function name
    .global \name
    .type \name, @function
\name:
    .endm

; root: asm_frame 14; proven
    function asm_frame
    push r28
    push r29
    in r28, 0x3d
    in r29, 0x3e
    sbiw r28, 10
    in r0, 0x3f
    cli
    out 0x3e, r29
    out 0x3f, r0
    out 0x3d, r28
    adiw r28, 10
    in r0, 0x3f
    cli
    out 0x3e, r29
    out 0x3f, r0
    out 0x3d, r28
    pop r29
    pop r28
    ret
    .size asm_frame, . - asm_frame

; root: asm_rcall 19; proven
    function asm_rcall
    push r16
    rcall .
    pop r0
    pop r0
    sbrc r24, 0
    rcall asm_frame
    push r17
    push r17
    rcall asm_frame
    pop r17
    pop r17
    pop r16
    ret
    .size asm_rcall, . - asm_rcall

; root: asm_grows 2; unbounded stack-grows
    function asm_grows
    push r24
    dec r24
    brne asm_grows
    pop r24
    ret
    .size asm_grows, . - asm_grows

; root: asm_unbalanced 3; unbounded unbalanced
    function asm_unbalanced
    push r24
    ret
    .size asm_unbalanced, . - asm_unbalanced

; root: asm_far_call 16; proven
    function asm_far_call
    ldi r30, lo8(gs(asm_frame))
    ldi r31, hi8(gs(asm_frame))
    icall
    ret
    .size asm_far_call, . - asm_far_call

; root: asm_sets_sp 2; unbounded stack-pointer
    function asm_sets_sp
    out 0x3e, r25
    out 0x3d, r24
    ret
    .size asm_sets_sp, . - asm_sets_sp
