/* SPDX-License-Identifier: 0BSD */
/* Serves the operators to a host over the serial line: a loop that gives every byte to the server
 * (aotc_crt/rpc_server.h), which calls them through the registry of functions. The clock of the
 * platform, which other kinds of project share, is its stop watch. */
#include <aotc_crt/rpc_server.h>
#include <tvm/runtime/crt/crt.h>
#include <tvm/runtime/crt/module.h>

#include "harness.h"
#include "serial.h"

/* clang-format off */
#define TENSOR_POOL_BYTES @pool_bytes@u
/* The clock gives nanoseconds, or instructions where an emulator counts them, one each nanosecond. */
#define TICKS_PER_SECOND 1000000000u
#define TICKS_ARE_INSTRUCTIONS @clock_is_instructions@
/* clang-format on */

static uint8_t pool[TENSOR_POOL_BYTES]
    __attribute__((aligned(AOTC_RPC_TENSOR_ALIGNMENT), section(".bss.arena")));
static AotcRpcServer server;

static void send(void *context, const uint8_t *bytes, uint32_t count)
{
    (void)context;
    serial_put(bytes, count);
}

static void start_clock(void *context)
{
    (void)context;
    platform_clock_restart();
}

static uint64_t stop_clock(void *context)
{
    (void)context;
    return platform_clock_elapsed();
}

#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'

/* Application Interrupt and Reset Control Register: system reset request. */
static void reboot(void *context)
{
    (void)context;
    *(volatile uint32_t *)0xE000ED0Cu = 0x05FA0004u;
    for (;;) {}
}

#define REBOOT reboot
#else
#define REBOOT 0
#endif

int harness_main(int argc, char **argv)
{
    static AotcRpcPlatform platform = {0,          send, start_clock, stop_clock, TICKS_PER_SECOND,
                                       TICKS_ARE_INSTRUCTIONS, 0,     REBOOT};
    int byte;
    (void)argc;
    (void)argv;
    platform.board = platform_board();
    serial_initialise();
    if (TVMInitializeRuntime() != kTvmErrorNoError) { return 1; }
    AotcRpcServerInit(&server, &platform, TVMSystemLibEntryPoint()->registry, pool, sizeof pool);
    while ((byte = serial_get()) >= 0) { AotcRpcServerReceive(&server, (uint8_t)byte); }
    return 0;
}
