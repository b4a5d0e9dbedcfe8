#ifndef HAND_CSQLITE_SHIM_H
#define HAND_CSQLITE_SHIM_H

#include <sqlite3.h>

// Swift does not see this macro: the library copies a bound value before the call returns.
static inline sqlite3_destructor_type hand_sqlite_transient(void) { return SQLITE_TRANSIENT; }

#endif
