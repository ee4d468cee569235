/* Unicode by utf8proc (15.0) behind one header: UTF-8, grapheme clusters, categories, full case mapping. Pure
 * functions. */
#ifndef BT_VM_UNICODE_H
#define BT_VM_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Text Text;

/* True if the bytes are UTF-8 (no surrogates, no overlong forms, at most U+10FFFF). *bad_offset (may be NULL)
 * = first bad byte. */
bool utf8_is_valid(const char *bytes, size_t length, size_t *bad_offset);
/* True if all ASCII and no CR. */
bool utf8_is_simple(const char *bytes, size_t length);
/* Decodes one code point of valid UTF-8; answers its length in bytes. */
unsigned utf8_decode(const char *bytes, uint32_t *codepoint);
/* Writes 1 to 4 bytes; the code point must be a Unicode scalar value. */
unsigned utf8_encode(uint32_t codepoint, char *bytes);
bool unicode_is_scalar(int64_t codepoint);

/* Offset of the end of the cluster that starts at offset (valid UTF-8). */
size_t unicode_cluster_end(const char *bytes, size_t length, size_t offset);

typedef enum { UNICODE_LETTER, UNICODE_DIGIT, UNICODE_UPPER, UNICODE_LOWER, UNICODE_SPACE } UnicodeClass;
/* Categories L, Nd, Lu, Ll; space: Z or U+0009..000D. False out of range. */
bool unicode_in_class(int64_t codepoint, UnicodeClass which);
bool unicode_is_pattern_space(uint32_t codepoint);

/* Full mapping (one to many, no locale). Up to UNICODE_CASE_MAX code points; answers how many. */
#define UNICODE_CASE_MAX 3
typedef enum { UNICODE_TO_UPPER, UNICODE_TO_LOWER } UnicodeCase;
unsigned unicode_map_case(uint32_t codepoint, UnicodeCase to, uint32_t out[UNICODE_CASE_MAX]);
/* Appends the mapped text. */
void unicode_map_text(Text *t, const char *bytes, size_t length, UnicodeCase to);

#endif
