/* A stand-in: see ../../README.md. */
#pragma once
char *linenoise(const char *prompt);
void linenoiseFree(void *line);
void linenoiseSetDumbMode(int set);
