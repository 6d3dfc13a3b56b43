/* The console's commands, as typed.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "espbench_internal.h"

#include <string.h>

/* An option of a command and where its value goes: exactly one of these is set. */
typedef struct {
    const char *name;
    bool *flag;
    uint64_t *number; /* with k, M, G as factors of 1000 where `scaled` */
    const char **word;
    uint64_t most;
    bool scaled;
} option_t;

static int fail(const char *command, const char *problem, const char *what)
{
    espbench_log("%s: %s%s%s; `espbench help` has the commands", command, problem, what != NULL ? ": " : "",
                 what != NULL ? what : "");
    return 1;
}

/* Reads a number such as 10, 1.5M or 64k; true where it is one and at most `most`. */
static bool read_number(const char *text, bool scaled, uint64_t most, uint64_t *out)
{
    uint64_t value = 0, tenths = 1;
    bool digits = false, point = false;
    for (; (*text >= '0' && *text <= '9') || (scaled && *text == '.' && !point); text++) {
        if (*text == '.') {
            point = true;
            continue;
        }
        if (value > UINT64_MAX / 100 || tenths > 1000000) {
            return false;
        }
        value = value * 10 + (uint64_t)(*text - '0');
        tenths *= point ? 10 : 1;
        digits = true;
    }
    uint64_t factor = 1;
    if (scaled && *text != '\0') {
        factor = *text == 'k' || *text == 'K' ? 1000 : *text == 'm' || *text == 'M' ? 1000000 : *text == 'g' || *text == 'G' ? 1000000000 : 0;
        text++;
    }
    if (!digits || *text != '\0' || factor == 0 || value > UINT64_MAX / factor) {
        return false;
    }
    *out = value * factor / tenths;
    return *out <= most;
}

/* Reads all options of a command; 0, or 1 after saying what is wrong. */
static int parse(int argc, char **argv, const option_t *options, size_t count)
{
    for (int i = 1; i < argc; i++) {
        const option_t *option = NULL;
        for (size_t n = 0; n < count && option == NULL; n++) {
            option = strcmp(argv[i], options[n].name) == 0 ? &options[n] : NULL;
        }
        if (option == NULL) {
            return fail(argv[0], "unknown option", argv[i]);
        }
        if (option->flag != NULL) {
            *option->flag = true;
            continue;
        }
        if (++i >= argc) {
            return fail(argv[0], "a value is missing behind", option->name);
        }
        if (option->word != NULL) {
            *option->word = argv[i];
        } else if (!read_number(argv[i], option->scaled, option->most, option->number)) {
            return fail(argv[0], "no such value", argv[i]);
        }
    }
    return 0;
}

#define COUNT(options) (sizeof(options) / sizeof *(options))
#define FLAG(name, to) {name, to, NULL, NULL, 0, false}
#define NUMBER(name, to, most) {name, NULL, to, NULL, most, false}
#define SCALED(name, to, most) {name, NULL, to, NULL, most, true}
#define WORD(name, to) {name, NULL, NULL, to, 0, false}

/* Says what became of a start. */
static int started(const char *command, int id)
{
    return id < 0 ? fail(command, espbench_error(id), NULL) : 0;
}

static int udp_echo(int argc, char **argv)
{
    uint64_t port = ESPBENCH_ECHO_PORT, reply = ESPBENCH_ECHO_REPLY_PORT, longest = 1472;
    const option_t options[] = {NUMBER("-p", &port, 65535), NUMBER("-r", &reply, 65535), NUMBER("-l", &longest, 65507)};
    if (parse(argc, argv, options, COUNT(options)) != 0) {
        return 1;
    }
    espbench_udp_echo_config_t config = {(uint16_t)port, (uint16_t)reply, (uint16_t)longest};
    return started(argv[0], espbench_udp_echo_start(&config));
}

static int tcp(int argc, char **argv)
{
    uint64_t port = 0, length = 0;
    const option_t options[] = {NUMBER("-p", &port, 65535), SCALED("-l", &length, 65536)};
    if (parse(argc, argv, options, COUNT(options)) != 0) {
        return 1;
    }
    espbench_tcp_config_t config = {(uint16_t)port, (uint32_t)length};
    bool sink = strcmp(argv[0], "tcp-sink") == 0;
    return started(argv[0], sink ? espbench_tcp_sink_start(&config) : espbench_tcp_source_start(&config));
}

