/* The port to POSIX: threads, and the monotonic clock.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef ESP_PLATFORM
#include "espbench_internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct {
    void (*run)(void *);
    void *argument;
} start_t;

bool espbench_port_begin(void)
{
    return true;
}

void espbench_port_lock(void)
{
    pthread_mutex_lock(&lock);
}

void espbench_port_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

uint64_t espbench_port_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

void espbench_port_sleep_ms(uint32_t ms)
{
    struct timespec time = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&time, NULL);
}

static void *entry(void *argument)
{
    start_t start = *(start_t *)argument;
    free(argument);
    start.run(start.argument);
    return NULL;
}

bool espbench_port_task(const char *name, void (*run)(void *), void *argument)
{
    (void)name;
    start_t *start = malloc(sizeof *start);
    pthread_t thread;
    if (start == NULL) {
        return false;
    }
    *start = (start_t){run, argument};
    if (pthread_create(&thread, NULL, entry, start) != 0) {
        free(start);
        return false;
    }
    pthread_detach(thread);
    return true;
}
#endif
