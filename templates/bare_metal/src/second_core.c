/* SPDX-License-Identifier: 0BSD */
/* Mailbox, doorbell and start of the second core; see second_core.h.
 *
 * A command has a number. Core 0 writes the command, a barrier, the number into `request`, a
 * barrier, and rings; core 1 reads the number, a barrier, then the command. The answer goes back
 * in the same way through `status` and `answer`. A command is done when the numbers are equal, so
 * a late answer to an earlier command is never taken for one to this. A doorbell only ends a
 * sleep: it may ring too often or too early, never too late.
 *
 * Sleeping is WFI with interrupts masked: an interrupt that is pending then ends WFI but is not
 * taken, and one that became pending between the test and WFI is not missed. */
#include "second_core.h"

#include <string.h>

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

/* System control, secure. */
#define INITSVTOR1 REGISTER(0x50021114u)
#define CPUWAIT REGISTER(0x50021118u)
#define CPUWAIT_CPU1 2u
/* MHU0: what core 0 sees set, and what core 1 does. */
#define MHU_CPU0_SET REGISTER(0x50003004u)
#define MHU_CPU0_CLEAR REGISTER(0x50003008u)
#define MHU_CPU1_SET REGISTER(0x50003014u)
#define MHU_CPU1_CLEAR REGISTER(0x50003018u)
#define MHU_ALL 0xFu
/* Timers 0 and 1. */
#define TIMER0_CTRL REGISTER(0x50000000u)
#define TIMER0_VALUE REGISTER(0x50000004u)
#define TIMER0_RELOAD REGISTER(0x50000008u)
#define TIMER1_CTRL REGISTER(0x50001000u)
#define TIMER1_VALUE REGISTER(0x50001004u)
#define TIMER1_RELOAD REGISTER(0x50001008u)
#define TIMER1_INTERRUPT REGISTER(0x5000100Cu) /* read: status, write: clear */
#define TIMER_RUN 1u
#define TIMER_INTERRUPT_ON 8u
/* NVIC of the core that looks at it. */
#define NVIC_ENABLE REGISTER(0xE000E100u)
#define NVIC_DISABLE REGISTER(0xE000E180u)
#define NVIC_CLEAR_PENDING REGISTER(0xE000E280u)
#define IRQ_TIMER1 (1u << 4)
#define IRQ_MHU0 (1u << 6)

#define BARRIER() __asm__ volatile("dmb" ::: "memory")
#define BARRIER_AND_WAIT() __asm__ volatile("dsb" ::: "memory")

/* Normal memory that both cores see; no data cache lies before it on an SSE-200. */
static struct {
    volatile uint32_t request; /* number of the last command given, written by core 0 */
    volatile uint32_t answer;  /* number of the last command done, written by core 1 */
    TVMBackendPackedCFunc function;
    TVMValue *args;
    int *type_codes;
    int num_args;
    void *resource_handle;
    volatile int32_t status;
    volatile uint32_t faulted; /* the answer comes from the fault handler */
    volatile uint32_t began, ended; /* ticks, when measured */
} mailbox;

/* --- Core 1 ---------------------------------------------------------------------------------- */

typedef void (*vector)(void);

static uint64_t stack_of_core1[SECOND_CORE_STACK_BYTES / 8u];

void second_core_reset(void);
void second_core_fault(void);
void second_core_serve(void) __attribute__((noreturn));
void second_core_stop(void) __attribute__((noreturn));

static const vector vectors_of_core1[16] __attribute__((aligned(1024))) = {
    (vector)(uintptr_t)(stack_of_core1 + SECOND_CORE_STACK_BYTES / 8u),
    second_core_reset,
    second_core_fault, /* NMI */
    second_core_fault, /* HardFault, which all others become: they are not enabled */
    second_core_fault, second_core_fault, second_core_fault, second_core_fault,
    0, 0, 0,
    second_core_fault, second_core_fault,
    0,
    second_core_fault, second_core_fault,
};

/* Masks interrupts for good, limits the stack, and turns the floating point unit on: it is off
 * after reset on each core. */
__attribute__((naked, used)) void second_core_reset(void)
{
    __asm__ volatile(".syntax unified\n"
                     "cpsid i\n"
                     "ldr r0, =%c0\n"
                     "msr msplim, r0\n"
#if defined(__ARM_FP)
                     "ldr r0, =0xE000ED88\n" /* CPACR: full access to coprocessors 10 and 11 */
                     "ldr r1, [r0]\n"
                     "orr r1, r1, #0x00F00000\n"
                     "str r1, [r0]\n"
                     "dsb\n"
                     "isb\n"
#endif
                     "b second_core_serve\n"
                     ".ltorg\n" ::"i"(stack_of_core1));
}

/* On a fresh stack: one that is full is a likely reason to be here. */
__attribute__((naked, used)) void second_core_fault(void)
{
    __asm__ volatile(".syntax unified\n"
                     "ldr r0, =%c0\n"
                     "mov sp, r0\n"
                     "b second_core_stop\n"
                     ".ltorg\n" ::"i"(stack_of_core1 + SECOND_CORE_STACK_BYTES / 8u));
}

