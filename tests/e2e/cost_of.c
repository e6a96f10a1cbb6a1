/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a command and prints its peak resident bytes, less the
 * pages of files (the program's own code and libraries, which are clean and shared, and of which a
 * model touches more the more operators it has). The kernel counts a program's memory from before its
 * exec, so whoever starts it must be small: a script would measure its own interpreter. */
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* Bytes of the field in /proc/PID/status, 0 if it is not there. */
static long status_bytes(pid_t pid, const char *field) {
    char path[64], line[256];
    long kilobytes = 0;
    FILE *file;
    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    file = fopen(path, "r");
    if (!file) {
        return 0;
    }
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, field, strlen(field)) == 0) {
            sscanf(line + strlen(field), ": %ld", &kilobytes);
        }
    }
    fclose(file);
    return kilobytes * 1024;
}

int main(int argc, char **argv) {
    struct rusage usage;
    int status;
    long file_pages = 0;
    pid_t child;
    if (argc < 2) {
        fputs("usage: cost_of COMMAND...\n", stderr);
        return 2;
    }
    child = fork();
    if (child < 0) {
        perror("fork");
        return 1;
    }
    if (child == 0) {
        const int nowhere = open("/dev/null", O_WRONLY);
        if (nowhere >= 0) {
            dup2(nowhere, STDOUT_FILENO);
        }
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execv(argv[1], argv + 1);
        perror(argv[1]);
        _exit(127);
    }
    /* Stops once after exec and once before the end, when the memory is still there. */
    for (;;) {
        if (wait4(child, &status, 0, &usage) != child) {
            perror("wait4");
            return 1;
        }
        if (!WIFSTOPPED(status)) {
            break;
        }
        if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXIT << 8)) {
            file_pages = status_bytes(child, "RssFile");
        } else {
            ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)PTRACE_O_TRACEEXIT);
        }
        /* Signals that end the command are handed on. */
        ptrace(PTRACE_CONT, child, NULL,
               (void *)(long)(WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status)));
    }
    if (!WIFEXITED(status)) {
        fputs("cost_of: the command did not end by itself\n", stderr);
        return 1;
    }
    printf("%ld\n", usage.ru_maxrss * 1024 - file_pages);
    return WEXITSTATUS(status);
}
