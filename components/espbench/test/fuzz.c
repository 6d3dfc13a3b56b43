/* Fuzzes what reads bytes of others: `fuzz CORPUS INPUTS [SEED]`. Parsers get INPUTS mutated inputs each, what takes many
 * steps a tenth of them; services run on a network and a clock made of chance (fuzz_world.c), a fiftieth as often. Deterministic by the seed. Sanitizers stop
 * at a fault; promises that hold for any input are checked. A target that never accepts, or never refuses, fails.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "fuzz_world.h"

#include "espbench_internal.h"
#include "espbench_iperf_wire.h"
#include "espbench_meter.h"
#include "espbench_mqtt_payload.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRIES 64

static uint8_t corpus[ENTRIES][LONGEST_INPUT];
static size_t lengths[ENTRIES], entries;

#define PROMISE(condition)                                                    \
    do {                                                                      \
        if (!(condition)) {                                                   \
            fprintf(stderr, "%s:%d: %s broken\n", __FILE__, __LINE__, #condition); \
            abort();                                                          \
        }                                                                     \
    } while (0)

static void read_corpus(const char *folder)
{
    struct dirent *entry;
    DIR *listing = opendir(folder);
    while (listing != NULL && (entry = readdir(listing)) != NULL && entries < ENTRIES) {
        char path[512];
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "rb");
        if (file != NULL) {
            lengths[entries] = fread(corpus[entries], 1, LONGEST_INPUT, file);
            entries++;
            fclose(file);
        }
    }
    if (listing != NULL) {
        closedir(listing);
    }
}

size_t make_input(uint8_t *out)
{
    size_t length;
    if (chance(8) == 0) {
        length = chance(LONGEST_INPUT);
        for (size_t i = 0; i < length; i++) {
            out[i] = (uint8_t)chance(256);
        }
    } else {
        size_t pick = chance((uint32_t)entries);
        length = lengths[pick];
        memcpy(out, corpus[pick], length);
    }
    for (uint32_t left = chance(6); left > 0; left--) {
        size_t at = length > 0 ? chance((uint32_t)length) : 0;
        switch (chance(6)) {
        case 0: /* one bit */
            out[at] = (uint8_t)(out[at] ^ 1u << chance(8));
            break;
        case 1: /* one byte */
            out[at] = (uint8_t)chance(256);
            break;
        case 2: /* an end */
            length = at;
            break;
        case 3: { /* a number at the edge of its range */
            static const uint32_t edges[] = {0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x00800000, 0x40010000, 0x80000001};
            if (at + 4 <= length) {
                espbench_put32(out + at, edges[chance(sizeof edges / sizeof *edges)]);
            }
            break;
        }
        case 4: { /* the rest of another entry */
            size_t other = chance((uint32_t)entries);
            if (at < lengths[other]) {
                memcpy(out + at, corpus[other] + at, lengths[other] - at);
                length = lengths[other];
            }
            break;
        }
        default: /* more of the same */
            if (length > 0 && length + 8 <= LONGEST_INPUT) {
                memset(out + length, out[at], 8);
                length += 8;
            }
            break;
        }
    }
    return length;
}

static bool datagram(const uint8_t *data, size_t length)
{
    espbench_datagram_t head, again;
    bool wide = chance(2) != 0;
    if (!espbench_datagram_read(data, length, wide, &head)) {
        return false;
    }
    uint8_t copy[ESPBENCH_DATAGRAM_HEADER];
    espbench_datagram_write(copy, head.id, head.seconds, head.micros);
    PROMISE(espbench_datagram_read(copy, sizeof copy, true, &again));
    PROMISE(again.id == head.id && again.seconds == head.seconds && again.micros == head.micros);
    return true;
}

static bool request(const uint8_t *data, size_t length)
{
    espbench_request_t asked, again;
    if (!espbench_request_read(data, length, &asked)) {
        return false;
    }
    PROMISE(espbench_request_length(espbench_get32(data)) <= ESPBENCH_CLIENT_HEADER_MAX);
    PROMISE(asked.micros == 0 || asked.bytes == 0);
    uint8_t copy[ESPBENCH_CLIENT_HEADER];
    bool udp = chance(2) != 0;
    espbench_request_write(copy, sizeof copy, udp, &asked);
    PROMISE(espbench_request_read(copy, sizeof copy, &again));
    PROMISE(again.reverse == asked.reverse && again.length == asked.length && again.bytes == asked.bytes);
    PROMISE(again.refused == NULL && again.micros / 10000 == (asked.bytes != 0 ? 0 : asked.micros > UINT64_C(21474836470000)
                                                                  ? 0x7FFFFFFF
                                                                  : asked.micros / 10000));
    return true;
}

static bool report(const uint8_t *data, size_t length)
{
    espbench_report_t told, again;
    uint8_t copy[ESPBENCH_REPORT];
    char line[160];
    if (!espbench_report_read(data, length, &told)) {
        return false;
    }
    espbench_meter_line(line, sizeof line, 1, 0, told.micros, told.bytes, &told);
    PROMISE(strlen(line) < 150 && strstr(line, "bits/sec") != NULL);
    espbench_report_write(copy, &told);
    PROMISE(espbench_report_read(copy, sizeof copy, &again));
    PROMISE(again.bytes == told.bytes && again.lost == told.lost && again.datagrams == told.datagrams);
    return true;
}

static bool payload(const uint8_t *data, size_t length)
{
    uint64_t number = 0, again = 0;
    char text[ESPBENCH_PAYLOAD_TEXT];
    if (!espbench_payload_number(data, length, &number)) {
        return false;
    }
    size_t count = espbench_payload_text(text, number);
    PROMISE(espbench_payload_number((const uint8_t *)text, count, &again) && again == number);
    return true;
}

