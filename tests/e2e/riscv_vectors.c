/* SPDX-License-Identifier: Apache-2.0 */
/* Switches the vector registers on before main. */
__attribute__((constructor)) static void vectors_on(void)
{
    __asm__ volatile("csrs mstatus, %0" ::"r"(0x200)); /* VS: initial */
}
