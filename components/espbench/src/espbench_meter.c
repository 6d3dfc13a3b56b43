/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "espbench_meter.h"

#include "espbench_internal.h"

#include <stdio.h>
#include <string.h>

/* A number this far ahead is taken for damage, unless the next one follows it. */
#define FAR 65536
/* Longest stall that is caught up. */
#define SLACK_US 100000

void espbench_order_begin(espbench_order_t *order, uint64_t first)
{
    memset(order, 0, sizeof *order);
    order->first = first;
    order->next = first;
    order->doubtful = UINT64_MAX;
}

espbench_place_t espbench_order_take(espbench_order_t *order, uint64_t number)
{
    if (!order->begun && number + 1 == order->first) {
        /* ESP-IDF numbers from 0, iperf 2.1.8 from 1. */
        order->next = order->first = number;
    }
    order->begun = true;
    if (number >= order->next) {
        uint64_t ahead = number - order->next;
        bool confirmed = order->doubtful != UINT64_MAX && number == order->doubtful + 1;
        if (ahead > FAR && !confirmed) {
            order->doubtful = number;
            return ESPBENCH_DOUBTFUL;
        }
        /* The one that was in doubt came, too. */
        uint64_t came = confirmed ? 2 : 1;
        order->lost += ahead + 1 - came;
        order->received += came;
        order->seen = ahead + 1 < 64 ? order->seen << (ahead + 1) : 0;
        order->seen |= confirmed ? 3 : 1;
        order->next = number + 1;
        order->doubtful = UINT64_MAX;
        return ESPBENCH_AHEAD;
    }
    order->received++;
    uint64_t back = order->next - 1 - number;
    /* Further back than is remembered it counts as late, as iperf 2 counts all of them. */
    if (number < order->first || (back < 64 && (order->seen >> back & 1) != 0) || order->lost == 0) {
        order->duplicates++;
        return ESPBENCH_DUPLICATE;
    }
    if (back < 64) {
        order->seen |= UINT64_C(1) << back;
    }
    order->late++;
    order->lost--;
    return ESPBENCH_LATE;
}

void espbench_jitter_take(espbench_jitter_t *jitter, const espbench_datagram_t *head, uint64_t now)
{
    if (head->seconds == 0 && head->micros == 0) {
        return; /* ESP-IDF writes no time */
    }
    /* The offset of the two clocks is in every transit time, and falls out of the difference. */
    int64_t transit = (int64_t)(now - ((uint64_t)head->seconds * 1000000 + head->micros));
    if (jitter->begun) {
        uint64_t step = transit > jitter->transit ? (uint64_t)transit - (uint64_t)jitter->transit
                                                  : (uint64_t)jitter->transit - (uint64_t)transit;
        step = step > (UINT64_C(1) << 38) ? UINT64_C(1) << 38 : step;
        jitter->sixteenths += step - ((jitter->sixteenths + 8) >> 4);
    }
    jitter->begun = true;
    jitter->transit = transit;
}

/* Returns units that `rate` makes in so many microseconds, without overflow. */
static uint64_t units(uint64_t rate, uint64_t unit_bits, uint64_t micros)
{
    uint64_t bits = rate / 1000000 * micros + rate % 1000000 * (micros / 1000000) +
                    rate % 1000000 * (micros % 1000000) / 1000000;
    return bits / unit_bits;
}

void espbench_pacer_begin(espbench_pacer_t *pacer, uint64_t now, uint64_t rate, uint32_t unit)
{
    memset(pacer, 0, sizeof *pacer);
    pacer->start = now;
    pacer->rate = rate;
    pacer->unit_bits = (uint64_t)(unit != 0 ? unit : 1) * 8;
    pacer->most = units(rate, pacer->unit_bits, SLACK_US) + 1;
}

uint64_t espbench_pacer_due(espbench_pacer_t *pacer, uint64_t now)
{
    if (pacer->rate == 0) {
        return UINT64_MAX;
    }
    uint64_t total = 1 + units(pacer->rate, pacer->unit_bits, now - pacer->start);
    uint64_t done = pacer->sent + pacer->skipped;
    uint64_t due = total > done ? total - done : 0;
    if (due > pacer->most) {
        pacer->skipped += due - pacer->most;
        due = pacer->most;
    }
    return due;
}

uint64_t espbench_pacer_wait(const espbench_pacer_t *pacer, uint64_t now)
{
    if (pacer->rate == 0) {
        return 0;
    }
    uint64_t bits = (pacer->sent + pacer->skipped) * pacer->unit_bits;
    uint64_t at = pacer->start + bits / pacer->rate * 1000000 + bits % pacer->rate * 1000000 / pacer->rate;
    return at > now ? at - now : 0;
}

/* Returns times * value / divisor, to the nearest, without overflow where times is 100 at most. */
static uint64_t rounded(uint64_t value, uint64_t divisor, unsigned times)
{
    return value / divisor * times + (value % divisor * times + divisor / 2) / divisor;
}