static bool command(const uint8_t *data, size_t length)
{
    char line[LONGEST_INPUT + 1], *words[32];
    int count = 0;
    memcpy(line, data, length);
    line[length] = '\0';
    for (char *word = strtok(line, " "); word != NULL && count < 32; word = strtok(NULL, " ")) {
        words[count++] = word;
    }
    world_begin(NULL, 0);
    return espbench_command(count, words) == 0;
}

/* Takes numbers in any order; what is counted must add up. */
static bool order(const uint8_t *data, size_t length)
{
    espbench_order_t order;
    espbench_order_begin(&order, chance(3));
    uint64_t taken = 0, doubtful = 0;
    uint64_t base = chance(4) == 0 ? UINT64_MAX - 300 : 1;
    for (size_t i = 0; i < length; i++) {
        /* 2^64 - 1 cannot be numbered on, and does not come: numbers have 63 bits. */
        uint64_t number = (base + i + data[i] % 7 - 3) & INT64_MAX;
        number = chance(50) == 0 ? (uint64_t)chance(UINT32_MAX) << chance(32) & INT64_MAX : number;
        taken++;
        doubtful += espbench_order_take(&order, number) == ESPBENCH_DOUBTFUL;
        PROMISE(order.received <= taken && order.received + doubtful >= taken);
        PROMISE(order.received - order.duplicates + order.lost == order.next - order.first);
        PROMISE(order.late + order.duplicates <= order.received);
        PROMISE(order.next <= (uint64_t)INT64_MAX + 1 && order.lost <= order.next);
    }
    return order.lost > 0;
}

static bool pacer(const uint8_t *data, size_t length)
{
    if (length < 16) {
        return false;
    }
    espbench_pacer_t pacer;
    uint64_t now = espbench_get32(data) % 1000000, rate = espbench_get64(data) % UINT64_C(1000000000000);
    espbench_pacer_begin(&pacer, now, rate, espbench_get32(data + 12) % 65536);
    for (size_t i = 16; i < length; i++) {
        uint64_t due = espbench_pacer_due(&pacer, now);
        PROMISE(rate == 0 || due <= pacer.most);
        pacer.sent += due > 100 ? chance(100) : due;
        uint64_t wait = espbench_pacer_wait(&pacer, now);
        PROMISE(rate != 0 || wait == 0);
        now += data[i] * UINT64_C(1000);
    }
    return true;
}

/* Runs a service through one input: true where it took any payload. */
static bool service(const uint8_t *data, size_t length)
{
    static const char *const starts[] = {
        "iperf -s -u -i 1", "iperf -c h -u -t 3 -i 1", "iperf -c h -u -R -t 3 -i 1", "iperf -c h -t 3 -i 1",
        "iperf -c h -R -t 3", "mqtt-bench -n 20 -s 100", "tcp-sink", "tcp-source", "udp-echo -r 0", "iperf -s -i 1",
    };
    char line[64], *words[16];
    int count = 0;
    (void)snprintf(line, sizeof line, "%s", starts[chance(sizeof starts / sizeof *starts)]);
    for (char *word = strtok(line, " "); word != NULL; word = strtok(NULL, " ")) {
        words[count++] = word;
    }
    world_begin(data, length);
    PROMISE(espbench_command(count, words) == 0);
    return world_taken() > 0;
}

typedef struct {
    const char *name;
    bool (*run)(const uint8_t *data, size_t length);
    unsigned share; /* of INPUTS: one in so many */
} target_t;

static int publish(void *client, const char *topic, const void *data, size_t length, int qos)
{
    (void)client;
    PROMISE(topic[0] != '\0' && data != NULL && length >= 9 && qos <= 2);
    return chance(3) == 0 ? -1 : 0;
}

static void quiet(const char *line)
{
    PROMISE(strlen(line) < 200);
}

int main(int argc, char **argv)
{
    static const target_t targets[] = {
        {"datagram", datagram, 1}, {"request", request, 1}, {"report", report, 1}, {"payload", payload, 1},
        {"order", order, 10},      {"pacer", pacer, 10},    {"command", command, 20}, {"service", service, 50},
    };
    if (argc < 3) {
        fprintf(stderr, "fuzz CORPUS INPUTS [SEED]\n");
        return 2;
    }
    read_corpus(argv[1]);
    unsigned long inputs = strtoul(argv[2], NULL, 10);
    chance_begin(argc > 3 ? strtoul(argv[3], NULL, 10) : 1);
    if (entries == 0) {
        fprintf(stderr, "no corpus in %s\n", argv[1]);
        return 2;
    }
    espbench_set_log(quiet);
    espbench_mqtt_set_client(publish, NULL);
    int status = 0;
    for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
        unsigned long taken = 0, count = inputs / targets[t].share;
        for (unsigned long i = 0; i < count; i++) {
            /* On the heap and of its own length, so that the sanitizer sees a byte too many. */
            uint8_t made[LONGEST_INPUT];
            size_t length = make_input(made);
            uint8_t *data = malloc(length > 0 ? length : 1);
            memcpy(data, made, length);
            taken += targets[t].run(data, length);
            free(data);
        }
        printf("%-10s %9lu inputs, %9lu taken\n", targets[t].name, count, taken);
        if (taken == 0 || taken == count) {
            fprintf(stderr, "%s: all inputs went one way\n", targets[t].name);
            status = 1;
        }
    }
    return status;
}
