/* iperf 2 on the wire, as version 2.1.8 speaks it. All fields are big-endian.
 *
 *     UDP, client to server:   number, time (16) | client header (24 + 36) | pattern
 *     UDP, server to client:   zeros (16) | report (112)       after the last datagram, whose number is negative
 *     TCP, client to server:   client header (24 + 36) | pattern
 *     TCP, server to client:   acknowledgement (28)            where the header has its extension and no -R
 *
 * ESP-IDF's iperf speaks less: a number of 32 bits and zeros, no header, no last datagram, no report.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef ESPBENCH_IPERF_WIRE_H
#define ESPBENCH_IPERF_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ESPBENCH_DATAGRAM_HEADER 16
#define ESPBENCH_CLIENT_HEADER_V1 24
#define ESPBENCH_CLIENT_HEADER 60
#define ESPBENCH_CLIENT_HEADER_MAX 256
#define ESPBENCH_REPORT 128
#define ESPBENCH_ACK 28

/* The head of a datagram. */
typedef struct {
    int64_t id; /* negative in the last one */
    uint32_t seconds, micros;
} espbench_datagram_t;

/* What the client wants. */
typedef struct {
    bool reverse;    /* -R: the server sends */
    bool no_report;  /* the sender awaits none */
    bool wants_ack;  /* TCP: the server answers the header */
    const char *refused; /* the option that is not served here; NULL where all is */
    uint32_t length; /* -l; 0: the usual */
    uint64_t micros; /* -t; 0 where bytes count */
    uint64_t bytes;  /* -n */
    uint64_t rate;   /* bit/s; 0: as fast as it goes */
} espbench_request_t;

/* A UDP server's closing report. */
typedef struct {
    uint64_t bytes, micros, lost, out_of_order, datagrams, jitter_us;
} espbench_report_t;

/* Reads the head; `wide` where no client header tells that numbers have 64 bits (-R). False below 4 bytes. */
bool espbench_datagram_read(const uint8_t *data, size_t length, bool wide, espbench_datagram_t *out);
/* Writes the head into the first 16 bytes. */
void espbench_datagram_write(uint8_t *data, int64_t id, uint32_t seconds, uint32_t micros);

/* Returns the bytes of the client header whose first word this is: 0 where plain payload follows, also where the
 * length makes no sense. */
size_t espbench_request_length(uint32_t word);
/* Reads a client header; in a datagram it stands behind the head. False where it is none, or ends early. */
bool espbench_request_read(const uint8_t *data, size_t length, espbench_request_t *out);
/* Writes the header of a client, as much of it as fits. */
void espbench_request_write(uint8_t *data, size_t length, bool udp, const espbench_request_t *request);

/* Reads a report with its 16 bytes before it; false where it is none. */
bool espbench_report_read(const uint8_t *data, size_t length, espbench_report_t *out);
void espbench_report_write(uint8_t data[ESPBENCH_REPORT], const espbench_report_t *report);
/* Writes a TCP server's acknowledgement. */
void espbench_ack_write(uint8_t data[ESPBENCH_ACK]);
/* Tells whether a stream begins with the cookie of iperf 3, which is another protocol: 36 letters and digits, a zero. */
bool espbench_is_iperf3(const uint8_t *data, size_t length);
/* Tells whether the first bytes, 36 at most, are lower-case letters and digits. */
bool espbench_is_text(const uint8_t *data, size_t length);

/* Reads and writes numbers of 32 and 64 bits. */
uint32_t espbench_get32(const uint8_t *data);
uint64_t espbench_get64(const uint8_t *data);
void espbench_put32(uint8_t *data, uint32_t value);
void espbench_put64(uint8_t *data, uint64_t value);

#endif
