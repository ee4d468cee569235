/* Primitives of data formats: JSON, digests, UUIDs. */
#include <time.h>
#include "vm/digest.h"
#include "vm/json.h"
#include "vm/prims/prim_support.h"

/* The value, or PRIM_FAIL for text that is no JSON. */
PRIM(prim_json_parse) {
    (void)count;
    if (!value_is_bytes(args[1])) return PRIM_FAIL;
    (void)process_charge(p, (uint32_t)(string_length(args[1]) / 64));
    return json_parse(p, &args[1], result);
}

/* The text, or nil if there is something in it that has to be converted first. */
PRIM(prim_json_write) {
    (void)count;
    Text t = text_for(p);
    JsonOutcome outcome = json_write(p->vm, &t, args[1], args[2] == V_TRUE);
    (void)process_charge(p, (uint32_t)(t.length / 64));
    if (outcome != JSON_FOREIGN) return text_to_string(p, &t, result);
    text_free(&t);
    return *result = V_NIL, PRIM_OK;
}

/* args[1]: 0 MD5, 1 SHA-256, 2 SHA-512. */
static bool digest_kind(Value v, DigestKind *kind) {
    if (!value_is_int(v) || value_to_int(v) < 0 || value_to_int(v) > DIGEST_SHA512) return false;
    *kind = (DigestKind)value_to_int(v);
    return true;
}

PRIM(prim_digest_plain) {
    (void)count;
    DigestKind kind;
    if (!digest_kind(args[1], &kind) || !value_is_bytes(args[2])) return PRIM_FAIL;
    size_t length;
    const char *bytes = string_bytes(args[2], &length);
    uint8_t out[DIGEST_MAX_BYTES];
    size_t size = digest_bytes(kind, bytes, length, out);
    (void)process_charge(p, (uint32_t)(length / 64));
    return string_new(p, (const char *)out, size, result);
}

PRIM(prim_digest_hmac) {
    (void)count;
    DigestKind kind;
    if (!digest_kind(args[1], &kind) || !value_is_bytes(args[2]) || !value_is_bytes(args[3]))
        return PRIM_FAIL;
    size_t length, key_length;
    const char *bytes = string_bytes(args[2], &length), *key = string_bytes(args[3], &key_length);
    uint8_t out[DIGEST_MAX_BYTES];
    size_t size = digest_hmac(kind, key, key_length, bytes, length, out);
    (void)process_charge(p, (uint32_t)(length / 64));
    return string_new(p, (const char *)out, size, result);
}

static PrimStatus uuid_text(Process *p, const uint8_t *uuid, Value *result) {
    char text[UUID_TEXT_LENGTH];
    uuid_print(uuid, text);
    return string_new(p, text, sizeof text, result);
}

PRIM(prim_uuid_make) {
    (void)count;
    uint64_t random[2] = {vm_random(p->vm), vm_random(p->vm)}, milliseconds;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    milliseconds = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    if (p->vm->seeded) milliseconds = (uint64_t)vm_now_us(p->vm) / 1000;
    uint8_t bytes[UUID_BYTES], uuid[UUID_BYTES];
    memcpy(bytes, random, sizeof bytes);
    uuid_make(args[1] == value_from_int(7) ? 7 : 4, milliseconds, bytes, uuid);
    return uuid_text(p, uuid, result);
}

static bool uuid_of(Value v, uint8_t uuid[UUID_BYTES]) {
    size_t length;
    if (!value_is_bytes(v)) return false;
    const char *text = string_bytes(v, &length);
    return uuid_parse(text, length, uuid);
}

/* The text in its canonical form, nil if it is no UUID. */
PRIM(prim_uuid_canonical) {
    (void)count;
    uint8_t uuid[UUID_BYTES];
    if (!uuid_of(args[1], uuid)) return *result = V_NIL, PRIM_OK;
    return uuid_text(p, uuid, result);
}

PRIM(prim_uuid_bytes) {
    (void)count;
    uint8_t uuid[UUID_BYTES];
    if (!uuid_of(args[1], uuid)) return *result = V_NIL, PRIM_OK;
    return string_new(p, (const char *)uuid, sizeof uuid, result);
}
