// An ESP32-family board as station of a router, with espbench's services and its commands on the serial line.
// An empty password is an open network, another one WPA2. The ESP8266's core has no BSD sockets: see ../rtos-sdk.
// SPDX-License-Identifier: MIT OR Apache-2.0
#include <WiFi.h>
#include <espbench.h>

static const char SSID[] = "espbench";
static const char PASSWORD[] = "";

static void carryOut(char *line) {
  char *words[32];
  int count = 0;
  for (char *word = strtok(line, " \r\n"); word != nullptr && count < 32; word = strtok(nullptr, " \r\n")) {
    words[count++] = word;
  }
  if (count > 0) {
    espbench_command(count, words);
  }
}

void setup() {
  Serial.begin(115200);
  espbench_set_log([](const char *text) { Serial.println(text); });
  WiFi.mode(WIFI_STA);
  WiFi.begin(SSID, PASSWORD[0] != '\0' ? PASSWORD : nullptr);
  while (WiFi.status() != WL_CONNECTED) {
    delay(500);
  }
  // Modem sleep, the default, adds up to a beacon interval to each round trip: WiFi.setSleep(false) ends it.
  Serial.println(WiFi.localIP());
  espbench_udp_echo_start(nullptr);
  espbench_tcp_sink_start(nullptr);
  espbench_iperf_start(nullptr);
}

void loop() {
  static char line[128];
  static size_t used = 0;
  while (Serial.available() > 0) {
    int byte = Serial.read();
    if (byte == '\n' || byte == '\r') {
      line[used] = '\0';
      used = 0;
      carryOut(line);
    } else if (used + 1 < sizeof line) {
      line[used++] = (char)byte;
    }
  }
  delay(10);
}
