/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "espbench_iperf_wire.h"

#include <string.h>

/* Bits of the first word of a client header or a report. */
#define VERSION1 0x80000000u
#define EXTEND 0x40000000u
#define UDP_TESTS 0x20000000u
#define KEY_CHECK 0x10000000u
#define SEQNO_64 0x08000000u
#define VERSION2 0x04000000u
#define PEER_DETECT 0x02000000u
#define BOUNCEBACK 0x00800000u
#define LENGTH 0x00010000u
#define LENGTH_MASK 0x000001FEu

/* Bits of the extension's upper flags. */
#define ISOCHRONOUS 0x0001u
#define L2_LENGTH 0x0004u
#define NO_UDP_FIN 0x0008u
#define TRIP_TIMES 0x0010u
#define FQ_RATE 0x0200u
#define REVERSE 0x0400u
#define FULL_DUPLEX 0x0800u
#define EPOCH_START 0x1000u
#define PERIODIC_BURST 0x2000u

/* Offsets in a client header. */
#define AT_THREADS 4
#define AT_LENGTH 12
#define AT_AMOUNT 20
#define AT_UPPER 32
#define AT_VERSION 36
#define AT_RATE 48

/* Offsets in a report, from its own start. */
#define AT_BYTES 4
#define AT_STOP 12
#define AT_LOST 20
#define AT_OUT_OF_ORDER 24
#define AT_DATAGRAMS 28
#define AT_JITTER 32
#define REPORT_V1 40
#define AT_HIGH_HALVES 100
#define REPORT_END 112

/* The version that is told: 2.1.8. */
#define MAJOR 0x00020001u
#define MINOR 0x00080003u
/* What 2.1.8 takes for "as fast as it goes" over UDP. */
#define UNLIMITED UINT64_C(100000000000)

uint32_t espbench_get32(const uint8_t *data)
{
    return (uint32_t)data[0] << 24 | (uint32_t)data[1] << 16 | (uint32_t)data[2] << 8 | data[3];
}

uint64_t espbench_get64(const uint8_t *data)
{
    return (uint64_t)espbench_get32(data) << 32 | espbench_get32(data + 4);
}

void espbench_put32(uint8_t *data, uint32_t value)
{
    data[0] = (uint8_t)(value >> 24);
    data[1] = (uint8_t)(value >> 16);
    data[2] = (uint8_t)(value >> 8);
    data[3] = (uint8_t)value;
}

void espbench_put64(uint8_t *data, uint64_t value)
{
    espbench_put32(data, (uint32_t)(value >> 32));
    espbench_put32(data + 4, (uint32_t)value);
}

/* Returns the word at an offset, and 0 behind the end. */
static uint32_t word(const uint8_t *data, size_t length, size_t at)
{
    return at + 4 <= length ? espbench_get32(data + at) : 0;
}

bool espbench_datagram_read(const uint8_t *data, size_t length, bool wide, espbench_datagram_t *out)
{
    if (length < 4) {
        return false;
    }
    uint32_t low = espbench_get32(data);
    wide = wide || (word(data, length, ESPBENCH_DATAGRAM_HEADER) & SEQNO_64) != 0;
    if (wide && length >= ESPBENCH_DATAGRAM_HEADER) {
        out->id = (int64_t)((uint64_t)word(data, length, 12) << 32 | low);
    } else {
        out->id = (int32_t)low;
    }
    out->seconds = word(data, length, 4);
    out->micros = word(data, length, 8);
    return true;
}

void espbench_datagram_write(uint8_t *data, int64_t id, uint32_t seconds, uint32_t micros)
{
    espbench_put32(data, (uint32_t)(uint64_t)id);
    espbench_put32(data + 4, seconds);
    espbench_put32(data + 8, micros);
    espbench_put32(data + 12, (uint32_t)((uint64_t)id >> 32));
}

size_t espbench_request_length(uint32_t bits)
{
    if ((bits & BOUNCEBACK) != 0) {
        return 4;
    }
    if ((bits & (VERSION1 | VERSION2 | EXTEND)) == 0) {
        return 0;
    }
    size_t length = ESPBENCH_CLIENT_HEADER_V1;
    if ((bits & LENGTH) != 0) {
        length = (bits & LENGTH_MASK) >> 1;
    } else if ((bits & (VERSION2 | EXTEND)) != 0) {
        length = ESPBENCH_CLIENT_HEADER;
    }
    return length < ESPBENCH_CLIENT_HEADER_V1 || length > ESPBENCH_CLIENT_HEADER_MAX ? 0 : length;
}

