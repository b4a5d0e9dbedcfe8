// An empty table that replaces the data of Foundation's ICU: languages, time zones and calendars, 31 MB that hand does not use.
// ICU's own build without data has the same table. The linker substitutes it: --wrap=TABLE.
#include <stdint.h>

const struct {
    uint16_t headerSize;
    uint8_t magic[2];
    uint16_t infoSize, reservedWord;
    uint8_t isBigEndian, charsetFamily, sizeofUChar, reservedByte;
    uint8_t dataFormat[4], formatVersion[4], dataVersion[4];
    uint32_t padding[2];
    uint32_t count, end;
} TABLE __attribute__((aligned(16), weak)) = {
    .headerSize = 32, .magic = {0xDA, 0x27}, .infoSize = 20, .sizeofUChar = 2, .dataFormat = "CmnD", .formatVersion = {1},
};
