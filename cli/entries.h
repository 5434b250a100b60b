/* entries.h - rollcall explain ID: entries of the catalogue of messages. */
#ifndef ROLLCALL_ENTRIES_H
#define ROLLCALL_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>

/* Prints the entries of some ids, each RC602, rc602 or 602; of an unknown one
 * it says the nearest ones. Returns the exit status. */
int entries_print(char *const *ids, size_t count, bool json);

/* All of them, one line an id. */
int entries_list(bool json);

#endif
