/* Tests of what needs no socket: wire formats, numbers, pace, lines, payloads, typed commands.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "espbench_internal.h"
#include "espbench_iperf_wire.h"
#include "espbench_meter.h"
#include "espbench_mqtt_payload.h"

#include <stdio.h>
#include <string.h>

static int failures;
static char logged[4096];

#define CHECK(condition)                                                     \
    do {                                                                     \
        if (!(condition)) {                                                  \
            printf("%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
            failures++;                                                      \
        }                                                                    \
    } while (0)

static void keep(const char *line)
{
    size_t used = strlen(logged);
    (void)snprintf(logged + used, sizeof logged - used, "%s\n", line);
}

/* Vectors of crates/proto/src/wire/iperf2/datagram.rs. */
static void datagrams(void)
{
    uint8_t data[20] = {0};
    espbench_datagram_t head;
    espbench_datagram_write(data, -3, 0x01020304, 5);
    static const uint8_t last[16] = {255, 255, 255, 253, 1, 2, 3, 4, 0, 0, 0, 5, 255, 255, 255, 255};
    CHECK(memcmp(data, last, sizeof last) == 0);
    CHECK(espbench_datagram_read(data, 16, true, &head) && head.id == -3 && head.seconds == 0x01020304 && head.micros == 5);
    CHECK(espbench_datagram_read(data, 16, false, &head) && head.id == -3);
    espbench_datagram_write(data, INT64_C(1) << 40, 0, 0);
    CHECK(espbench_datagram_read(data, 16, true, &head) && head.id == INT64_C(1) << 40);
    CHECK(espbench_datagram_read(data, 16, false, &head) && head.id == 0);
    espbench_put32(data + 16, 0x08000000);
    CHECK(espbench_datagram_read(data, 20, false, &head) && head.id == INT64_C(1) << 40);
    static const uint8_t esp[4] = {0, 0, 0, 7};
    CHECK(espbench_datagram_read(esp, 4, true, &head) && head.id == 7 && head.seconds == 0);
    CHECK(!espbench_datagram_read(esp, 3, true, &head));
}

static void requests(void)
{
    uint8_t data[ESPBENCH_CLIENT_HEADER];
    espbench_request_t in, out;
    memset(&in, 0, sizeof in);
    in.reverse = true;
    in.length = 1470;
    in.micros = 1500000;
    in.rate = UINT64_C(5000000000);
    espbench_request_write(data, sizeof data, true, &in);
    CHECK(espbench_get32(data) == (0x40000000u | 0x20000000u | 0x08000000u | 0x04000000u | 0x00010000u | 76u << 1));
    CHECK(espbench_request_read(data, sizeof data, &out) && out.reverse && out.length == 1470 && out.micros == 1500000);
    CHECK(out.rate == in.rate && out.refused == NULL && !out.wants_ack && out.bytes == 0);
    in = (espbench_request_t){.bytes = 12345};
    espbench_request_write(data, sizeof data, false, &in);
    CHECK(espbench_request_read(data, sizeof data, &out) && !out.reverse && out.bytes == 12345 && out.wants_ack);
    CHECK(espbench_request_length(espbench_get32(data)) == 60);
    CHECK(espbench_request_length(0) == 0 && espbench_request_length(0x80000000u) == 24);
    CHECK(espbench_request_length(0x40010000u | 2 << 1) == 0);
    CHECK(!espbench_request_read(data, 23, &out) && !espbench_request_read(data, 0, &out));
    espbench_put32(data, 0x00800000u);
    CHECK(espbench_request_read(data, 4, &out) && strcmp(out.refused, "--bounceback") == 0);
    /* -d of iperf 2.0: version 1, at once. */
    espbench_put32(data, 0x80000001u);
    CHECK(espbench_request_read(data, 24, &out) && strcmp(out.refused, "-d") == 0);
    CHECK(espbench_is_iperf3((const uint8_t *)"abcdefghijklmnopqrstuvwxyz0123456789", 37));
    CHECK(!espbench_is_iperf3((const uint8_t *)"abcdefghijklmnopqrstuvwxyz012345678", 36));
}

