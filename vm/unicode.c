#include "vm/unicode.h"
#include "vm/text.h"

#include <string.h>
#include <utf8proc.h>

bool utf8_is_simple(const char *bytes, size_t length) {
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, 8);
        if (word & 0x8080808080808080u) return false;
        uint64_t cr = word ^ 0x0d0d0d0d0d0d0d0du; /* a CR becomes a zero byte */
        if ((cr - 0x0101010101010101u) & ~cr & 0x8080808080808080u) return false;
    }
    for (; i < length; i++) {
        if ((unsigned char)bytes[i] >= 0x80 || bytes[i] == '\r') return false;
    }
    return true;
}

/* Length of the valid sequence at s (1 to 4), 0 if there is none within `left` bytes. */
static unsigned sequence_length(const unsigned char *s, size_t left) {
    unsigned char c = s[0];
    if (c < 0x80) return 1;
    if (c < 0xc2 || c > 0xf4) return 0;
    unsigned n = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    if (left < n) return 0;
    for (unsigned i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80) return 0;
    }
    if (c == 0xe0 && s[1] < 0xa0) return 0; /* overlong */
    if (c == 0xed && s[1] > 0x9f) return 0; /* surrogate */
    if (c == 0xf0 && s[1] < 0x90) return 0; /* overlong */
    if (c == 0xf4 && s[1] > 0x8f) return 0; /* beyond U+10FFFF */
    return n;
}

bool utf8_is_valid(const char *bytes, size_t length, size_t *bad_offset) {
    const unsigned char *s = (const unsigned char *)bytes;
    size_t i = 0;
    while (i < length) {
        if (length - i >= 8) {
            uint64_t word;
            memcpy(&word, s + i, 8);
            if (!(word & 0x8080808080808080u)) {
                i += 8;
                continue;
            }
        }
        unsigned n = sequence_length(s + i, length - i);
        if (n == 0) {
            if (bad_offset) *bad_offset = i;
            return false;
        }
        i += n;
    }
    return true;
}

unsigned utf8_decode(const char *bytes, uint32_t *codepoint) {
    const unsigned char *s = (const unsigned char *)bytes;
    if (s[0] < 0x80) {
        *codepoint = s[0];
        return 1;
    }
    if (s[0] < 0xe0) {
        *codepoint = ((s[0] & 0x1fu) << 6) | (s[1] & 0x3fu);
        return 2;
    }
    if (s[0] < 0xf0) {
        *codepoint = ((s[0] & 0x0fu) << 12) | ((s[1] & 0x3fu) << 6) | (s[2] & 0x3fu);
        return 3;
    }
    *codepoint = ((s[0] & 0x07u) << 18) | ((s[1] & 0x3fu) << 12) | ((s[2] & 0x3fu) << 6) | (s[3] & 0x3fu);
    return 4;
}

unsigned utf8_encode(uint32_t codepoint, char *bytes) {
    if (codepoint < 0x80) {
        bytes[0] = (char)codepoint;
        return 1;
    }
    if (codepoint < 0x800) {
        bytes[0] = (char)(0xc0 | (codepoint >> 6));
        bytes[1] = (char)(0x80 | (codepoint & 0x3f));
        return 2;
    }
    if (codepoint < 0x10000) {
        bytes[0] = (char)(0xe0 | (codepoint >> 12));
        bytes[1] = (char)(0x80 | ((codepoint >> 6) & 0x3f));
        bytes[2] = (char)(0x80 | (codepoint & 0x3f));
        return 3;
    }
    bytes[0] = (char)(0xf0 | (codepoint >> 18));
    bytes[1] = (char)(0x80 | ((codepoint >> 12) & 0x3f));
    bytes[2] = (char)(0x80 | ((codepoint >> 6) & 0x3f));
    bytes[3] = (char)(0x80 | (codepoint & 0x3f));
    return 4;
}

