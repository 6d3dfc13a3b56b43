/* A device made of this machine: commands on stdin, lines on stdout, as on a board's console. `sleep MS` and `quit`
 * are its own. With a broker named (HOST PORT) it publishes through libmosquitto.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "espbench.h"

#ifdef ESP_PLATFORM
#include "esp_console.h"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef WITH_MOSQUITTO
#include <mosquitto.h>

static int listener;

static int publish(void *client, const char *topic, const void *data, size_t length, int qos)
{
    return mosquitto_publish(client, NULL, topic, (int)length, data, qos, false) == MOSQ_ERR_SUCCESS ? 0 : -1;
}

static void received(struct mosquitto *client, void *context, const struct mosquitto_message *message)
{
    (void)client;
    (void)context;
    (void)espbench_mqtt_received(listener, message->payload, (size_t)message->payloadlen);
}

/* Connects to a broker; with a filter the device listens, too. */
static struct mosquitto *connect_broker(char **argv, const char *filter)
{
    mosquitto_lib_init();
    struct mosquitto *client = mosquitto_new(NULL, true, NULL);
    if (client == NULL) {
        exit(2);
    }
    mosquitto_message_callback_set(client, received);
    if (mosquitto_connect(client, argv[1], atoi(argv[2]), 60) != MOSQ_ERR_SUCCESS ||
        mosquitto_loop_start(client) != MOSQ_ERR_SUCCESS) {
        fprintf(stderr, "the broker cannot be reached\n");
        exit(2);
    }
    if (filter != NULL) {
        listener = espbench_mqtt_listen_start();
        printf("listening %d\n", listener);
        mosquitto_subscribe(client, NULL, filter, 0);
    }
    espbench_mqtt_set_client(publish, client);
    return client;
}
#endif

/* Carries out a typed line; on the port to FreeRTOS through its console, as a board does. */
static int carry_out(char *line)
{
    int status = 0;
    if (strncmp(line, "sleep ", 6) == 0) {
        usleep((useconds_t)atoi(line + 6) * 1000);
        return 0;
    }
#ifdef ESP_PLATFORM
    if (esp_console_run(line, &status) != ESP_OK) {
        status = 1;
    }
#else
    char *words[32];
    int count = 0;
    for (char *word = strtok(line, " \n"); word != NULL && count < 32; word = strtok(NULL, " \n")) {
        words[count++] = word;
    }
    status = count == 0 ? 0 : espbench_command(count, words);
#endif
    if (status != 0) {
        printf("status %d\n", status);
    }
    return status;
}

int main(int argc, char **argv)
{
    char line[256];
    setvbuf(stdout, NULL, _IOLBF, 0);
#ifdef ESP_PLATFORM
    if (espbench_console_register() != ESPBENCH_OK) {
        return 2;
    }
#endif
#ifdef WITH_MOSQUITTO
    struct mosquitto *client = argc >= 3 ? connect_broker(argv, argc >= 4 ? argv[3] : NULL) : NULL;
#else
    (void)argc;
    (void)argv;
#endif
    while (fgets(line, sizeof line, stdin) != NULL && strncmp(line, "quit", 4) != 0) {
        (void)carry_out(line);
    }
    int stopped = espbench_stop_all();
#ifdef WITH_MOSQUITTO
    if (client != NULL) {
        mosquitto_disconnect(client);
        mosquitto_loop_stop(client, false);
        mosquitto_destroy(client);
        mosquitto_lib_cleanup();
    }
#endif
    return stopped < 0 ? 1 : 0;
}