static void reports(void)
{
    uint8_t data[ESPBENCH_REPORT];
    espbench_report_t in = {UINT64_C(0x100000002), 10000042, UINT64_C(0x300000001), 2, UINT64_C(0x200000010), 1000017}, out;
    espbench_report_write(data, &in);
    static const uint8_t begins[12] = {0x88, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2};
    CHECK(memcmp(data + 16, begins, sizeof begins) == 0);
    CHECK(espbench_report_read(data, sizeof data, &out) && memcmp(&in, &out, sizeof in) == 0);
    CHECK(espbench_report_read(data, 56, &out) && out.lost == 1 && out.datagrams == 16);
    CHECK(!espbench_report_read(data, 55, &out));
    data[16] = 0x08;
    CHECK(!espbench_report_read(data, sizeof data, &out));
    static const uint8_t ack[28] = {0, 0, 0, 2, 0, 0, 0, 28, 0, 0, 0, 0, 0, 2, 0, 1, 0, 8, 0, 3};
    espbench_ack_write(data);
    CHECK(memcmp(data, ack, sizeof ack) == 0);
}

static void orders(void)
{
    espbench_order_t order;
    espbench_order_begin(&order, 1);
    CHECK(espbench_order_take(&order, 0) == ESPBENCH_AHEAD && order.lost == 0); /* ESP-IDF */
    espbench_order_begin(&order, 1);
    CHECK(espbench_order_take(&order, 1) == ESPBENCH_AHEAD);
    CHECK(espbench_order_take(&order, 4) == ESPBENCH_AHEAD && order.lost == 2);
    CHECK(espbench_order_take(&order, 3) == ESPBENCH_LATE && order.lost == 1 && order.late == 1);
    CHECK(espbench_order_take(&order, 3) == ESPBENCH_DUPLICATE && order.lost == 1 && order.duplicates == 1);
    CHECK(espbench_order_take(&order, 4) == ESPBENCH_DUPLICATE);
    CHECK(order.received == 5 && order.next == 5);
    /* One wild number is noise; two in a row are a jump. */
    CHECK(espbench_order_take(&order, 9000000) == ESPBENCH_DOUBTFUL && order.lost == 1);
    CHECK(espbench_order_take(&order, 5) == ESPBENCH_AHEAD && order.lost == 1);
    CHECK(espbench_order_take(&order, 9000000) == ESPBENCH_DOUBTFUL);
    CHECK(espbench_order_take(&order, 9000001) == ESPBENCH_AHEAD);
    CHECK(order.received == 8 && order.lost == 1 + 9000000 - 6 && order.next == 9000002);
    CHECK(espbench_order_take(&order, 9000000) == ESPBENCH_DUPLICATE);
    CHECK(espbench_order_take(&order, UINT64_MAX) == ESPBENCH_DOUBTFUL);
    espbench_order_begin(&order, 1);
    CHECK(espbench_order_take(&order, 3) == ESPBENCH_AHEAD && order.lost == 2); /* the first ones were lost */
}

/* A clock of 10 ms ticks keeps the rate to a datagram. */
static void paces(void)
{
    espbench_pacer_t pacer;
    espbench_pacer_begin(&pacer, 500, 10000000, 1250); /* 1000 a second */
    uint64_t sent = 0;
    for (uint64_t now = 500; now <= 10000500; now += 10000) {
        uint64_t due = espbench_pacer_due(&pacer, now);
        CHECK(due <= 11);
        pacer.sent += due;
        sent += due;
    }
    CHECK(sent == 10001 && pacer.skipped == 0);
    CHECK(espbench_pacer_wait(&pacer, 10000500) == 1000);
    /* A stall of a second is caught up for a tenth of one. */
    CHECK(espbench_pacer_due(&pacer, 11000500) == 101 && pacer.skipped == 899);
    espbench_pacer_begin(&pacer, 0, 0, 1250);
    CHECK(espbench_pacer_due(&pacer, 0) == UINT64_MAX && espbench_pacer_wait(&pacer, 0) == 0);
    espbench_pacer_begin(&pacer, 0, UINT64_C(1000000000000), 65536);
    CHECK(espbench_pacer_due(&pacer, 1000) == 1908);
    espbench_pacer_begin(&pacer, 0, 1, 65536);
    CHECK(espbench_pacer_due(&pacer, 0) == 1);
    pacer.sent = 1;
    CHECK(espbench_pacer_wait(&pacer, 0) == UINT64_C(524288000000));
}

