/* A stand-in: see ../README.md. */
#pragma once
#include "freertos/FreeRTOS.h"
#include <pthread.h>
#include <stdio.h>
#include <time.h>

typedef void (*TaskFunction_t)(void *);
typedef void *TaskHandle_t;

/* What a thread is started with. */
typedef struct {
    TaskFunction_t function;
    void *argument;
} stub_task_t;

static inline void *stub_task(void *argument)
{
    stub_task_t task = *(stub_task_t *)argument;
    free(argument);
    task.function(task.argument);
    abort(); /* a task of FreeRTOS must not return */
}

static inline BaseType_t xTaskCreate(TaskFunction_t function, const char *name, uint32_t stack, void *argument,
                                     UBaseType_t priority, TaskHandle_t *handle)
{
    (void)handle;
    if (getenv("STUB_TASKS") != NULL) {
        printf("task %s: stack %u, priority %u\n", name, (unsigned)stack, priority);
    }
    stub_task_t *task = malloc(sizeof *task);
    pthread_t thread;
    *task = (stub_task_t){function, argument};
    if (pthread_create(&thread, NULL, stub_task, task) != 0) {
        free(task);
        return 0;
    }
    pthread_detach(thread);
    return pdPASS;
}

static inline void vTaskPrioritySet(TaskHandle_t handle, UBaseType_t priority)
{
    (void)handle;
    (void)priority;
}

static inline void vTaskDelete(TaskHandle_t handle)
{
    (void)handle;
    pthread_exit(NULL);
}

/* Waits until so many ticks have begun, as FreeRTOS does: the first may be cut short. */
static inline void vTaskDelay(TickType_t ticks)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    ms = (ms / portTICK_PERIOD_MS + ticks) * portTICK_PERIOD_MS;
    struct timespec until = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}
