/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin for QEMU 7 and 8: addresses of instructions that read or wrote memory at an address which is no multiple of
 * the access's size. Argument: out=FILE, a line "ADDRESS COUNT" (the first in hexadecimal) for each. QEMU's header is
 * not there everywhere, so what is used of it is declared here. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef void (*translated)(uint64_t, struct qemu_plugin_tb *);
typedef void (*accessed)(unsigned int, uint32_t, uint64_t, void *);
extern void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t, translated);
extern void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, accessed, int, int, void *);
extern void qemu_plugin_register_atexit_cb(uint64_t, void (*)(uint64_t, void *), void *);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
extern uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
extern unsigned int qemu_plugin_mem_size_shift(uint32_t);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

enum { READS_AND_WRITES = 3 };

struct place {
    uint64_t at, count;
    struct place *next;
};
static struct place *first;
static const char *out_name = "unaligned.txt";

static void on_access(unsigned int cpu, uint32_t info, uint64_t address, void *data)
{
    struct place *place = data;
    (void)cpu;
    if ((address & ((UINT64_C(1) << qemu_plugin_mem_size_shift(info)) - 1)) != 0) ++place->count;
}

static void on_translated(uint64_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); ++i) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        struct place *place = malloc(sizeof *place);
        if (place == NULL) abort();
        place->at = qemu_plugin_insn_vaddr(insn);
        place->count = 0;
        place->next = first;
        first = place;
        qemu_plugin_register_vcpu_mem_cb(insn, on_access, 0, READS_AND_WRITES, place);
    }
}

static void on_end(uint64_t id, void *data)
{
    FILE *out = fopen(out_name, "w");
    (void)id;
    (void)data;
    if (out == NULL) abort();
    for (const struct place *p = first; p != NULL; p = p->next)
        if (p->count != 0) fprintf(out, "%llx %llu\n", (unsigned long long)p->at, (unsigned long long)p->count);
    fputs("end\n", out);
    fclose(out);
}

__attribute__((visibility("default"))) int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; ++i)
        if (strncmp(argv[i], "out=", 4) == 0) out_name = strdup(argv[i] + 4);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
    qemu_plugin_register_atexit_cb(id, on_end, NULL);
    return 0;
}
