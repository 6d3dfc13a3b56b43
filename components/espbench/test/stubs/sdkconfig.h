/* A stand-in: see README.md. The variants come from the compiler's command line. */
#pragma once
#define CONFIG_ESPBENCH_SERVICES 8
#define CONFIG_ESPBENCH_STREAMS 4
#define CONFIG_ESPBENCH_TASK_STACK 4096
#define CONFIG_ESPBENCH_TASK_PRIORITY 5
#define CONFIG_ESP_CONSOLE_UART_NUM 0
#define CONFIG_EXAMPLE_SSID "espbench"
#ifndef CONFIG_EXAMPLE_PASSWORD
#define CONFIG_EXAMPLE_PASSWORD ""
#endif
#define CONFIG_EXAMPLE_CHANNEL 6
#define CONFIG_EXAMPLE_BROKER ""
