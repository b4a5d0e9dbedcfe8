// The upper limit for a server that numbers frames and sends them to everybody: no list, no transform, no storage.
// It speaks as much of Protocol.md as the clients of a load test need, so that both servers get exactly the same load.
//
//   hand-fanout PORT
//
// Prints the port once it listens; 0 means any free port.
// Each frame is numbered, stored once in a shared log, and sent to each connection with one write per turn of the loop.

#include "fanout.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uv_loop_t *loop;
static connection *connections;
static segment *tail;
static uint64_t revision;
static uint64_t next_author = 1;
static char read_buffer[64 * 1024];

// ---- The log: segments, each kept while a connection or its predecessor references it.

static segment *segment_new(void) {
    segment *new = malloc(sizeof *new);
    new->next = NULL;
    new->references = 1;
    new->used = 0;
    return new;
}

static void segment_release(segment *old) {
    while (old && --old->references == 0) {
        segment *next = old->next;
        free(old);
        old = next;
    }
}

static char *log_reserve(size_t size) {
    if (tail->used + size > sizeof tail->bytes) {
        segment *new = segment_new();
        // One reference from `tail`, one from the predecessor.
        new->references = 2;
        tail->next = new;
        segment_release(tail);
        tail = new;
    }
    return tail->bytes + tail->used;
}

// ---- Output

static void connection_flush(connection *c);

static void on_written(uv_write_t *request, int status) {
    connection *c = request->data;
    c->is_writing = 0;
    if (status == 0) connection_flush(c);
}

/// Sends a connection what the log has for it, segment by segment, as much as the socket accepts.
static void connection_flush(connection *c) {
    while (!c->is_writing && c->is_subscribed && !uv_is_closing((uv_handle_t *)&c->tcp)) {
        if (c->offset == c->at->used) {
            if (!c->at->next) return;
            segment *next = c->at->next;
            next->references++;
            segment_release(c->at);
            c->at = next;
            c->offset = 0;
            continue;
        }
        uv_buf_t buffer = uv_buf_init(c->at->bytes + c->offset, c->at->used - c->offset);
        int sent = uv_try_write((uv_stream_t *)&c->tcp, &buffer, 1);
        if (sent > 0) c->offset += sent;
        if (sent == (int)buffer.len) continue;
        if (sent < 0 && sent != UV_EAGAIN) return;
        buffer = uv_buf_init(c->at->bytes + c->offset, c->at->used - c->offset);
        c->offset = c->at->used;
        c->is_writing = 1;
        c->write.data = c;
        uv_write(&c->write, (uv_stream_t *)&c->tcp, &buffer, 1, on_written);
    }
}

static void on_turn_end(uv_check_t *check) {
    (void)check;
    for (connection *c = connections; c; c = c->next) connection_flush(c);
}

/// Answers one client: a frame of its own, at once.
static void answer(connection *c, writer *w) {
    // In the middle of a broadcast, the answer would split a frame. A client that asks for so much may wait forever.
    if (c->is_writing) return;
    char frame[320];
    writer head = {frame, frame};
    put_varint(&head, w->at - w->start);
    memcpy(head.at, w->start, w->at - w->start);
    uv_buf_t buffer = uv_buf_init(frame, (head.at - frame) + (w->at - w->start));
    uv_try_write((uv_stream_t *)&c->tcp, &buffer, 1);
}

// ---- Messages

/// Numbers a submission and appends it to the log, as the commit that it becomes.
static void submit(connection *c, reader *r) {
    get_varint(r);  // list
    get_varint(r);  // base
    uint64_t sequence = get_varint(r);
    get_varint(r);  // how
    size_t delta = r->end - r->at;
    char head[96];
    writer w = {head, head};
    put_byte(&w, 4);
    put_varint(&w, 1);
    put_varint(&w, ++revision);
    put_varint(&w, c->author);
    put_varint(&w, sequence);
    put_varint(&w, 1);
    put_varint(&w, uv_now(loop) + 1700000000000);
    put_varint(&w, 1000);
    put_word(&w, EMPTY_LIST_DIGEST);
    size_t body = w.at - head + delta;
    char *start = log_reserve(body + 8);
    writer frame = {start, start};
    put_varint(&frame, body);
    memcpy(frame.at, head, w.at - head);
    frame.at += w.at - head;
    memcpy(frame.at, r->at, delta);
    tail->used += frame.at + delta - start;
}

static void subscribe(connection *c, writer *w, uint64_t request) {
    put_byte(w, 2);
    put_varint(w, request);
    put_varint(w, 1);
    put_word(w, 1);
    put_rules(w);
    put_varint(w, 0);
    put_byte(w, 0);
    put_byte(w, 0);
    put_varint(w, revision);
    put_word(w, EMPTY_LIST_DIGEST);
    answer(c, w);
    if (c->is_subscribed) return;
    c->is_subscribed = 1;
    c->at = tail;
    c->at->references++;
    c->offset = tail->used;
}