static void answer(uint32_t number, int32_t status)
{
    mailbox.status = status;
    BARRIER();
    mailbox.answer = number;
    BARRIER_AND_WAIT();
    MHU_CPU0_SET = 1u;
}

static void run_command(uint32_t number)
{
    TVMValue result;
    int result_code = kTVMNullptr;
    int32_t status;
    (void)memset(&result, 0, sizeof result);
    BARRIER();
#if SECOND_CORE_MEASURE
    mailbox.began = second_core_ticks();
#endif
    status = mailbox.function(mailbox.args, mailbox.type_codes, mailbox.num_args, &result,
                              &result_code, mailbox.resource_handle);
#if SECOND_CORE_MEASURE
    mailbox.ended = second_core_ticks();
#endif
    answer(number, status);
}

__attribute__((used)) void second_core_serve(void)
{
    uint32_t done = mailbox.request;
    NVIC_ENABLE = IRQ_MHU0;
    /* That it has started is the answer to the first command. */
    answer(done, 0);
    for (;;) {
        const uint32_t number = mailbox.request;
        if (number == done) {
            BARRIER_AND_WAIT();
            __asm__ volatile("wfi" ::: "memory");
            MHU_CPU1_CLEAR = MHU_ALL;
            BARRIER_AND_WAIT();
            NVIC_CLEAR_PENDING = IRQ_MHU0;
            BARRIER_AND_WAIT();
        } else {
            run_command(number);
            done = number;
        }
    }
}

/* For good, as nothing can be trusted that was running. */
__attribute__((used)) void second_core_stop(void)
{
    mailbox.faulted = 1u;
    answer(mailbox.request, SECOND_CORE_FAULT);
    for (;;) { __asm__ volatile("wfi" ::: "memory"); }
}

/* --- Core 0 ---------------------------------------------------------------------------------- */

static enum { OFF, IDLE, RUNNING, LOST, FAULTED } state;

static int is_answered(void)
{
    return mailbox.answer == mailbox.request;
}

static void start_timeout(void)
{
    const uint64_t ticks = (uint64_t)SECOND_CORE_TIMEOUT_US * SECOND_CORE_TIMER_HZ / 1000000u;
    TIMER1_CTRL = 0u;
    TIMER1_VALUE = ticks < 0xFFFFFFFFu ? (uint32_t)ticks : 0xFFFFFFFFu;
    TIMER1_RELOAD = ticks < 0xFFFFFFFFu ? (uint32_t)ticks : 0xFFFFFFFFu;
    TIMER1_INTERRUPT = 1u;
    TIMER1_CTRL = TIMER_RUN | TIMER_INTERRUPT_ON;
}

static void stop_timeout(void)
{
    TIMER1_CTRL = 0u;
    TIMER1_INTERRUPT = 1u;
    BARRIER_AND_WAIT();
    NVIC_CLEAR_PENDING = IRQ_TIMER1;
}

/* Sleeps until an interrupt if neither `answer` nor the timeout has come. Both interrupts are
 * enabled only while they are masked, so the vector table needs no handlers for them. */
static int sleep_once(void)
{
    uint32_t masked;
    int awake;
    __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(masked)::"memory");
    NVIC_ENABLE = IRQ_MHU0 | IRQ_TIMER1;
    awake = is_answered() || TIMER1_INTERRUPT != 0u;
    if (!awake) {
        BARRIER_AND_WAIT();
        __asm__ volatile("wfi" ::: "memory");
    }
    NVIC_DISABLE = IRQ_MHU0 | IRQ_TIMER1;
    MHU_CPU0_CLEAR = MHU_ALL;
    BARRIER_AND_WAIT();
    NVIC_CLEAR_PENDING = IRQ_MHU0;
    __asm__ volatile("dsb\n\tisb\n\tmsr primask, %0\n\tisb" ::"r"(masked) : "memory");
    return awake;
}

static int32_t wait_for_answer(void)
{
    if (!is_answered()) {
        start_timeout();
        while (!sleep_once()) {}
        stop_timeout();
    }
    if (!is_answered()) {
        state = LOST;
        return SECOND_CORE_TIMEOUT;
    }
    BARRIER();
    state = mailbox.faulted ? FAULTED : IDLE;
    return mailbox.status;
}

int32_t second_core_start(void)
{
    if (state != OFF) { return second_core_ready(); }
#if SECOND_CORE_MEASURE
    TIMER0_CTRL = 0u;
    TIMER0_RELOAD = 0xFFFFFFFFu;
    TIMER0_VALUE = 0xFFFFFFFFu;
    TIMER0_CTRL = TIMER_RUN;
#endif
    mailbox.request = 1u;
    BARRIER_AND_WAIT();
    INITSVTOR1 = (uint32_t)(uintptr_t)vectors_of_core1;
    BARRIER_AND_WAIT();
    CPUWAIT &= ~CPUWAIT_CPU1;
    BARRIER_AND_WAIT();
    state = RUNNING;
    return wait_for_answer();
}

