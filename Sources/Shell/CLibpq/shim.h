#ifndef HAND_CLIBPQ_SHIM_H
#define HAND_CLIBPQ_SHIM_H

#include <libpq-fe.h>

// Swift does not see these macros.
static inline int hand_pg_sqlstate(void) { return PG_DIAG_SQLSTATE; }
static inline int hand_pg_message(void) { return PG_DIAG_MESSAGE_PRIMARY; }
static inline int hand_pg_detail(void) { return PG_DIAG_MESSAGE_DETAIL; }

#endif
