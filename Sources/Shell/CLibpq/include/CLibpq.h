#ifndef HAND_CLIBPQ_H
#define HAND_CLIBPQ_H

// libpq's header includes this one, whose functions are not hidden.
#include <stdio.h>

// The functions of libpq are defined in this module and call the library's. They are hidden, so that the library, which
// calls its own functions by these names, does not find them here.
#pragma GCC visibility push(hidden)

#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif

/// Loads libpq. No other function may be called before this one has succeeded.
///
/// Returns NULL, or why that failed: text that stays valid.
const char *hand_pg_load(void);

#pragma GCC visibility pop

// Swift does not see these macros.
static inline int hand_pg_sqlstate(void) { return PG_DIAG_SQLSTATE; }
static inline int hand_pg_message(void) { return PG_DIAG_MESSAGE_PRIMARY; }
static inline int hand_pg_detail(void) { return PG_DIAG_MESSAGE_DETAIL; }

#endif