static void jitters(void)
{
    /* By hand, as crates/proto has it: 160 us of change make 10 us, then 9.375 and 18.789. */
    static const uint64_t arrivals[] = {0, 1160, 2160, 3000};
    espbench_jitter_t jitter = {0, 0, false};
    for (uint32_t i = 0; i < 4; i++) {
        espbench_datagram_t head = {i, 1, i * 1000};
        espbench_jitter_take(&jitter, &head, arrivals[i]);
    }
    CHECK(jitter.sixteenths >> 4 == 18);
}

static void lines(void)
{
    char out[160];
    espbench_report_t loss = {0, 0, 3, 0, 90, 5};
    espbench_meter_line(out, sizeof out, 1, 0, 1000000, 131072, NULL);
    CHECK(strcmp(out, "[  1] 0.00-1.00 sec   128 KBytes  1.05 Mbits/sec") == 0);
    espbench_meter_line(out, sizeof out, 12, 1000000, 2500000, 1470, &loss);
    CHECK(strcmp(out, "[ 12] 1.00-2.50 sec  1.44 KBytes  7.84 Kbits/sec   0.005 ms    3/   90 (3.3%)") == 0);
    espbench_meter_line(out, sizeof out, 1, 0, 0, 0, NULL);
    CHECK(strcmp(out, "[  1] 0.00-0.00 sec  0.00 Bytes  0.00 bits/sec") == 0);
    loss = (espbench_report_t){0, 0, UINT64_MAX, 0, UINT64_MAX, UINT64_MAX};
    espbench_meter_line(out, sizeof out, 1, 0, UINT64_MAX, UINT64_MAX, &loss);
    CHECK(strstr(out, "(100%)") != NULL || strstr(out, "(99%)") != NULL);

    espbench_meter_t meter;
    logged[0] = '\0';
    espbench_meter_begin(&meter, 2, false, false, 1, 0);
    meter.bytes = 125000;
    espbench_meter_poll(&meter, 2000000);
    meter.bytes = 250000;
    espbench_meter_end(&meter, 2500000);
    CHECK(strcmp(logged, "[  2] 0.00-1.00 sec   122 KBytes  1.00 Mbits/sec\n"
                         "[  2] 1.00-2.00 sec  0.00 Bytes  0.00 bits/sec\n"
                         "[  2] 2.00-2.50 sec   122 KBytes  2.00 Mbits/sec\n"
                         "[  2] 0.00-2.50 sec   244 KBytes   800 Kbits/sec\n") == 0);
}

static void payloads(void)
{
    static const struct {
        const char *text;
        size_t length;
        bool known;
        uint64_t number;
    } cases[] = {
        {"Sample #10282", 13, true, 10282},
        {"10282", 5, true, 10282},
        {"{\"seq\":10282}\r\n", 15, true, 10282},
        {"esp32 sample 7", 15, true, 7},
        {"m\xc3\xa4rz 8 \xc2\xb0", 10, true, 8},
        {"18446744073709551615", 20, true, UINT64_MAX},
        {"18446744073709551616", 20, false, 0},
        {"Q", 1, false, 0},
        {"", 0, false, 0},
        {"\x01\xff" "7", 3, false, 0},
    };
    uint64_t number = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool known = espbench_payload_number((const uint8_t *)cases[i].text, cases[i].length, &number);
        CHECK(known == cases[i].known && (!known || number == cases[i].number));
    }
    uint8_t data[300];
    espbench_payload_write(data, sizeof data, 9, 1234567);
    CHECK(espbench_payload_number(data, sizeof data, &number) && number == 9);
    CHECK(espbench_get64(data + 8) == 1234567);
    data[299] ^= 1;
    CHECK(!espbench_payload_number(data, sizeof data, &number));
    char text[ESPBENCH_PAYLOAD_TEXT];
    CHECK(espbench_payload_text(text, UINT64_MAX) == 28 && strcmp(text, "Sample #18446744073709551615") == 0);
}