bool unicode_is_scalar(int64_t codepoint) {
    return codepoint >= 0 && codepoint <= 0x10ffff && !(codepoint >= 0xd800 && codepoint <= 0xdfff);
}

size_t unicode_cluster_end(const char *bytes, size_t length, size_t offset) {
    if (offset >= length) return length;
    uint32_t previous;
    size_t at = offset + utf8_decode(bytes + offset, &previous);
    /* Two ASCII code points never join, but for CR LF. */
    utf8proc_int32_t state = 0;
    while (at < length) {
        uint32_t next;
        unsigned n = utf8_decode(bytes + at, &next);
        if (previous < 0x80 && next < 0x80) {
            if (!(previous == '\r' && next == '\n')) break;
        } else if (utf8proc_grapheme_break_stateful((utf8proc_int32_t)previous, (utf8proc_int32_t)next,
                                                    &state)) {
            break;
        }
        previous = next;
        at += n;
    }
    return at;
}

bool unicode_in_class(int64_t codepoint, UnicodeClass which) {
    if (!unicode_is_scalar(codepoint)) return false;
    utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)codepoint);
    switch (which) {
    case UNICODE_LETTER: return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
    case UNICODE_DIGIT: return category == UTF8PROC_CATEGORY_ND;
    case UNICODE_UPPER: return category == UTF8PROC_CATEGORY_LU;
    case UNICODE_LOWER: return category == UTF8PROC_CATEGORY_LL;
    case UNICODE_SPACE:
        return (codepoint >= 9 && codepoint <= 13) ||
               (category >= UTF8PROC_CATEGORY_ZS && category <= UTF8PROC_CATEGORY_ZP);
    }
    return false;
}

bool unicode_is_pattern_space(uint32_t c) {
    return (c >= 9 && c <= 13) || c == ' ' || c == 0x85 || c == 0x200e || c == 0x200f || c == 0x2028 ||
           c == 0x2029;
}

typedef struct {
    uint32_t from;
    UnicodeCase direction;
    uint32_t to[UNICODE_CASE_MAX];
} SpecialCase;

static const SpecialCase SPECIAL_CASES[] = {
#define SPECIAL_CASE(from, direction, a, b, c) {from, direction, {a, b, c}},
#include "vm/unicode_special.def"
#undef SPECIAL_CASE
};
#define SPECIAL_CASE_COUNT (sizeof SPECIAL_CASES / sizeof SPECIAL_CASES[0])

static const SpecialCase *special_case_find(uint32_t codepoint, UnicodeCase to) {
    size_t low = 0, high = SPECIAL_CASE_COUNT;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const SpecialCase *s = &SPECIAL_CASES[middle];
        if (s->direction == to && s->from == codepoint) return s;
        if (s->direction < to || (s->direction == to && s->from < codepoint)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

unsigned unicode_map_case(uint32_t codepoint, UnicodeCase to, uint32_t out[UNICODE_CASE_MAX]) {
    if (codepoint < 0x80) {
        uint32_t other = to == UNICODE_TO_UPPER ? 'a' : 'A';
        out[0] = codepoint - other < 26 ? codepoint ^ 0x20 : codepoint;
        return 1;
    }
    const SpecialCase *special = special_case_find(codepoint, to);
    if (special) {
        memcpy(out, special->to, sizeof special->to);
        return out[2] ? 3 : 2;
    }
    utf8proc_int32_t c = (utf8proc_int32_t)codepoint;
    out[0] = (uint32_t)(to == UNICODE_TO_UPPER ? utf8proc_toupper(c) : utf8proc_tolower(c));
    return 1;
}

void unicode_map_text(Text *t, const char *bytes, size_t length, UnicodeCase to) {
    size_t at = 0;
    while (at < length) {
        uint32_t codepoint, mapped[UNICODE_CASE_MAX];
        at += utf8_decode(bytes + at, &codepoint);
        unsigned count = unicode_map_case(codepoint, to, mapped);
        for (unsigned i = 0; i < count; i++) text_append_codepoint(t, mapped[i]);
    }
}
