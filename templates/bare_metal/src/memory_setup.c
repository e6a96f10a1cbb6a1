/* SPDX-License-Identifier: 0BSD */
/* Memories that do not work after reset, and what must be done before anything is placed in them:
 *
@memory_setups@
 *
 * board_memory_setup runs first: variables have no values yet, and the clock is the one after reset.
 * An MPU region for a model's tensors is Normal memory: TEX 1, C 0, B 0 (not cached) or C 1, B 1. */
void board_memory_setup(void);

void board_memory_setup(void)
{
#error "write what sets up the memory here, and take this line out"
}