static int iperf(int argc, char **argv)
{
    bool server = false, udp = false, reverse = false, stop = false;
    const char *host = NULL;
    uint64_t port = 0, seconds = 0, bytes = 0, interval = 0, rate = 0, length = 0;
    const option_t options[] = {
        FLAG("-s", &server),          FLAG("-u", &udp),
        FLAG("-R", &reverse),         FLAG("-a", &stop),
        WORD("-c", &host),            NUMBER("-p", &port, 65535),
        NUMBER("-t", &seconds, 1000000), SCALED("-n", &bytes, 0x7FFFFFFF),
        NUMBER("-i", &interval, 1000000), SCALED("-b", &rate, UINT64_C(1000000000000)),
        SCALED("-l", &length, 65536),
    };
    if (parse(argc, argv, options, COUNT(options)) != 0) {
        return 1;
    }
    if (stop) {
        return started(argv[0], espbench_stop_named("iperf"));
    }
    if (server == (host != NULL)) {
        return fail(argv[0], "either -s or -c HOST is needed", NULL);
    }
    espbench_iperf_config_t config = {host, (uint16_t)port, udp, reverse, (uint32_t)seconds, bytes,
                                      (uint32_t)interval, rate, (uint32_t)length};
    int id = espbench_iperf_start(&config);
    if (server && !udp && id > 0) {
        /* One command serves both, as `espbench iperf -s` on a PC does. */
        config.udp = true;
        config.length = 0;
        id = espbench_iperf_start(&config);
    }
    return started(argv[0], id);
}

static int mqtt(int argc, char **argv)
{
    const char *topic = NULL;
    uint64_t count = 0, rate = 0, size = 0, qos = 0;
    bool text = false;
    const option_t options[] = {
        WORD("-t", &topic),            NUMBER("-n", &count, UINT32_MAX), NUMBER("-r", &rate, 100000),
        NUMBER("-s", &size, 4096), NUMBER("-q", &qos, 2),           FLAG("-x", &text),
    };
    if (parse(argc, argv, options, COUNT(options)) != 0) {
        return 1;
    }
    espbench_mqtt_config_t config = {NULL, NULL, topic, (uint32_t)count, (uint32_t)rate, (uint32_t)size, (uint8_t)qos, text};
    return started(argv[0], espbench_mqtt_start(&config));
}

static int help(void)
{
    static const char *const lines[] = {
        "udp-echo   [-p PORT] [-r REPLY_PORT] [-l LONGEST]   -r 0: to the sender's port",
        "tcp-sink   [-p PORT] [-l BYTES]",
        "tcp-source [-p PORT] [-l BYTES]",
        "iperf -s   [-u] [-p PORT] [-i SECONDS] [-l BYTES]   TCP and UDP; -u: UDP alone",
        "iperf -c HOST [-u] [-R] [-p PORT] [-t SECONDS] [-n BYTES] [-i SECONDS] [-b RATE] [-l BYTES]",
        "iperf -a                                            stops iperf's clients and servers",
        "mqtt-bench [-t TOPIC] [-n COUNT] [-r PER_SECOND] [-s BYTES] [-q QOS] [-x]   -x: as text",
        "espbench   [list | stop ID | stop all | help]",
    };
    for (size_t i = 0; i < COUNT(lines); i++) {
        espbench_log("%s", lines[i]);
    }
    return 0;
}

static int own(int argc, char **argv)
{
    if (argc == 1 || (argc == 2 && strcmp(argv[1], "list") == 0)) {
        espbench_list();
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "help") == 0) {
        return help();
    }
    uint64_t id = 0;
    if (argc == 3 && strcmp(argv[1], "stop") == 0) {
        if (strcmp(argv[2], "all") == 0) {
            return started(argv[0], espbench_stop_all());
        }
        if (read_number(argv[2], false, INT32_MAX, &id)) {
            return started(argv[0], espbench_stop((int)id));
        }
    }
    return fail(argv[0], "list, stop ID, stop all or help is needed", NULL);
}

int espbench_command(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } commands[] = {
        {"udp-echo", udp_echo}, {"tcp-sink", tcp},   {"tcp-source", tcp},
        {"iperf", iperf},       {"mqtt-bench", mqtt}, {"espbench", own},
    };
    if (argc < 1) {
        return 1;
    }
    for (size_t i = 0; i < COUNT(commands); i++) {
        if (strcmp(argv[0], commands[i].name) == 0) {
            return commands[i].run(argc, argv);
        }
    }
    return fail("espbench", "unknown command", argv[0]);
}
