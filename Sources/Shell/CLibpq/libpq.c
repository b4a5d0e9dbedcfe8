#include "CLibpq.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

// libpq brings about twenty other libraries, for Kerberos, LDAP and others: 3 MB of memory in each process. Only a server
// with a shared store needs it, so it is loaded when that is used.

// Each function: result, name, parameters, arguments.
#define FUNCTIONS(X)                                                                                                     \
    X(PGconn *, PQconnectStartParams, (const char *const *names, const char *const *values, int expand),                 \
        (names, values, expand))                                                                                         \
    X(PostgresPollingStatusType, PQconnectPoll, (PGconn * connection), (connection))                                     \
    X(void, PQfinish, (PGconn * connection), (connection))                                                               \
    X(PQconninfoOption *, PQconninfoParse, (const char *text, char **complaint), (text, complaint))                      \
    X(void, PQconninfoFree, (PQconninfoOption * options), (options))                                                     \
    X(void, PQfreemem, (void *memory), (memory))                                                                         \
    X(ConnStatusType, PQstatus, (const PGconn *connection), (connection))                                                \
    X(PGTransactionStatusType, PQtransactionStatus, (const PGconn *connection), (connection))                            \
    X(const char *, PQparameterStatus, (const PGconn *connection, const char *name), (connection, name))                 \
    X(char *, PQerrorMessage, (const PGconn *connection), (connection))                                                  \
    X(int, PQsocket, (const PGconn *connection), (connection))                                                           \
    X(int, PQbackendPID, (const PGconn *connection), (connection))                                                       \
    X(PQnoticeReceiver, PQsetNoticeReceiver, (PGconn * connection, PQnoticeReceiver receiver, void *context),            \
        (connection, receiver, context))                                                                                 \
    X(int, PQsetnonblocking, (PGconn * connection, int on), (connection, on))                                            \
    X(int, PQenterPipelineMode, (PGconn * connection), (connection))                                                     \
    X(int, PQpipelineSync, (PGconn * connection), (connection))                                                          \
    X(int, PQsendPrepare,                                                                                                \
        (PGconn * connection, const char *name, const char *text, int count, const Oid *types),                          \
        (connection, name, text, count, types))                                                                          \
    X(int, PQsendQueryPrepared,                                                                                          \
        (PGconn * connection, const char *name, int count, const char *const *values, const int *lengths,                \
            const int *formats, int format),                                                                             \
        (connection, name, count, values, lengths, formats, format))                                                     \
    X(int, PQsendQueryParams,                                                                                            \
        (PGconn * connection, const char *text, int count, const Oid *types, const char *const *values,                  \
            const int *lengths, const int *formats, int format),                                                         \
        (connection, text, count, types, values, lengths, formats, format))                                              \
    X(int, PQflush, (PGconn * connection), (connection))                                                                 \
    X(int, PQisBusy, (PGconn * connection), (connection))                                                                \
    X(int, PQconsumeInput, (PGconn * connection), (connection))                                                          \
    X(PGnotify *, PQnotifies, (PGconn * connection), (connection))                                                       \
    X(PGresult *, PQgetResult, (PGconn * connection), (connection))                                                      \
    X(ExecStatusType, PQresultStatus, (const PGresult *result), (result))                                                \
    X(char *, PQresultErrorMessage, (const PGresult *result), (result))                                                  \
    X(char *, PQresultErrorField, (const PGresult *result, int field), (result, field))                                  \
    X(int, PQntuples, (const PGresult *result), (result))                                                                \
    X(char *, PQcmdTuples, (PGresult * result), (result))                                                                \
    X(int, PQgetisnull, (const PGresult *result, int row, int column), (result, row, column))                            \
    X(char *, PQgetvalue, (const PGresult *result, int row, int column), (result, row, column))                          \
    X(int, PQgetlength, (const PGresult *result, int row, int column), (result, row, column))                            \
    X(void, PQclear, (PGresult * result), (result))

static struct {
#define X(result, name, parameters, arguments) __typeof__(&name) name;
    FUNCTIONS(X)
#undef X
} library;

// The compiler compares each definition with the declaration in libpq's header.
#define X(result, name, parameters, arguments)                                                                           \
    result name parameters { return library.name arguments; }
FUNCTIONS(X)
#undef X

static const char *complaint;

static void load(void) {
    // The number of the binary interface. It has not changed since 2006; a new one would not fit the calls above.
    void *handle = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        // The text of dlerror is valid until the next error only.
        complaint = strdup(dlerror());
        return;
    }
#define X(result, name, parameters, arguments)                                                                           \
    library.name = (__typeof__(&name))dlsym(handle, #name);                                                              \
    if (!library.name) {                                                                                                 \
        complaint = "libpq.so.5 is older than version 14: " #name " is missing";                                         \
        return;                                                                                                          \
    }
    FUNCTIONS(X)
#undef X
}

const char *hand_pg_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return complaint;
}
