#include "CTOML.h"

// The errors are values, and nothing is written.
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

void *toml_open(const char *text, size_t length) {
    return new toml::parse_result(toml::parse(std::string_view(text, length)));
}

void toml_close(void *file) { delete static_cast<toml::parse_result *>(file); }

const void *toml_root(void *file) {
    auto &result = *static_cast<toml::parse_result *>(file);
    return result ? static_cast<const toml::node *>(&result.table()) : nullptr;
}

const char *toml_error(void *file, unsigned *line) {
    const auto &error = static_cast<toml::parse_result *>(file)->error();
    *line = error.source().begin.line;
    return error.description().data();
}

TOMLValue toml_value(const void *pointer) {
    const auto &node = *static_cast<const toml::node *>(pointer);
    TOMLValue value{};
    switch (node.type()) {
    case toml::node_type::string:
        value.kind = TOMLKindText;
        value.text = node.as_string()->get().data();
        value.length = node.as_string()->get().size();
        break;
    case toml::node_type::integer:
        value.kind = TOMLKindNumber;
        value.number = node.as_integer()->get();
        break;
    case toml::node_type::floating_point:
        value.kind = TOMLKindDecimal;
        value.decimal = node.as_floating_point()->get();
        break;
    case toml::node_type::boolean:
        value.kind = TOMLKindFlag;
        value.flag = node.as_boolean()->get();
        break;
    case toml::node_type::array: value.kind = TOMLKindList; break;
    case toml::node_type::table: value.kind = TOMLKindTable; break;
    default: value.kind = TOMLKindTime; break;
    }
    return value;
}

void toml_each(
    const void *pointer, void *context, void (*body)(void *context, const char *key, size_t length, const void *node)) {
    const auto &node = *static_cast<const toml::node *>(pointer);
    if (const auto *table = node.as_table()) {
        for (const auto &[key, value] : *table) { body(context, key.str().data(), key.str().size(), &value); }
    } else if (const auto *list = node.as_array()) {
        for (const auto &value : *list) { body(context, "", 0, &value); }
    }
}