/* Carries a command out; answers its status. */
static int typed(const char *line)
{
    char copy[128], *words[16];
    int count = 0;
    logged[0] = '\0';
    (void)snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok(copy, " "); word != NULL && count < 16; word = strtok(NULL, " ")) {
        words[count++] = word;
    }
    return espbench_command(count, words);
}

static void commands(void)
{
    static const char *const wrong[] = {
        "udp-echo -p 65536", "udp-echo -p", "udp-echo -p -1", "udp-echo -x", "tcp-sink -l 65537", "iperf", "iperf -s -c h",
        "iperf -c h -l 10", "iperf -c h -b 1X", "iperf -c h -b .", "iperf -c h -n 99999999999", "mqtt-bench",
        "mqtt-bench -q 3", "mqtt-bench -s 15", "espbench stop 999", "espbench stop", "nothing", "iperf -c h -t 1.5",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        if (typed(wrong[i]) != 1 || logged[0] == '\0') {
            printf("`%s` was not refused with words\n", wrong[i]);
            failures++;
        }
    }
    CHECK(typed("espbench help") == 0 && strstr(logged, "iperf -c HOST") != NULL);
    CHECK(typed("espbench list") == 0 && typed("espbench stop all") == 0);
    CHECK(espbench_command(0, NULL) == 1);
    CHECK(espbench_stop(7) == ESPBENCH_ERR_ID && espbench_counters(7, NULL) == ESPBENCH_ERR_ARG);
    CHECK(strcmp(espbench_error(-99), "unknown error") == 0 && strcmp(espbench_error(1), "unknown error") == 0);
}

/* Fills the table: the ninth service is refused, and an ended one's place is taken. */
static void places(void)
{
    int ids[ESPBENCH_SERVICES];
    for (int i = 0; i < ESPBENCH_SERVICES; i++) {
        ids[i] = espbench_mqtt_listen_start();
        CHECK(ids[i] > 0 && espbench_running(ids[i]));
    }
    CHECK(espbench_mqtt_listen_start() == ESPBENCH_ERR_FULL);
    CHECK(espbench_mqtt_received(ids[0], "7", 1) == ESPBENCH_OK);
    CHECK(espbench_mqtt_received(ids[0], "9", 1) == ESPBENCH_OK);
    CHECK(espbench_mqtt_received(ids[0], "x", 1) == ESPBENCH_OK);
    espbench_counters_t counters;
    CHECK(espbench_counters(ids[0], &counters) == ESPBENCH_OK && counters.packets_in == 2);
    CHECK(counters.lost == 1 && counters.strays == 1);
    CHECK(espbench_stop(ids[0]) == ESPBENCH_OK && espbench_stop(ids[0]) == ESPBENCH_OK && !espbench_running(ids[0]));
    CHECK(espbench_mqtt_received(ids[0], "10", 2) == ESPBENCH_ERR_ID);
    CHECK(espbench_counters(ids[0], &counters) == ESPBENCH_OK && counters.lost == 1);
    int next = espbench_mqtt_listen_start();
    CHECK(next > ids[ESPBENCH_SERVICES - 1] && espbench_counters(ids[0], &counters) == ESPBENCH_ERR_ID);
    CHECK(espbench_stop_all() == ESPBENCH_OK);
}

int main(void)
{
    espbench_set_log(keep);
    datagrams();
    requests();
    reports();
    orders();
    paces();
    jitters();
    lines();
    payloads();
    commands();
    places();
    printf(failures == 0 ? "unit: all hold\n" : "unit: %d failed\n", failures);
    return failures != 0;
}