/* Names what a header asks for and is not served here. */
static const char *refused(uint32_t bits, uint32_t upper)
{
    if ((bits & BOUNCEBACK) != 0) {
        return "--bounceback";
    }
    if ((bits & KEY_CHECK) != 0) {
        return "--permit-key";
    }
    if ((bits & VERSION2) != 0 && (upper & FULL_DUPLEX) != 0) {
        return "--full-duplex";
    }
    if ((bits & VERSION1) != 0 && (bits & VERSION2) == 0) {
        return (bits & 1) != 0 ? "-d" : "-r";
    }
    if ((upper & ISOCHRONOUS) != 0) {
        return "--isochronous";
    }
    if ((upper & PERIODIC_BURST) != 0) {
        return "--burst-period";
    }
    if ((upper & L2_LENGTH) != 0) {
        return "--l2checks";
    }
    /* A start time needs a clock that agrees with the client's, which a device seldom has. */
    if ((upper & TRIP_TIMES) != 0) {
        return "--trip-times";
    }
    if ((upper & EPOCH_START) != 0) {
        return "--txstart-time";
    }
    return (upper & FQ_RATE) != 0 && (upper & REVERSE) != 0 ? "--fq-rate with -R" : NULL;
}

bool espbench_request_read(const uint8_t *data, size_t length, espbench_request_t *out)
{
    memset(out, 0, sizeof *out);
    uint32_t bits = word(data, length, 0);
    size_t whole = espbench_request_length(bits);
    if (whole == 0 || length < (whole < ESPBENCH_CLIENT_HEADER_V1 ? whole : ESPBENCH_CLIENT_HEADER_V1)) {
        return false;
    }
    bool extended = (bits & EXTEND) != 0 && (bits & BOUNCEBACK) == 0;
    uint32_t upper = extended ? word(data, length, AT_UPPER) >> 16 : 0;
    int32_t amount = (int32_t)word(data, length, AT_AMOUNT);
    out->reverse = (bits & VERSION2) != 0 && (upper & REVERSE) != 0;
    out->no_report = (upper & NO_UDP_FIN) != 0;
    out->wants_ack = (bits & PEER_DETECT) != 0 || (extended && (bits & VERSION2) == 0);
    out->refused = refused(bits, upper);
    out->length = word(data, length, AT_LENGTH);
    /* Time is told as hundredths of a second below zero. */
    if (amount < 0) {
        out->micros = (uint64_t)(-(int64_t)amount) * 10000;
    } else {
        out->bytes = (uint64_t)amount;
    }
    if (extended) {
        /* The high half is shifted by eight bits: 24 bits of it are used. */
        out->rate = (uint64_t)(word(data, length, AT_RATE + 4) >> 8) << 32 | word(data, length, AT_RATE);
    }
    return true;
}

void espbench_request_write(uint8_t *data, size_t length, bool udp, const espbench_request_t *request)
{
    uint8_t whole[ESPBENCH_CLIENT_HEADER];
    uint32_t told = ESPBENCH_CLIENT_HEADER + (udp ? ESPBENCH_DATAGRAM_HEADER : 0);
    uint32_t bits = EXTEND | LENGTH | told << 1 | (udp ? SEQNO_64 : 0);
    uint32_t upper = 0;
    if (request->reverse) {
        bits |= VERSION2 | (udp ? UDP_TESTS : 0);
        upper = REVERSE;
    }
    uint64_t rate = request->rate == 0 && udp ? UNLIMITED : request->rate;
    uint64_t centis = request->micros / 10000;
    uint32_t amount = request->bytes != 0 ? (uint32_t)(request->bytes & 0x7FFFFFFF)
                                          : 0u - (uint32_t)(centis > 0x7FFFFFFF ? 0x7FFFFFFF : centis);
    memset(whole, 0, sizeof whole);
    espbench_put32(whole, bits);
    espbench_put32(whole + AT_THREADS, 1);
    espbench_put32(whole + AT_LENGTH, request->length);
    espbench_put32(whole + AT_AMOUNT, amount);
    espbench_put32(whole + AT_UPPER, upper << 16);
    espbench_put32(whole + AT_VERSION, MAJOR);
    espbench_put32(whole + AT_VERSION + 4, MINOR);
    espbench_put32(whole + AT_RATE, (uint32_t)rate);
    espbench_put32(whole + AT_RATE + 4, (uint32_t)(rate >> 32) << 8);
    memcpy(data, whole, length < sizeof whole ? length : sizeof whole);
}