/* Writes three digits and a unit, as iperf 2 does: "1.25 MBytes". */
static void scaled(char *out, size_t size, uint64_t value, uint64_t base, const char *unit)
{
    static const char prefixes[] = " KMGT";
    uint64_t divisor = 1;
    size_t step = 0;
    while (step < 4 && value / divisor >= base) {
        divisor *= base;
        step++;
    }
    char prefix[2] = {step != 0 ? prefixes[step] : '\0', '\0'};
    unsigned long hundredths = (unsigned long)rounded(value, divisor, 100);
    unsigned long tenths = (unsigned long)rounded(value, divisor, 10);
    if (hundredths < 1000) {
        (void)snprintf(out, size, "%lu.%02lu %s%s", hundredths / 100, hundredths % 100, prefix, unit);
    } else if (tenths < 1000) {
        (void)snprintf(out, size, "%lu.%lu %s%s", tenths / 10, tenths % 10, prefix, unit);
    } else {
        (void)snprintf(out, size, "%4lu %s%s", (unsigned long)rounded(value, divisor, 1), prefix, unit);
    }
}

/* Writes a share of the whole in percent, with two digits that count. */
static void percent(char *out, size_t size, uint64_t part, uint64_t all)
{
    uint64_t hundredths = all == 0 ? 0 : part <= UINT64_MAX / 10000 ? part * 10000 / all : part / (all / 10000 + 1);
    if (part == 0) {
        (void)snprintf(out, size, "0%%");
    } else if (hundredths < 100) {
        (void)snprintf(out, size, "0.%02u%%", (unsigned)hundredths);
    } else if (hundredths < 1000) {
        (void)snprintf(out, size, "%u.%u%%", (unsigned)(hundredths / 100), (unsigned)(hundredths / 10 % 10));
    } else {
        (void)snprintf(out, size, "%u%%", (unsigned)(hundredths / 100));
    }
}

void espbench_meter_line(char *out, size_t size, int id, uint64_t from, uint64_t to, uint64_t bytes,
                         const espbench_report_t *loss)
{
    char amount[24], rate[24], lost[21], all[21], share[12];
    uint64_t took = to > from ? to - from : 1;
    uint64_t bits = bytes <= UINT64_MAX / 8000000 ? bytes * 8000000 / took : bytes / took * 8000000;
    scaled(amount, sizeof amount, bytes, 1024, "Bytes");
    scaled(rate, sizeof rate, bits, 1000, "bits/sec");
    int used = snprintf(out, size, "[%3d] %lu.%02u-%lu.%02u sec  %s  %s", id, (unsigned long)(from / 1000000),
                        (unsigned)(from / 10000 % 100), (unsigned long)(to / 1000000), (unsigned)(to / 10000 % 100),
                        amount, rate);
    if (loss != NULL && used > 0 && (size_t)used < size) {
        percent(share, sizeof share, loss->lost, loss->datagrams);
        (void)snprintf(out + used, size - (size_t)used, "  %2lu.%03u ms %4s/%5s (%s)",
                       (unsigned long)(loss->jitter_us / 1000), (unsigned)(loss->jitter_us % 1000),
                       espbench_decimal(loss->lost, lost), espbench_decimal(loss->datagrams, all), share);
    }
}

void espbench_meter_begin(espbench_meter_t *meter, int id, bool udp, bool receiver, uint32_t seconds, uint64_t now)
{
    memset(meter, 0, sizeof *meter);
    meter->id = id;
    meter->udp = udp;
    meter->receiver = receiver;
    meter->start = meter->last = now;
    meter->interval = (uint64_t)seconds * 1000000;
    espbench_order_begin(&meter->order, 1);
}

/* Prints what came since the last line. */
static void line(espbench_meter_t *meter, uint64_t to)
{
    char text[160];
    uint64_t lost = meter->order.lost > meter->told_lost ? meter->order.lost - meter->told_lost : 0;
    espbench_report_t loss = {0, 0, lost, 0, meter->order.received - meter->told_received + lost,
                              meter->jitter.sixteenths >> 4};
    espbench_meter_line(text, sizeof text, meter->id, meter->last - meter->start, to - meter->start,
                        meter->bytes - meter->told_bytes, meter->udp && meter->receiver ? &loss : NULL);
    espbench_log("%s", text);
    meter->told_bytes = meter->bytes;
    meter->told_lost = meter->order.lost;
    meter->told_received = meter->order.received;
    meter->last = to;
}

void espbench_meter_poll(espbench_meter_t *meter, uint64_t now)
{
    while (meter->interval != 0 && now >= meter->last + meter->interval) {
        line(meter, meter->last + meter->interval);
    }
}

void espbench_meter_end(espbench_meter_t *meter, uint64_t now)
{
    espbench_meter_poll(meter, now);
    /* A rest shorter than a tenth of an interval tells nothing. */
    if (meter->interval != 0 && meter->last != meter->start && now - meter->last > meter->interval / 10) {
        line(meter, now);
    }
    meter->last = meter->start;
    meter->told_bytes = meter->told_lost = meter->told_received = 0;
    line(meter, now);
}

void espbench_meter_report(int id, const espbench_report_t *report)
{
    char text[160];
    espbench_meter_line(text, sizeof text, id, 0, report->micros, report->bytes, report);
    espbench_log("[%3d] Server Report:", id);
    espbench_log("%s", text);
}