#if SECOND_CORE_MEASURE

static struct second_core_figures figures;
static uint32_t launched;

uint32_t second_core_ticks(void)
{
    return 0xFFFFFFFFu - TIMER0_VALUE;
}

void second_core_clear_figures(void)
{
    (void)memset(&figures, 0, sizeof figures);
}

struct second_core_figures second_core_get_figures(void)
{
    return figures;
}

static void add_figures(uint32_t synced)
{
    const uint32_t host = synced - launched;
    const uint32_t device = mailbox.ended - mailbox.began;
    ++figures.launches;
    figures.host += host;
    figures.device += device;
    figures.overlap += host < device ? host : device;
    figures.disturbed += mailbox.began - launched < host;
}

#endif

int32_t second_core_sync(void)
{
#if SECOND_CORE_MEASURE
    const uint32_t synced = second_core_ticks();
#endif
    int32_t status;
    switch (state) {
    case OFF: return SECOND_CORE_NOT_STARTED;
    case IDLE: return 0;
    case FAULTED: return SECOND_CORE_FAULT;
    case LOST:
        status = wait_for_answer();
        if (state == IDLE) { status = 0; } /* late: it was reported as a timeout */
        return status;
    default: break;
    }
    status = wait_for_answer();
#if SECOND_CORE_MEASURE
    if (state == IDLE) { add_figures(synced); }
#endif
    return status;
}

int32_t second_core_ready(void)
{
    return state == LOST && !is_answered() ? SECOND_CORE_TIMEOUT : second_core_sync();
}

int32_t second_core_launch(TVMBackendPackedCFunc function, TVMValue *args, int *type_codes,
                           int num_args, void *resource_handle)
{
    const int32_t status = second_core_ready();
    if (status != 0) { return status; }
    mailbox.function = function;
    mailbox.args = args;
    mailbox.type_codes = type_codes;
    mailbox.num_args = num_args;
    mailbox.resource_handle = resource_handle;
    state = RUNNING;
    BARRIER();
    mailbox.request = mailbox.request + 1u;
    BARRIER_AND_WAIT();
    MHU_CPU1_SET = 1u;
    BARRIER_AND_WAIT();
#if SECOND_CORE_MEASURE
    launched = second_core_ticks();
#endif
    return 0;
}

/* --- The hooks of a device ------------------------------------------------------------------- */

#ifdef SECOND_CORE_DEVICE

/* TVMDevice<Name><Hook>: the name is that of the device as emitted code writes it. */
#define JOIN_EXPANDED(name, hook) TVMDevice##name##hook
#define JOIN(name, hook) JOIN_EXPANDED(name, hook)
#define HOOK(hook) JOIN(SECOND_CORE_DEVICE, hook)

int32_t HOOK(Activate)(void *context);
int32_t HOOK(Open)(void *context);
int32_t HOOK(Close)(void *context);
int32_t HOOK(Deactivate)(void *context);
int32_t HOOK(Launch)(void *context, TVMBackendPackedCFunc function, TVMValue *args,
                     int *type_codes, int num_args);
int32_t HOOK(Sync)(void *context);
int32_t HOOK(Copy)(void *context, void *to, const void *from, uint32_t bytes, int32_t to_device);

int32_t HOOK(Activate)(void *context)
{
    (void)context;
    return second_core_start();
}

/* A core that was lost and has not come back is refused here, before anything is given to it. */
int32_t HOOK(Open)(void *context)
{
    (void)context;
    return second_core_ready();
}

/* Nothing of the caller's is in use after this, unless the core is lost. */
int32_t HOOK(Close)(void *context)
{
    (void)context;
    return second_core_sync();
}

/* It sleeps by itself: a core that is idle waits for an interrupt. */
int32_t HOOK(Deactivate)(void *context)
{
    (void)context;
    return 0;
}

int32_t HOOK(Launch)(void *context, TVMBackendPackedCFunc function, TVMValue *args,
                     int *type_codes, int num_args)
{
    return second_core_launch(function, args, type_codes, num_args, context);
}

int32_t HOOK(Sync)(void *context)
{
    (void)context;
    return second_core_sync();
}

/* By words: the memcpy of a small C library goes byte by byte. */
static void copy_bytes(void *to, const void *from, uint32_t bytes)
{
    uint32_t *out = to;
    const uint32_t *in = from;
    if ((((uintptr_t)to | (uintptr_t)from) & 3u) == 0u) {
        for (; bytes >= 16u; bytes -= 16u) {
            const uint32_t a = in[0], b = in[1], c = in[2], d = in[3];
            out[0] = a;
            out[1] = b;
            out[2] = c;
            out[3] = d;
            in += 4;
            out += 4;
        }
    }
    (void)memcpy(out, in, bytes);
}

/* Both cores see the same memory; what they see of it is settled by launch and sync. */
int32_t HOOK(Copy)(void *context, void *to, const void *from, uint32_t bytes, int32_t to_device)
{
    (void)context;
    (void)to_device;
    copy_bytes(to, from, bytes);
    return 0;
}

#endif
