// A load for servers of Yjs documents over websockets, measured as `hand load` measures: writers that each keep one
// edit in flight, and readers that read everything. In C, so that the figures describe the server and not the load.
//
//   hand-yjs-load PORT PATH CLIENTS WRITERS SECONDS [--seen]
//
// Each edit appends a string to the root array `list`, after the writer's own previous one. It is acknowledged when the
// server's echo of it arrives; for servers without an echo, `--seen` uses its arrival at another client instead.
//
// Prints one line of JSON; times are in microseconds. Commits are acknowledged edits, deliveries are edits that reached
// any client, including the writer's own. Each run needs its own document: what an edit costs depends on its list.

#include "load.h"

#include <stdio.h>
#include <stdlib.h>

static uv_loop_t *loop;
static uv_timer_t timer;
static struct sockaddr_in address;
static const char *path;
static client *clients;
static int client_count;
static int writer_count;
static int synced_count;
static double seconds;
/// In place of the echo, with `--seen`: the client at which an edit must arrive.
static client *witness;
static uint8_t read_buffer[64 * 1024];

static int is_measuring;
static uint64_t started_at;
static uint64_t deliveries;
static uint64_t *latencies;
static size_t latency_count;
static size_t latency_capacity;

static void fail(const char *what) {
    fprintf(stderr, "hand-yjs-load: %s\n", what);
    exit(1);
}

static uint32_t random_number(void) {
    uint32_t value;
    if (uv_random(NULL, NULL, &value, sizeof value, 0, NULL) < 0) fail("no random numbers");
    return value;
}

// ---- Output

typedef struct {
    uv_write_t request;
    uint8_t bytes[];
} pending_write;

static void on_written(uv_write_t *request, int status) {
    if (status < 0) fail("a connection broke");
    free(request);
}

static void send_bytes(client *c, const uint8_t *bytes, size_t count) {
    uv_buf_t buffer = uv_buf_init((char *)bytes, count);
    int sent = uv_try_write((uv_stream_t *)&c->tcp, &buffer, 1);
    if (sent == (int)count) return;
    if (sent < 0 && sent != UV_EAGAIN) fail("a connection broke");
    if (sent < 0) sent = 0;
    // So few bytes are in flight that this is rare, so a copy is good enough.
    pending_write *pending = malloc(sizeof *pending + count - sent);
    memcpy(pending->bytes, bytes + sent, count - sent);
    buffer = uv_buf_init((char *)pending->bytes, count - sent);
    uv_write(&pending->request, (uv_stream_t *)&c->tcp, &buffer, 1, on_written);
}

/// None of our frames is longer than the shortest form of its length can express.
static void send_frame(client *c, uint8_t kind, const uint8_t *payload, size_t count) {
    // Servers must refuse frames without a mask. It need not be unpredictable here, but not zero either: unmasking is
    // part of what a server does.
    static uint32_t mask = 0x9E3779B9;
    mask = mask * 1664525 + 1013904223;
    uint8_t key[4];
    memcpy(key, &mask, sizeof key);
    uint8_t bytes[6 + 125];
    writer w = {bytes, bytes};
    put_byte(&w, WHOLE | kind);
    put_byte(&w, MASKED | (uint8_t)count);
    put_bytes(&w, key, sizeof key);
    for (size_t i = 0; i < count; i++) put_byte(&w, payload[i] ^ key[i % 4]);
    send_bytes(c, w.start, w.at - w.start);
}

static void send_sync(client *c, uint8_t step, const uint8_t *body, size_t count) {
    uint8_t bytes[125];
    writer w = {bytes, bytes};
    put_byte(&w, MESSAGE_SYNC);
    put_byte(&w, step);
    put_varint(&w, count);
    put_bytes(&w, body, count);
    send_frame(c, BINARY, w.start, w.at - w.start);
}

