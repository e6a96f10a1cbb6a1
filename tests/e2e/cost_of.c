/* Runs a command and prints what it cost: seconds of processor time and peak resident bytes. The
 * kernel counts a program's memory from before its exec, so whoever starts it must be small: a
 * script would measure its own interpreter. */
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval t) {
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv) {
    struct rusage usage;
    int status;
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
        execv(argv[1], argv + 1);
        perror(argv[1]);
        _exit(127);
    }
    if (wait4(child, &status, 0, &usage) != child || !WIFEXITED(status)) {
        fputs("cost_of: the command did not end by itself\n", stderr);
        return 1;
    }
    printf("%.6f %ld\n", seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss * 1024);
    return WEXITSTATUS(status);
}
