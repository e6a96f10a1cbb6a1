/* SPDX-License-Identifier: 0BSD */
/* The second Cortex-M33 of an SSE-200 (MPS2 AN521) as a device that runs packed functions.
 *
 * Core 1 is started once and then sleeps until a command lies in a mailbox in shared memory; a
 * doorbell (MHU0) wakes it, and another one wakes core 0 when the command is done. What a caller
 * must know: arguments, tensors and everything they point at belong to core 1 from launch to
 * sync, and after SECOND_CORE_TIMEOUT until an answer has come, however late.
 *
 * The functions are called from one thread of core 0, with interrupts on or off, in the secure
 * state. They take timer 1 of the SSE-200 and, while they wait, the NVIC enables of that timer
 * and of MHU0; nothing of the vector table. Functions that run on core 1 have interrupts masked
 * and a stack of SECOND_CORE_STACK_BYTES, and must not allocate from an allocator that core 0
 * uses at the same time. */
#ifndef INCLUDED_SECOND_CORE
#define INCLUDED_SECOND_CORE

#include <stddef.h>
#include <stdint.h>
#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/c_runtime_api.h>

#ifndef SECOND_CORE_STACK_BYTES
#define SECOND_CORE_STACK_BYTES 8192u
#endif
/* How long an answer may take; at most 2^32 ticks of the timer. */
#ifndef SECOND_CORE_TIMEOUT_US
#define SECOND_CORE_TIMEOUT_US 10000000u
#endif
/* Rate of the timers, in Hz. */
#ifndef SECOND_CORE_TIMER_HZ
#define SECOND_CORE_TIMER_HZ 20000000u
#endif
/* 1 keeps second_core_figures; takes timer 0 as well, free running. */
#ifndef SECOND_CORE_MEASURE
#define SECOND_CORE_MEASURE 0
#endif

/* Statuses of this driver; a function's own status is passed through unchanged. */
#define SECOND_CORE_TIMEOUT (-5201)     /* no answer in time; core 1 is lost until it answers */
#define SECOND_CORE_FAULT (-5202)       /* core 1 took a fault; it does not run again */
#define SECOND_CORE_NOT_STARTED (-5203) /* second_core_start was not called, or failed */

/* Starts core 1 and waits until it answers; 0 if it runs, also if it ran before. Core 1 cannot be
 * stopped or started again. */
int32_t second_core_start(void);

/* Gives core 1 a function to call with these arguments, and resource_handle as the last one, and
 * returns at once with 0. If a command is still running it is waited for first; if that one
 * failed, its status is returned and nothing is started. */
int32_t second_core_launch(TVMBackendPackedCFunc function, TVMValue *args, int *type_codes,
                           int num_args, void *resource_handle);

/* Waits for what was launched and returns its status; 0 if nothing was. A status is returned
 * once. After a timeout it waits again: 0 then says that an answer has come. */
int32_t second_core_sync(void);

/* What a launch would be refused with: as second_core_sync, but a core that is lost is not waited
 * for. */
int32_t second_core_ready(void);

#if SECOND_CORE_MEASURE
/* Sums over all commands since the last second_core_clear_figures, in ticks of the timer. */
struct second_core_figures {
    uint32_t launches;
    uint64_t host;    /* core 0 from the end of a launch to the sync of it */
    uint64_t device;  /* core 1 from the start of a function to its return */
    uint64_t overlap; /* the smaller of both, added up for each command: what running side by side
                       * saves, as host and device would have taken host + device in turn */
    uint32_t disturbed; /* commands whose function started before the sync: where one clock
                         * counts the instructions of both cores (an emulator that counts
                         * instructions), such a segment holds instructions of the other core */
};

void second_core_clear_figures(void);
struct second_core_figures second_core_get_figures(void);
/* The free running timer, in ticks; wraps after 2^32. */
uint32_t second_core_ticks(void);
#endif

#endif
