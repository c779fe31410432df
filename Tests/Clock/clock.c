// The wall clock of a process, moved by as many seconds as KITH_TEST_CLOCK says. Clocks that only go forward, and timers by
// them, are as they are: a machine whose clock is wrong counts its seconds right.

#define _GNU_SOURCE
#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t offset(void) {
    static _Atomic int known;
    static _Atomic time_t seconds;
    if (!known) {
        const char *text = getenv("KITH_TEST_CLOCK");
        seconds = text ? (time_t)atoll(text) : 0;
        known = 1;
    }
    return seconds;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    if (syscall(SYS_clock_gettime, clock, now) != 0) return -1;
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) now->tv_sec += offset();
    return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    (void)zone;
    struct timespec exact;
    if (clock_gettime(CLOCK_REALTIME, &exact) != 0) return -1;
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *result) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}

// Its deadline was made from the moved clock, and the kernel waits by the true one.
int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict deadline) {
    struct timespec moved = *deadline;
    moved.tv_sec -= offset();
    return sem_clockwait(semaphore, CLOCK_REALTIME, &moved);
}
