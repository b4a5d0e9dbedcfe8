#pragma once

#include <stdint.h>
#include <string.h>
#include <uv.h>

/// A piece of the log.
typedef struct segment {
    struct segment *next;
    int references;
    size_t used;
    char bytes[256 * 1024];
} segment;

typedef struct connection {
    uv_tcp_t tcp;
    uv_write_t write;
    int is_writing;
    int is_subscribed;
    uint64_t author;
    /// How much of the log it has been sent.
    segment *at;
    size_t offset;
    char *unfinished;
    size_t unfinished_count;
    struct connection *next;
    struct connection **link;
} connection;

/// The digest of an empty list (Protocol.md): clients compare it at the end of a test.
static const uint64_t EMPTY_LIST_DIGEST = 0;

// ---- Numbers as in Protocol.md.

typedef struct {
    char *start;
    char *at;
} writer;

static inline void put_byte(writer *w, uint8_t value) { *w->at++ = (char)value; }

static inline void put_varint(writer *w, uint64_t value) {
    for (; value >= 0x80; value >>= 7) put_byte(w, (uint8_t)value | 0x80);
    put_byte(w, (uint8_t)value);
}

static inline void put_word(writer *w, uint64_t value) {
    memcpy(w->at, &value, sizeof value);
    w->at += sizeof value;
}

/// No bounds, no deck, all kinds.
static inline void put_rules(writer *w) {
    put_varint(w, INT32_MAX);
    put_varint(w, 16 * 1024);
    put_byte(w, 15 << 4);
}

typedef struct {
    uint8_t *at;
    uint8_t *end;
} reader;

/// Whether a complete number is available.
static inline int try_varint(reader *r, uint64_t *value) {
    *value = 0;
    for (int shift = 0; r->at < r->end && shift < 64; shift += 7) {
        uint8_t next = *r->at++;
        *value |= (uint64_t)(next & 0x7F) << shift;
        if (next < 0x80) return 1;
    }
    return 0;
}

static inline uint64_t get_varint(reader *r) {
    uint64_t value;
    return try_varint(r, &value) ? value : 0;
}
