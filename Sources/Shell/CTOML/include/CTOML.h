#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum __attribute__((enum_extensibility(closed))) : uint8_t {
    TOMLKindText,
    TOMLKindNumber,
    TOMLKindDecimal,
    TOMLKindFlag,
    TOMLKindTime,
    TOMLKindList,
    TOMLKindTable,
} TOMLKind;

/// What toml++ has read. The text is not ended by a NUL, and lives as long as the file.
typedef struct {
    TOMLKind kind;
    int64_t number;
    double decimal;
    bool flag;
    const char *text;
    size_t length;
} TOMLValue;

/// Reads a file's text, which is UTF-8. Returns the file, for `toml_close`.
void *toml_open(const char *text, size_t length);
void toml_close(void *file);
/// Returns the file's table; NULL if the file has an error.
const void *toml_root(void *file);
/// Returns the file's error, and its line.
const char *toml_error(void *file, unsigned *line);

TOMLValue toml_value(const void *node);
/// Calls `body` for each value in a table, by its key, or in a list, without a key.
void toml_each(
    const void *node, void *context, void (*body)(void *context, const char *key, size_t length, const void *node));

#ifdef __cplusplus
}
#endif