static void handle(connection *c, reader *r) {
    char bytes[256];
    writer w = {bytes, bytes};
    switch (*r->at++) {
    case 1:
        r->at += 4;     // HAND
        get_varint(r);  // lowest version
        put_byte(&w, 1);
        // Any version that the client wants.
        put_varint(&w, get_varint(r));
        put_varint(&w, 0);
        put_varint(&w, c->author);
        put_varint(&w, 45000);
        put_varint(&w, 8 << 20);
        put_varint(&w, 0);
        return answer(c, &w);
    case 2: return subscribe(c, &w, get_varint(r));
    case 4: return submit(c, r);
    case 6:
        put_byte(&w, 9);
        put_varint(&w, get_varint(r));
        return answer(c, &w);
    case 7:
        put_byte(&w, 10);
        put_varint(&w, get_varint(r));
        return answer(c, &w);
    case 11:
        put_byte(&w, 13);
        put_varint(&w, get_varint(r));
        put_varint(&w, revision);
        put_varint(&w, 0);
        put_word(&w, EMPTY_LIST_DIGEST);
        put_rules(&w);
        return answer(c, &w);
    }
}

// ---- Input

static void on_closed(uv_handle_t *handle) {
    connection *c = handle->data;
    free(c->unfinished);
    free(c);
}

static void connection_close(connection *c) {
    if (uv_is_closing((uv_handle_t *)&c->tcp)) return;
    *c->link = c->next;
    if (c->next) c->next->link = c->link;
    if (c->is_subscribed) segment_release(c->at);
    uv_close((uv_handle_t *)&c->tcp, on_closed);
}

/// Handles the complete frames at the front. Returns the number of bytes used.
static size_t take_frames(connection *c, char *bytes, size_t count) {
    size_t used = 0;
    while (used < count) {
        reader r = {(uint8_t *)bytes + used, (uint8_t *)bytes + count};
        uint64_t length;
        if (!try_varint(&r, &length) || (uint64_t)(r.end - r.at) < length) break;
        r.end = r.at + length;
        used = (char *)r.end - bytes;
        handle(c, &r);
    }
    return used;
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer) {
    connection *c = stream->data;
    if (count < 0) return connection_close(c);
    char *bytes = buffer->base;
    size_t total = count;
    if (c->unfinished_count > 0) {
        c->unfinished = realloc(c->unfinished, c->unfinished_count + count);
        memcpy(c->unfinished + c->unfinished_count, bytes, count);
        bytes = c->unfinished;
        total += c->unfinished_count;
    }
    size_t used = take_frames(c, bytes, total);
    size_t rest = total - used;
    if (rest > 0 && bytes != c->unfinished) c->unfinished = realloc(c->unfinished, rest);
    if (rest > 0) memmove(c->unfinished, bytes + used, rest);
    c->unfinished_count = rest;
}

static void on_allocate(uv_handle_t *handle, size_t size, uv_buf_t *buffer) {
    (void)handle, (void)size;
    *buffer = uv_buf_init(read_buffer, sizeof read_buffer);
}

static void on_connection(uv_stream_t *listener, int status) {
    if (status < 0) return;
    connection *c = calloc(1, sizeof *c);
    uv_tcp_init(loop, &c->tcp);
    c->tcp.data = c;
    c->author = next_author++;
    c->next = connections;
    c->link = &connections;
    if (c->next) c->next->link = &c->next;
    connections = c;
    if (uv_accept(listener, (uv_stream_t *)&c->tcp) < 0) return connection_close(c);
    uv_tcp_nodelay(&c->tcp, 1);
    uv_read_start((uv_stream_t *)&c->tcp, on_allocate, on_read);
}

int main(int count, char **arguments) {
    if (count != 2) {
        fprintf(stderr, "usage: hand-fanout PORT\n");
        return 2;
    }
    loop = uv_default_loop();
    tail = segment_new();
    uv_tcp_t listener;
    uv_tcp_init(loop, &listener);
    struct sockaddr_in address;
    uv_ip4_addr("127.0.0.1", atoi(arguments[1]), &address);
    if (uv_tcp_bind(&listener, (struct sockaddr *)&address, 0) < 0
        || uv_listen((uv_stream_t *)&listener, 4096, on_connection) < 0) {
        fprintf(stderr, "cannot listen on port %s\n", arguments[1]);
        return 1;
    }
    uv_check_t check;
    uv_check_init(loop, &check);
    uv_check_start(&check, on_turn_end);
    int size = sizeof address;
    uv_tcp_getsockname(&listener, (struct sockaddr *)&address, &size);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return uv_run(loop, UV_RUN_DEFAULT);
}
