/* Digests and UUIDs. See digest.h. */
#include "vm/digest.h"
#include <nettle/hmac.h>
#include <nettle/md5.h>
#include <nettle/sha2.h>
#include <string.h>
#include "vm/text.h"

size_t digest_bytes(DigestKind kind, const void *bytes, size_t length, uint8_t out[DIGEST_MAX_BYTES]) {
    struct md5_ctx md5;
    struct sha256_ctx sha256;
    struct sha512_ctx sha512;
    switch (kind) {
    case DIGEST_MD5:
        md5_init(&md5);
        md5_update(&md5, length, bytes);
        md5_digest(&md5, MD5_DIGEST_SIZE, out);
        return MD5_DIGEST_SIZE;
    case DIGEST_SHA256:
        sha256_init(&sha256);
        sha256_update(&sha256, length, bytes);
        sha256_digest(&sha256, SHA256_DIGEST_SIZE, out);
        return SHA256_DIGEST_SIZE;
    case DIGEST_SHA512: break;
    }
    sha512_init(&sha512);
    sha512_update(&sha512, length, bytes);
    sha512_digest(&sha512, SHA512_DIGEST_SIZE, out);
    return SHA512_DIGEST_SIZE;
}

size_t digest_hmac(DigestKind kind, const void *key, size_t key_length, const void *bytes, size_t length,
                   uint8_t out[DIGEST_MAX_BYTES]) {
    if (kind == DIGEST_SHA256) {
        struct hmac_sha256_ctx c;
        hmac_sha256_set_key(&c, key_length, key);
        hmac_sha256_update(&c, length, bytes);
        hmac_sha256_digest(&c, SHA256_DIGEST_SIZE, out);
        return SHA256_DIGEST_SIZE;
    }
    struct hmac_sha512_ctx c;
    hmac_sha512_set_key(&c, key_length, key);
    hmac_sha512_update(&c, length, bytes);
    hmac_sha512_digest(&c, SHA512_DIGEST_SIZE, out);
    return SHA512_DIGEST_SIZE;
}

/* ---- UUIDs ---- */

void uuid_make(unsigned version, uint64_t milliseconds, const uint8_t random[UUID_BYTES],
               uint8_t out[UUID_BYTES]) {
    memcpy(out, random, UUID_BYTES);
    if (version == 7)
        for (int i = 0; i < 6; i++) out[i] = (uint8_t)(milliseconds >> (40 - 8 * i));
    out[6] = (uint8_t)((out[6] & 0x0f) | version << 4);
    out[8] = (uint8_t)((out[8] & 0x3f) | 0x80);
}

static bool is_dash_position(size_t i) { return i == 8 || i == 13 || i == 18 || i == 23; }

void uuid_print(const uint8_t uuid[UUID_BYTES], char out[UUID_TEXT_LENGTH]) {
    static const char DIGITS[] = "0123456789abcdef";
    size_t byte = 0;
    for (size_t i = 0; i < UUID_TEXT_LENGTH; i++) {
        if (is_dash_position(i)) {
            out[i] = '-';
            continue;
        }
        out[i++] = DIGITS[uuid[byte] >> 4];
        out[i] = DIGITS[uuid[byte++] & 15];
    }
}

bool uuid_parse(const char *text, size_t length, uint8_t out[UUID_BYTES]) {
    if (length != UUID_TEXT_LENGTH) return false;
    size_t byte = 0;
    for (size_t i = 0; i < UUID_TEXT_LENGTH; i++) {
        if (is_dash_position(i)) {
            if (text[i] != '-') return false;
            continue;
        }
        int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);
        if (high < 0 || low < 0) return false;
        out[byte++] = (uint8_t)(high << 4 | low);
        i++;
    }
    return true;
}
