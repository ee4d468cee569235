/* Message digests and UUIDs, over nettle. Pure functions of bytes; any thread. */
#ifndef BT_VM_DIGEST_H
#define BT_VM_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIGEST_MAX_BYTES 64u
typedef enum { DIGEST_MD5, DIGEST_SHA256, DIGEST_SHA512 } DigestKind;
/* Answers the number of bytes written. */
size_t digest_bytes(DigestKind kind, const void *bytes, size_t length, uint8_t out[DIGEST_MAX_BYTES]);
/* HMAC with a key of any length; SHA-256 or SHA-512. */
size_t digest_hmac(DigestKind kind, const void *key, size_t key_length, const void *bytes, size_t length,
                   uint8_t out[DIGEST_MAX_BYTES]);

#define UUID_BYTES 16u
#define UUID_TEXT_LENGTH 36u
/* Version and variant bits set over random bytes; version 7 takes its first 48 bits from the milliseconds. */
void uuid_make(unsigned version, uint64_t milliseconds, const uint8_t random[UUID_BYTES],
               uint8_t out[UUID_BYTES]);
void uuid_print(const uint8_t uuid[UUID_BYTES], char out[UUID_TEXT_LENGTH]);
/* Exactly 8-4-4-4-12 hexadecimal digits of either case. */
bool uuid_parse(const char *text, size_t length, uint8_t out[UUID_BYTES]);

#endif
