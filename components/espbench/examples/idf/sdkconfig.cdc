# The console on the USB of an ESP32-S2 without a UART bridge:
#     idf.py -D "SDKCONFIG_DEFAULTS=sdkconfig.defaults;sdkconfig.cdc" set-target esp32s2 build
CONFIG_ESP_CONSOLE_USB_CDC=y
