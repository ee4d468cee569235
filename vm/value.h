/* Values: one 64-bit word each, tagged in the low bits.
 *
 *   ...............................................1   small integer (63 bits, signed)
 *   ............................................ 000   pointer to a heap object (object.h)
 *   ............................................ 010   special: bits 3-7 subtag, bits 8-63 payload
 *   ............................................ 100   immediate float (scaled and rotated double)
 *   ............................................ 110   process id: bits 3-31 slot, bits 32-63 generation
 *
 * Invariants: an integer that fits 63 bits is always immediate; a double that survives the rotation is always
 * immediate; so equal numbers of one class with immediate form are equal words. No function here allocates.
 */
#ifndef BT_VM_VALUE_H
#define BT_VM_VALUE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef uint64_t Value;

#define TAG_MASK 7u
#define TAG_PTR 0u
#define TAG_SPECIAL 2u
#define TAG_FLOAT 4u
#define TAG_PID 6u

/* Subtags of TAG_SPECIAL. A class object is its class id, a metaclass the id of its sole instance. */
enum { SUB_CONST = 0, SUB_SYMBOL = 1, SUB_CLASS = 2, SUB_META = 3 };

#define MAKE_SPECIAL(sub, payload) (((Value)(payload) << 8) | ((Value)(sub) << 3) | TAG_SPECIAL)

#define V_NIL MAKE_SPECIAL(SUB_CONST, 0)
#define V_FALSE MAKE_SPECIAL(SUB_CONST, 1)
#define V_TRUE MAKE_SPECIAL(SUB_CONST, 2)
#define V_EMPTY_LIST MAKE_SPECIAL(SUB_CONST, 3)
/* Never visible to a program: an absent class-variable home, an unset slot, a deleted entry. */
#define V_HOLE MAKE_SPECIAL(SUB_CONST, 4)

#define SMALLINT_MAX ((int64_t)(INT64_MAX >> 1))
#define SMALLINT_MIN ((int64_t)(INT64_MIN >> 1))

static inline bool value_is_int(Value v) { return (v & 1u) != 0; }
static inline bool value_is_ptr(Value v) { return (v & TAG_MASK) == TAG_PTR; }
static inline bool value_is_flonum(Value v) { return (v & TAG_MASK) == TAG_FLOAT; }
static inline bool value_is_pid(Value v) { return (v & TAG_MASK) == TAG_PID; }
static inline bool value_is_special(Value v, unsigned sub) {
    return (v & 0xffu) == ((sub << 3) | TAG_SPECIAL);
}
static inline bool value_is_symbol(Value v) { return value_is_special(v, SUB_SYMBOL); }
static inline bool value_is_class(Value v) { return value_is_special(v, SUB_CLASS); }
static inline bool value_is_meta(Value v) { return value_is_special(v, SUB_META); }
static inline bool value_is_bool(Value v) { return v == V_TRUE || v == V_FALSE; }
static inline Value value_from_bool(bool b) { return b ? V_TRUE : V_FALSE; }

static inline bool int_fits_small(int64_t i) { return i >= SMALLINT_MIN && i <= SMALLINT_MAX; }
static inline Value value_from_int(int64_t i) { return ((Value)i << 1) | 1u; } /* i must fit */
static inline int64_t value_to_int(Value v) { return (int64_t)v >> 1; }

static inline uint32_t special_payload(Value v) { return (uint32_t)(v >> 8); }
static inline Value value_from_symbol(uint32_t symbol) { return MAKE_SPECIAL(SUB_SYMBOL, symbol); }
static inline uint32_t value_to_symbol(Value v) { return special_payload(v); }
static inline Value value_from_class(uint32_t class_id) { return MAKE_SPECIAL(SUB_CLASS, class_id); }
static inline Value value_from_meta(uint32_t class_id) { return MAKE_SPECIAL(SUB_META, class_id); }

/* A process id never repeats: a slot's generation grows with each process that lives in it. */
static inline Value value_from_pid(uint32_t slot, uint32_t generation) {
    return ((Value)generation << 32) | ((Value)slot << 3) | TAG_PID;
}
static inline uint32_t pid_slot(Value v) { return (uint32_t)(v & 0xffffffffu) >> 3; }
static inline uint32_t pid_generation(Value v) { return (uint32_t)(v >> 32); }

/* Immediate floats tag themselves. Times 2^128, a double of the common range (2^-127 to 2^129) has an
 * exponent that begins with the three bits 100, and rotation puts these, below the sign, where the tag is.
 * Arithmetic may as well be done on the scaled doubles: the scale loses nothing. All others, zeros too, are
 * boxed. */
#define FLONUM_SCALE_BITS ((uint64_t)128 << 52)
static inline double flonum_scaled(Value v) {
    uint64_t bits = v >> 4 | v << 60;
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}
/* False: out of range. */
static inline bool flonum_from_scaled(double scaled, Value *out) {
    uint64_t bits;
    memcpy(&bits, &scaled, sizeof bits);
    Value v = bits << 4 | bits >> 60;
    if (__builtin_expect(((v - TAG_FLOAT) & TAG_MASK) != 0, 0)) return false;
    return *out = v, true;
}
static inline double flonum_decode(Value v) {
    uint64_t bits = (v >> 4 | v << 60) - FLONUM_SCALE_BITS;
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}
static inline bool flonum_encode(double d, Value *out) {
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    bits += FLONUM_SCALE_BITS;
    double scaled;
    memcpy(&scaled, &bits, sizeof scaled);
    return flonum_from_scaled(scaled, out);
}
static inline Value flonum_negated(Value v) { return v ^ 8; } /* the sign bit, turned */
static inline bool both_flonums(Value x, Value y) {
    return (((x - TAG_FLOAT) | (y - TAG_FLOAT)) & TAG_MASK) == 0;
}

#endif