/// Sends the item of the writer's clock.
static void send_edit(client *c) {
    uint8_t bytes[100];
    writer w = {bytes, bytes};
    put_varint(&w, 1);  // writers in this update
    put_varint(&w, 1);  // items of this writer
    put_varint(&w, c->id);
    put_varint(&w, c->clock);
    if (c->clock == 0) {
        put_byte(&w, KIND_ANY);
        put_varint(&w, 1);  // the parent has a name: it is a root
        put_string(&w, "list");
    } else {
        // The parent is that of the origin, so it is left out.
        put_byte(&w, KIND_ANY | HAS_ORIGIN);
        put_varint(&w, c->id);
        put_varint(&w, c->clock - 1);
    }
    char text[24];
    snprintf(text, sizeof text, "item number %08u", (unsigned)(c->clock % 100000000));
    put_varint(&w, 1);  // values in this item
    put_byte(&w, ANY_STRING);
    put_string(&w, text);
    put_varint(&w, 0);  // deletions
    c->sent_at = uv_hrtime();
    send_sync(c, SYNC_UPDATE, w.start, w.at - w.start);
}

// ---- Measuring

static int compare_times(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static double percentile(double share) {
    return latencies[(size_t)(share * (double)(latency_count - 1))] / 1000.0;
}

static void on_end(uv_timer_t *handle) {
    (void)handle;
    double elapsed = (uv_hrtime() - started_at) / 1e9;
    if (latency_count == 0) fail("nothing was acknowledged; a server without echo needs --seen");
    qsort(latencies, latency_count, sizeof *latencies, compare_times);
    printf("{\"clients\":%d,\"writers\":%d,\"seconds\":%.3f,", client_count, writer_count, elapsed);
    printf("\"commitsPerSecond\":%.1f,\"deliveriesPerSecond\":%.1f,", latency_count / elapsed, deliveries / elapsed);
    printf("\"p50\":%.1f,\"p99\":%.1f}\n", percentile(0.5), percentile(0.99));
    exit(0);
}

static void on_late(uv_timer_t *handle) {
    (void)handle;
    fail("the clients took too long to connect");
}

static void start_measuring(void) {
    is_measuring = 1;
    started_at = uv_hrtime();
    uv_update_time(loop);
    uv_timer_start(&timer, on_end, (uint64_t)(seconds * 1000), 0);
    for (int i = 0; i < writer_count; i++) send_edit(&clients[i]);
}

static void acknowledge(client *c) {
    if (latency_count == latency_capacity) {
        latency_capacity = latency_capacity ? 2 * latency_capacity : 1 << 16;
        latencies = realloc(latencies, latency_capacity * sizeof *latencies);
    }
    latencies[latency_count++] = uv_hrtime() - c->sent_at;
    c->clock++;
    send_edit(c);
}

// ---- Updates

static int compare_ids(const void *a, const void *b) {
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/// The writers come first, sorted by their ids.
static client *find_writer(uint64_t id) {
    int low = 0, high = writer_count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (clients[middle].id < id) low = middle + 1;
        else high = middle;
    }
    return low < writer_count && clients[low].id == id ? &clients[low] : NULL;
}

/// Records the arrival of one writer's items: those numbered from `clock`.
static void arrived(client *at, uint64_t id, uint64_t clock, uint64_t count) {
    deliveries += count;
    if (witness && at != witness) return;
    client *c = witness ? find_writer(id) : at;
    if (!c || !c->is_writer || c->id != id) return;
    if (clock <= c->clock && c->clock < clock + count) acknowledge(c);
}

/// Skips one struct of an update. Returns how many clocks it takes.
static uint64_t skip_struct(reader *r) {
    uint8_t info = get_byte(r);
    uint8_t kind = info & KIND_BITS;
    if (kind == KIND_GC || kind == KIND_SKIP) return get_varint(r);
    if (info & HAS_ORIGIN) get_varint(r), get_varint(r);
    if (info & HAS_RIGHT_ORIGIN) get_varint(r), get_varint(r);
    if (!(info & (HAS_ORIGIN | HAS_RIGHT_ORIGIN))) {
        if (get_varint(r) == 1) skip_bytes(r);
        else get_varint(r), get_varint(r);
        if (info & HAS_PARENT_KEY) skip_bytes(r);
    }
    switch (kind) {
    case KIND_DELETED: return get_varint(r);
    // Counted in UTF-16 units, which are bytes in what this load writes.
    case KIND_STRING: return skip_bytes(r);
    case KIND_ANY: {
        uint64_t count = get_varint(r);
        for (uint64_t i = 0; i < count && !r->has_failed; i++) {
            if (get_byte(r) != ANY_STRING) r->has_failed = 1;
            skip_bytes(r);
        }
        return count;
    }
    }
    // Our loads make no others, and without its length the rest cannot be found.
    r->has_failed = 1;
    return 0;
}

/// Servers may send several updates as one, or encode one again: this relies only on which items of which writers it
/// has.
static void handle_update(client *c, reader *r) {
    uint64_t groups = get_varint(r);
    for (uint64_t i = 0; i < groups && !r->has_failed; i++) {
        uint64_t structs = get_varint(r);
        uint64_t id = get_varint(r);
        uint64_t clock = get_varint(r);
        uint64_t count = 0;
        for (uint64_t j = 0; j < structs && !r->has_failed; j++) count += skip_struct(r);
        if (!r->has_failed) arrived(c, id, clock, count);
    }
    if (r->has_failed) fail("the server sent an update that cannot be read");
}

// ---- Messages

static void open_client(client *c);

static void synced(client *c) {
    if (c->stage == SYNCED) return;
    c->stage = SYNCED;
    // One after another, so that no server's backlog of connections overflows.
    if (++synced_count < client_count) open_client(&clients[synced_count]);
    else start_measuring();
}

static void handle_message(client *c, reader *r) {
    static const uint8_t nothing_new[] = {0, 0};
    if (get_varint(r) != MESSAGE_SYNC) return;
    uint64_t step = get_varint(r);
    uint64_t length = get_varint(r);
    if (r->has_failed || length > (uint64_t)(r->end - r->at)) fail("the server sent a message that cannot be read");
    r->end = r->at + length;
    switch (step) {
    case SYNC_STEP_1: return send_sync(c, SYNC_STEP_2, nothing_new, sizeof nothing_new);
    case SYNC_STEP_2: return synced(c);
    case SYNC_UPDATE:
        if (is_measuring) handle_update(c, r);
        return;
    }
}

// ---- Input

static void handle_frame(client *c, uint8_t head, uint8_t *payload, size_t count) {
    // None of the compared servers splits such small messages.
    if (!(head & WHOLE)) fail("the server sent a message in parts");
    switch (head & 0x0F) {
    case BINARY: {
        reader r = {payload, payload + count, 0};
        return handle_message(c, &r);
    }
    case PING: return send_frame(c, PONG, payload, count < 125 ? count : 125);
    case CLOSE: fail("the server closed a connection");
    }
}

/// Handles the complete frames at the front. Returns the number of bytes used.
static size_t take_frames(client *c, uint8_t *bytes, size_t count) {
    size_t used = 0;
    for (;;) {
        uint8_t *at = bytes + used;
        size_t rest = count - used;
        if (rest < 2) return used;
        // The length is in the second byte, or in as many following bytes as that byte says.
        size_t head = at[1] == 126 ? 4 : at[1] == 127 ? 10 : 2;
        if (at[1] & MASKED) fail("the server sent a masked frame");
        if (rest < head) return used;
        uint64_t length = head == 2 ? at[1] : 0;
        for (size_t i = 2; i < head; i++) length = length << 8 | at[i];
        if (rest - head < length) return used;
        used += head + length;
        handle_frame(c, at[0], at + head, length);
    }
}

/// Reads the server's consent to speak websocket. Returns the number of bytes used. The server's hash of our key is not
/// checked: somebody has just started the server by hand.
static size_t take_handshake(client *c, const uint8_t *bytes, size_t count) {
    static const char consent[] = "HTTP/1.1 101";
    static const uint8_t nothing_known[] = {0};
    for (size_t end = 4; end <= count; end++) {
        if (memcmp(bytes + end - 4, "\r\n\r\n", 4) != 0) continue;
        if (end < sizeof consent || memcmp(bytes, consent, sizeof consent - 1) != 0) fail("no websocket server");
        c->stage = SYNCING;
        send_sync(c, SYNC_STEP_1, nothing_known, sizeof nothing_known);
        return end;
    }
    return 0;
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer) {
    client *c = stream->data;
    if (count < 0) fail("a connection broke");
    uint8_t *bytes = (uint8_t *)buffer->base;
    size_t total = count;
    if (c->unfinished_count > 0) {
        c->unfinished = realloc(c->unfinished, c->unfinished_count + count);
        memcpy(c->unfinished + c->unfinished_count, bytes, count);
        bytes = c->unfinished;
        total += c->unfinished_count;
    }
    size_t used = c->stage == SHAKING_HANDS ? take_handshake(c, bytes, total) : 0;
    if (c->stage != SHAKING_HANDS) used += take_frames(c, bytes + used, total - used);
    size_t rest = total - used;
    if (rest > 0 && bytes != c->unfinished) c->unfinished = realloc(c->unfinished, rest);
    if (rest > 0) memmove(c->unfinished, bytes + used, rest);
    c->unfinished_count = rest;
}

static void on_allocate(uv_handle_t *handle, size_t size, uv_buf_t *buffer) {
    (void)handle, (void)size;
    *buffer = uv_buf_init((char *)read_buffer, sizeof read_buffer);
}

static void on_connected(uv_connect_t *request, int status) {
    client *c = request->data;
    if (status < 0) fail("cannot connect");
    uv_tcp_nodelay(&c->tcp, 1);
    uv_read_start((uv_stream_t *)&c->tcp, on_allocate, on_read);
    char text[512];
    int count = snprintf(
        text, sizeof text,
        "GET /%s HTTP/1.1\r\n"
        "Host: 127.0.0.1:%d\r\n"
        "Upgrade: websocket\r\n"
        "Connection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        path, ntohs(address.sin_port));
    if (count >= (int)sizeof text) fail("the path is too long");
    send_bytes(c, (uint8_t *)text, count);
}

static void open_client(client *c) {
    uv_tcp_init(loop, &c->tcp);
    c->tcp.data = c;
    c->connect.data = c;
    if (uv_tcp_connect(&c->connect, &c->tcp, (struct sockaddr *)&address, on_connected) < 0) fail("cannot connect");
}

/// The writers come first, sorted, so that `find_writer` finds them.
static void make_writers(void) {
    uint32_t *ids = calloc(writer_count, sizeof *ids);
    for (int i = 0; i < writer_count; i++) ids[i] = random_number();
    qsort(ids, writer_count, sizeof *ids, compare_ids);
    for (int i = 0; i < writer_count; i++) {
        clients[i].is_writer = 1;
        clients[i].id = ids[i];
    }
    free(ids);
}

int main(int count, char **arguments) {
    int is_seen = count == 7 && strcmp(arguments[6], "--seen") == 0;
    if (count != 6 && !is_seen) {
        fprintf(stderr, "usage: hand-yjs-load PORT PATH CLIENTS WRITERS SECONDS [--seen]\n");
        return 2;
    }
    path = arguments[2] + (arguments[2][0] == '/');
    client_count = atoi(arguments[3]);
    writer_count = atoi(arguments[4]);
    seconds = atof(arguments[5]);
    if (writer_count < 1 || client_count < writer_count || seconds <= 0) fail("needs 1 <= WRITERS <= CLIENTS");
    if (is_seen && client_count == writer_count) fail("--seen requires at least one client that does not write");
    loop = uv_default_loop();
    uv_ip4_addr("127.0.0.1", atoi(arguments[1]), &address);
    clients = calloc(client_count, sizeof *clients);
    if (is_seen) witness = &clients[client_count - 1];
    make_writers();
    uv_timer_init(loop, &timer);
    uv_timer_start(&timer, on_late, 30000, 0);
    open_client(&clients[0]);
    return uv_run(loop, UV_RUN_DEFAULT);
}