bool espbench_report_read(const uint8_t *data, size_t length, espbench_report_t *out)
{
    if (length < ESPBENCH_DATAGRAM_HEADER + REPORT_V1) {
        return false;
    }
    const uint8_t *body = data + ESPBENCH_DATAGRAM_HEADER;
    length -= ESPBENCH_DATAGRAM_HEADER;
    uint32_t bits = espbench_get32(body);
    if ((bits & VERSION1) == 0) {
        return false;
    }
    bool wide = length >= REPORT_END && (bits & SEQNO_64) != 0;
    const uint8_t *high = body + AT_HIGH_HALVES;
    out->bytes = espbench_get64(body + AT_BYTES);
    out->micros = (uint64_t)espbench_get32(body + AT_STOP) * 1000000 + espbench_get32(body + AT_STOP + 4);
    out->lost = (wide ? (uint64_t)espbench_get32(high) << 32 : 0) | espbench_get32(body + AT_LOST);
    out->out_of_order = (wide ? (uint64_t)espbench_get32(high + 4) << 32 : 0) | espbench_get32(body + AT_OUT_OF_ORDER);
    out->datagrams = (wide ? (uint64_t)espbench_get32(high + 8) << 32 : 0) | espbench_get32(body + AT_DATAGRAMS);
    out->jitter_us = (uint64_t)espbench_get32(body + AT_JITTER) * 1000000 + espbench_get32(body + AT_JITTER + 4);
    return true;
}

void espbench_report_write(uint8_t data[ESPBENCH_REPORT], const espbench_report_t *report)
{
    uint8_t *body = data + ESPBENCH_DATAGRAM_HEADER, *high = body + AT_HIGH_HALVES;
    memset(data, 0, ESPBENCH_REPORT);
    espbench_put32(body, VERSION1 | SEQNO_64);
    espbench_put64(body + AT_BYTES, report->bytes);
    espbench_put32(body + AT_STOP, (uint32_t)(report->micros / 1000000));
    espbench_put32(body + AT_STOP + 4, (uint32_t)(report->micros % 1000000));
    espbench_put32(body + AT_LOST, (uint32_t)report->lost);
    espbench_put32(body + AT_OUT_OF_ORDER, (uint32_t)report->out_of_order);
    espbench_put32(body + AT_DATAGRAMS, (uint32_t)report->datagrams);
    espbench_put32(body + AT_JITTER, (uint32_t)(report->jitter_us / 1000000));
    espbench_put32(body + AT_JITTER + 4, (uint32_t)(report->jitter_us % 1000000));
    espbench_put32(high, (uint32_t)(report->lost >> 32));
    espbench_put32(high + 4, (uint32_t)(report->out_of_order >> 32));
    espbench_put32(high + 8, (uint32_t)(report->datagrams >> 32));
}

void espbench_ack_write(uint8_t data[ESPBENCH_ACK])
{
    memset(data, 0, ESPBENCH_ACK);
    espbench_put32(data, 2); /* the type: acknowledgement of a client header */
    espbench_put32(data + 4, ESPBENCH_ACK);
    espbench_put32(data + 12, MAJOR);
    espbench_put32(data + 16, MINOR);
}

bool espbench_is_text(const uint8_t *data, size_t length)
{
    for (size_t i = 0; i < 36 && i < length; i++) {
        if (!((data[i] >= 'a' && data[i] <= 'z') || (data[i] >= '0' && data[i] <= '9'))) {
            return false;
        }
    }
    return length > 0;
}

bool espbench_is_iperf3(const uint8_t *data, size_t length)
{
    return length >= 37 && espbench_is_text(data, length) && data[36] == 0;
}
