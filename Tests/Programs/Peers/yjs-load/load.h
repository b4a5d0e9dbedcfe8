#pragma once

#include <stdint.h>
#include <string.h>
#include <uv.h>

typedef enum { SHAKING_HANDS, SYNCING, SYNCED } stage;

typedef struct client {
    uv_tcp_t tcp;
    uv_connect_t connect;
    stage stage;
    /// The beginning of an incomplete frame.
    uint8_t *unfinished;
    size_t unfinished_count;
    // ---- Of a writer only.
    int is_writer;
    /// The id under which Yjs knows its items, together with a clock that numbers them.
    uint32_t id;
    /// Of the item in flight.
    uint64_t clock;
    uint64_t sent_at;
} client;

// ---- Websocket frames

enum { BINARY = 2, CLOSE = 8, PING = 9, PONG = 10 };
enum { WHOLE = 0x80, MASKED = 0x80 };

// ---- Messages of the sync protocol of Yjs

enum { MESSAGE_SYNC = 0 };
enum { SYNC_STEP_1 = 0, SYNC_STEP_2 = 1, SYNC_UPDATE = 2 };

// ---- Updates of Yjs, in the first version of their format

/// The type of a struct, in the low bits of its first byte.
enum { KIND_GC = 0, KIND_DELETED = 1, KIND_STRING = 4, KIND_ANY = 8, KIND_SKIP = 10 };
/// What follows, in the high bits of that byte.
enum { HAS_ORIGIN = 0x80, HAS_RIGHT_ORIGIN = 0x40, HAS_PARENT_KEY = 0x20, KIND_BITS = 0x1F };
enum { ANY_STRING = 119 };

typedef struct {
    uint8_t *start;
    uint8_t *at;
} writer;

static inline void put_byte(writer *w, uint8_t value) { *w->at++ = value; }

static inline void put_varint(writer *w, uint64_t value) {
    for (; value >= 0x80; value >>= 7) put_byte(w, (uint8_t)value | 0x80);
    put_byte(w, (uint8_t)value);
}

static inline void put_bytes(writer *w, const void *bytes, size_t count) {
    memcpy(w->at, bytes, count);
    w->at += count;
}

static inline void put_string(writer *w, const char *text) {
    put_varint(w, strlen(text));
    put_bytes(w, text, strlen(text));
}

typedef struct {
    uint8_t *at;
    uint8_t *end;
    /// Set permanently by the first read beyond the end, so that one check at the end suffices.
    int has_failed;
} reader;

static inline uint8_t get_byte(reader *r) {
    if (r->at < r->end) return *r->at++;
    r->has_failed = 1;
    return 0;
}

static inline uint64_t get_varint(reader *r) {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        uint8_t next = get_byte(r);
        value |= (uint64_t)(next & 0x7F) << shift;
        if (next < 0x80) return value;
    }
    r->has_failed = 1;
    return 0;
}

/// Skips a string or bytes. Returns their length.
static inline uint64_t skip_bytes(reader *r) {
    uint64_t count = get_varint(r);
    if (count > (uint64_t)(r->end - r->at)) {
        r->has_failed = 1;
        return 0;
    }
    r->at += count;
    return count;
}
