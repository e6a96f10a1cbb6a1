// SPDX-License-Identifier: Apache-2.0
// A plugin for QEMU 7 and 8: how often each instruction ran, and how often it was not followed by
// the one behind it. Compiled for this machine when `aotc analyze cycles` needs it. The one thing
// to know: QEMU's header is not there everywhere, so what is used of it is declared here.
//
// Arguments: out=FILE, from=, to= (code, hexadecimal), and either nothing more, or root=, root_end=
// (a function) and nth=: only what runs in its nth call is counted. Output: lines "ADDRESS COUNT
// TAKEN" in hexadecimal; with a root behind lines "call ADDRESS", for what ran in one function that
// the root calls, or "self", for what ran in the root itself.
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef uint64_t qemu_plugin_id_t;
typedef struct {
  const char* target_name;
  struct {
    int min, cur;
  } version;
} qemu_info_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef void (*translated)(qemu_plugin_id_t, struct qemu_plugin_tb*);
typedef void (*executed)(unsigned int, void*);
typedef void (*ended)(qemu_plugin_id_t, void*);
extern void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, translated);
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb*, executed, int, void*);
extern void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn*, int, void*,
                                                       uint64_t);
extern void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, ended, void*);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb*);
extern struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb*, size_t);
extern uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn*);
extern size_t qemu_plugin_insn_size(const struct qemu_plugin_insn*);
extern const void* qemu_plugin_insn_data(const struct qemu_plugin_insn*);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

enum { DEEPEST = 4096 };

static uint64_t from, to, root, root_end, nth = 1;
static const char* out_name = "counts.txt";
static FILE* out;
static bool riscv;
static uint64_t *counts, *taken;
static uint64_t touched_from, touched_to;  // addresses whose counts may not be 0

struct block {
  uint64_t start, last, end;
  bool call;
};
static const struct block* previous;
static uint64_t returns[DEEPEST];  // where the calls that are under way go on
static int depth;
static int root_depth = -1;  // of the calls when the root began; -1: it is not under way
static uint64_t entered;     // times that the root began
static bool in_root;         // what is counted now is the root's own

static void write_counts(void) {
  uint64_t a;
  for (a = touched_from; a < touched_to; a += 2) {
    const uint64_t i = (a - from) >> 1;
    if (counts[i] != 0 && out != NULL)
      fprintf(out, "%llx %llx %llx\n", (unsigned long long)a, (unsigned long long)counts[i],
              (unsigned long long)taken[i]);
    counts[i] = taken[i] = 0;
  }
}

// With `label` unknown (0) what was counted is dropped.
static void close_segment(bool keep, bool self, uint64_t label) {
  FILE* kept = out;
  if (!keep) out = NULL;
  if (out != NULL) {
    if (self)
      fputs("self\n", out);
    else
      fprintf(out, "call %llx\n", (unsigned long long)label);
  }
  write_counts();
  out = kept;
}

static bool wanted(void) { return entered == nth; }

static uint64_t callee;

// Nothing more is asked for: the program may go on for ever.
static void finish(void) {
  fputs("end\n", out);
  fclose(out);
  _exit(0);
}

static void enter_root(void) {
  root_depth = depth;
  ++entered;
  close_segment(false, false, 0);
  in_root = true;
}

static void follow(const struct block* b) {
  int d;
  if (previous != NULL && previous->call && b->start != previous->end && depth < DEEPEST)
    returns[depth++] = previous->end;
  for (d = depth; d-- > 0;)
    if (returns[d] == b->start) {
      depth = d;
      break;
    }
  if (root_depth >= 0 && depth < root_depth) {
    close_segment(wanted(), in_root, callee);
    root_depth = -1;
    if (wanted()) finish();
  }
  if (root_depth < 0) {
    if (b->start == root) enter_root();
    return;
  }
  const bool own = depth == root_depth && b->start >= root && b->start < root_end;
  if (own != in_root) {
    close_segment(wanted(), in_root, callee);
    in_root = own;
    callee = b->start;
  }
}

static void on_block(unsigned int cpu, void* data) {
  const struct block* b = data;
  (void)cpu;
  if (previous != NULL && b->start != previous->end && previous->last >= from &&
      previous->last < to)
    ++taken[(previous->last - from) >> 1];
  if (root != 0) follow(b);
  previous = b;
}

static bool is_call(const unsigned char* bytes, size_t size) {
  const unsigned low = bytes[0] | (unsigned)bytes[1] << 8;
  const unsigned high = size == 4 ? bytes[2] | (unsigned)bytes[3] << 8 : 0;
  if (riscv) {
    if (size == 2)
      return (low & 0xe003u) == 0x2001u || ((low & 0xf07fu) == 0x9002u && (low & 0xf80u) != 0);
    return (low & 0xfffu) == 0xefu || (low & 0xfffu) == 0xe7u;
  }
  if (size == 2) return (low & 0xff80u) == 0x4780u;
  return (low & 0xf800u) == 0xf000u && (high & 0xd000u) == 0xd000u;
}

static void on_translated(qemu_plugin_id_t id, struct qemu_plugin_tb* tb) {
  const size_t n = qemu_plugin_tb_n_insns(tb);
  struct block* b = calloc(1, sizeof *b);
  size_t i;
  (void)id;
  if (b == NULL || n == 0) return;
  for (i = 0; i < n; ++i) {
    struct qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, i);
    const uint64_t at = qemu_plugin_insn_vaddr(insn);
    if (i == 0) b->start = at;
    b->last = at;
    b->end = at + qemu_plugin_insn_size(insn);
    if (i + 1 == n) b->call = is_call(qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn));
    if (at < from || at >= to) continue;
    if (at < touched_from) touched_from = at;
    if (at + 2 > touched_to) touched_to = at + 2;
    qemu_plugin_register_vcpu_insn_exec_inline(insn, 0, &counts[(at - from) >> 1], 1);
  }
  qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, 0, b);
}

// What runs at the end of a program under a root is not of a whole call.
static void on_end(qemu_plugin_id_t id, void* data) {
  (void)id;
  (void)data;
  if (root == 0) write_counts();
  fputs("end\n", out);
  fclose(out);
}

static void read_argument(const char* text) {
  struct {
    const char* name;
    uint64_t* to;
  } numbers[] = {
      {"from=", &from}, {"to=", &to}, {"root=", &root}, {"root_end=", &root_end}, {"nth=", &nth}};
  size_t i;
  if (strncmp(text, "out=", 4) == 0) out_name = strdup(text + 4);
  for (i = 0; i < sizeof numbers / sizeof numbers[0]; ++i)
    if (strncmp(text, numbers[i].name, strlen(numbers[i].name)) == 0)
      *numbers[i].to = strtoull(text + strlen(numbers[i].name), NULL, 16);
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id,
                                                               const qemu_info_t* info, int argc,
                                                               char** argv) {
  int i;
  for (i = 0; i < argc; ++i) read_argument(argv[i]);
  riscv = strncmp(info->target_name, "riscv", 5) == 0;
  touched_from = to;
  touched_to = from;
  counts = calloc((to - from) / 2 + 1, sizeof *counts);
  taken = calloc((to - from) / 2 + 1, sizeof *taken);
  out = fopen(out_name, "w");
  if (to <= from || counts == NULL || taken == NULL || out == NULL) return 1;
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
  qemu_plugin_register_atexit_cb(id, on_end, NULL);
  return 0;
}
