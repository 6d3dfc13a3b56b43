/* What both ends of a flow count, print and wait for: numbers of datagrams, jitter, lines, an offered rate.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef ESPBENCH_METER_H
#define ESPBENCH_METER_H

#include "espbench_iperf_wire.h"

/* The numbers of what came. Those that are missing are lost until they come late. */
typedef struct {
    uint64_t next; /* above the highest that came */
    uint64_t first; /* where numbers begin */
    uint64_t seen; /* bit n: next - 1 - n came */
    uint64_t doubtful; /* a number far ahead, which the one behind it confirms */
    uint64_t received, lost, late, duplicates;
    bool begun;
} espbench_order_t;

typedef enum { ESPBENCH_AHEAD, ESPBENCH_LATE, ESPBENCH_DUPLICATE, ESPBENCH_DOUBTFUL } espbench_place_t;

/* Begins with the number that comes first, at `first` or above it. */
void espbench_order_begin(espbench_order_t *order, uint64_t first);
/* Takes a number; a doubtful one does not count until the next confirms it. */
espbench_place_t espbench_order_take(espbench_order_t *order, uint64_t number);

/* Jitter by RFC 3550, as iperf 2 has it: sixteenths of a microsecond. */
typedef struct {
    int64_t transit;
    uint64_t sixteenths;
    bool begun;
} espbench_jitter_t;

void espbench_jitter_take(espbench_jitter_t *jitter, const espbench_datagram_t *head, uint64_t now);

/* An offered rate: how many units are due. */
typedef struct {
    uint64_t start, rate, unit_bits, sent, skipped, most;
} espbench_pacer_t;

/* Begins a schedule of units at so many bit/s (0: always due). What came due during a stall of more than 100 ms is
 * not caught up: a flow of ticks of 10 ms keeps its rate, and nothing floods after a pause. */
void espbench_pacer_begin(espbench_pacer_t *pacer, uint64_t now, uint64_t rate, uint32_t unit);
/* Returns the units that are due; espbench_pacer_t.sent is the caller's to raise. */
uint64_t espbench_pacer_due(espbench_pacer_t *pacer, uint64_t now);
/* Returns the microseconds until the next unit is due. */
uint64_t espbench_pacer_wait(const espbench_pacer_t *pacer, uint64_t now);

/* One flow's figures and the lines that tell them. */
typedef struct {
    int id;
    bool udp, receiver;
    uint64_t start, last, interval; /* microseconds; interval 0: no lines but the total */
    uint64_t bytes, packets;
    espbench_order_t order;
    espbench_jitter_t jitter;
    uint64_t told_bytes, told_lost, told_received;
} espbench_meter_t;

void espbench_meter_begin(espbench_meter_t *meter, int id, bool udp, bool receiver, uint32_t seconds, uint64_t now);
/* Prints the lines of intervals that are over. */
void espbench_meter_poll(espbench_meter_t *meter, uint64_t now);
/* Prints the total. */
void espbench_meter_end(espbench_meter_t *meter, uint64_t now);
/* Prints the line of a UDP server's report. */
void espbench_meter_report(int id, const espbench_report_t *report);
/* Writes a line of iperf 2 into `out`: from and to in microseconds; the rest as they are. */
void espbench_meter_line(char *out, size_t size, int id, uint64_t from, uint64_t to, uint64_t bytes,
                         const espbench_report_t *loss);

#endif
