/* A stand-in: see ../README.md. */
#pragma once
#include "esp_event.h"

typedef struct {
    uint32_t addr;
} esp_ip4_addr_t;
typedef struct {
    struct {
        esp_ip4_addr_t ip, netmask, gw;
    } ip_info;
} ip_event_got_ip_t;
typedef struct esp_netif_obj esp_netif_t;
#define IPSTR "%d.%d.%d.%d"
#define IP2STR(ip) (int)((ip)->addr & 255), (int)((ip)->addr >> 8 & 255), (int)((ip)->addr >> 16 & 255), (int)((ip)->addr >> 24)
extern esp_event_base_t const IP_EVENT;
enum { IP_EVENT_STA_GOT_IP };
esp_err_t esp_netif_init(void);
esp_netif_t *esp_netif_create_default_wifi_sta(void);
esp_netif_t *esp_netif_create_default_wifi_ap(void);
