#include "vm/bignum.h"
#include "vm/bytecode/memory.h"
#include "vm/error.h"
#include "vm/rooted.h"
#include "vm/vm.h"

#include <math.h>

_Static_assert(sizeof(mp_limb_t) == 8 && GMP_NAIL_BITS == 0, "limbs are the words of a BIGNUM");

enum { BIGNUM_SIZE = 1, BIGNUM_LIMBS = 2 };
#define LIMB_BITS 64u
#define MAX_LIMBS (INTEGER_MAX_BITS / LIMB_BITS)

void magnitude_of(Value v, Magnitude *m) {
    if (value_is_int(v)) {
        int64_t i = value_to_int(v);
        m->negative = i < 0;
        m->small = i < 0 ? 0 - (mp_limb_t)i : (mp_limb_t)i;
        m->limbs = &m->small;
        m->count = i != 0;
        return;
    }
    uint64_t *words = object_words(v);
    m->negative = words[BIGNUM_SIZE] & 1;
    m->count = words[BIGNUM_SIZE] >> 1;
    m->limbs = (const mp_limb_t *)(words + BIGNUM_LIMBS);
}

static size_t limbs_bits(const mp_limb_t *limbs, size_t count) {
    return count ? count * LIMB_BITS - (size_t)__builtin_clzl(limbs[count - 1]) : 0;
}

size_t magnitude_bits(const Magnitude *m) { return limbs_bits(m->limbs, m->count); }

static PrimStatus too_large(Process *p) { return error_resource(p, "An Integer has at most 67108864 bits."); }

static size_t limbs_normal(const mp_limb_t *limbs, size_t count) {
    while (count > 0 && limbs[count - 1] == 0) count--;
    return count;
}

/* Reserves a result of result_limbs and scratch_limbs behind it. */
static bool reserve(Process *p, size_t result_limbs, size_t scratch_limbs, Value *operands, size_t count) {
    return heap_reserve_rooted(p, BIGNUM_LIMBS + result_limbs + scratch_limbs, operands, count);
}

static mp_limb_t *result_limbs_at_top(Process *p) { return (mp_limb_t *)(p->heap.top + BIGNUM_LIMBS); }

/* The limbs written at the top of the heap become an Integer; only what it needs is allocated. */
static PrimStatus finish(Process *p, size_t count, bool negative, Value *out) {
    mp_limb_t *limbs = result_limbs_at_top(p);
    count = limbs_normal(limbs, count);
    if (count == 0 || (count == 1 && limbs[0] <= (mp_limb_t)SMALLINT_MAX + negative)) {
        int64_t i = count ? (int64_t)limbs[0] : 0;
        *out = value_from_int(negative ? -i : i);
        return PRIM_OK;
    }
    if (limbs_bits(limbs, count) > INTEGER_MAX_BITS) return too_large(p);
    Value v = heap_new(p, KIND_BIGNUM, CLASS_ID_Integer, BIGNUM_LIMBS + count);
    object_words(v)[BIGNUM_SIZE] = (count << 1) | negative;
    *out = v;
    return PRIM_OK;
}

/* Work of mpn functions above this many limbs may take scratch from malloc. */
#define GMP_STACK_LIMBS 512

static bool gmp_scratch_ok(Process *p, size_t limbs) {
    /* About ten nanoseconds a reduction: quadratic as long as GMP is, nearly linear above. */
    process_charge(p, (uint32_t)(limbs < 256               ? limbs * limbs >> 4
                                 : limbs > UINT16_MAX << 4 ? UINT16_MAX << 8
                                                           : limbs << 4));
    if (limbs < GMP_STACK_LIMBS) return true;
    void *probe = memory_alloc(NULL, limbs * 16 * sizeof(mp_limb_t)); /* GMP's scratch is not the VM's */
    memory_free(NULL, probe);
    if (!probe) error_resource(p, "There is no memory for a computation with large integers.");
    return probe != NULL;
}

/* --- add, multiply, divide
 * ------------------------------------------------------------------------------------------------ */

static int compare_magnitudes(const Magnitude *a, const Magnitude *b) {
    if (a->count != b->count) return a->count < b->count ? -1 : 1;
    return a->count ? mpn_cmp(a->limbs, b->limbs, (mp_size_t)a->count) : 0;
}

PrimStatus bignum_add(Process *p, Value a, Value b, bool subtract, Value *out) {
    Value operands[2] = {a, b};
    Magnitude ma, mb;
    magnitude_of(a, &ma);
    magnitude_of(b, &mb);
    if (!reserve(p, (ma.count > mb.count ? ma.count : mb.count) + 1, 0, operands, 2)) return PRIM_RAISE;
    magnitude_of(operands[0], &ma);
    magnitude_of(operands[1], &mb);
    mb.negative ^= subtract;
    int order = compare_magnitudes(&ma, &mb);
    const Magnitude *large = order < 0 ? &mb : &ma, *less = order < 0 ? &ma : &mb;
    mp_limb_t *to = result_limbs_at_top(p);
    if (large->count == 0) return finish(p, 0, false, out);
    if (less->count == 0) {
        mpn_copyi(to, large->limbs, (mp_size_t)large->count);
        to[large->count] = 0;
    } else if (ma.negative == mb.negative) {
        to[large->count] =
            mpn_add(to, large->limbs, (mp_size_t)large->count, less->limbs, (mp_size_t)less->count);
    } else {
        mpn_sub(to, large->limbs, (mp_size_t)large->count, less->limbs, (mp_size_t)less->count);
        to[large->count] = 0;
    }
    return finish(p, large->count + 1, large->negative, out);
}

/* One operand of one word, the common case: time in proportion to the limbs, and no scratch. */
static PrimStatus mul_word(Process *p, Value large, int64_t word, Value *out) {
    if (word == 0) return *out = value_from_int(0), PRIM_OK;
    size_t count = object_words(large)[BIGNUM_SIZE] >> 1;
    process_charge(p, (uint32_t)(count >> 4));
    if (!reserve(p, count + 1, 0, &large, 1)) return PRIM_RAISE;
    const uint64_t *words = object_words(large);
    mp_limb_t *to = result_limbs_at_top(p), magnitude = word < 0 ? 0 - (mp_limb_t)word : (mp_limb_t)word;
    to[count] = mpn_mul_1(to, (const mp_limb_t *)(words + BIGNUM_LIMBS), (mp_size_t)count, magnitude);
    return finish(p, count + 1, (words[BIGNUM_SIZE] & 1) != (word < 0), out);
}

PrimStatus bignum_mul(Process *p, Value a, Value b, Value *out) {
    if (value_is_ptr(a) && value_is_int(b)) return mul_word(p, a, value_to_int(b), out);
    if (value_is_ptr(b) && value_is_int(a)) return mul_word(p, b, value_to_int(a), out);
    Value operands[2] = {a, b};
    Magnitude ma, mb;
    magnitude_of(a, &ma);
    magnitude_of(b, &mb);
    size_t count = ma.count + mb.count;
    if (ma.count == 0 || mb.count == 0) {
        *out = value_from_int(0);
        return PRIM_OK;
    }
    if (magnitude_bits(&ma) + magnitude_bits(&mb) > INTEGER_MAX_BITS + 1) return too_large(p);
    if (!gmp_scratch_ok(p, count) || !reserve(p, count, 0, operands, 2)) return PRIM_RAISE;
    magnitude_of(operands[0], &ma);
    magnitude_of(operands[1], &mb);
    const Magnitude *large = ma.count >= mb.count ? &ma : &mb, *less = ma.count >= mb.count ? &mb : &ma;
    mpn_mul(result_limbs_at_top(p), large->limbs, (mp_size_t)large->count, less->limbs,
            (mp_size_t)less->count);
    return finish(p, count, ma.negative != mb.negative, out);
}

/* Both results live in the reserved words: the quotient is finished first, then the remainder moves down
 * behind it. */
PrimStatus bignum_divide(Process *p, Value a, Value b, Value *quotient, Value *remainder) {
    Value operands[2] = {a, b};
    Magnitude ma, mb;
    magnitude_of(a, &ma);
    magnitude_of(b, &mb);
    if (compare_magnitudes(&ma, &mb) < 0) {
        if (quotient) *quotient = value_from_int(0);
        if (remainder) *remainder = a;
        return PRIM_OK;
    }
    size_t quotient_count = ma.count - mb.count + 1;
    if (!gmp_scratch_ok(p, ma.count)) return PRIM_RAISE;
    if (!reserve(p, quotient_count + BIGNUM_LIMBS, mb.count, operands, 2)) return PRIM_RAISE;
    magnitude_of(operands[0], &ma);
    magnitude_of(operands[1], &mb);
    mp_limb_t *q = result_limbs_at_top(p), *r = q + quotient_count + BIGNUM_LIMBS;
    mpn_tdiv_qr(q, r, 0, ma.limbs, (mp_size_t)ma.count, mb.limbs, (mp_size_t)mb.count);
    bool negative = ma.negative, quotient_negative = ma.negative != mb.negative;
    if (quotient) {
        PrimStatus status = finish(p, quotient_count, quotient_negative, quotient);
        if (status != PRIM_OK) return status;
    }
    if (!remainder) return PRIM_OK;
    size_t remainder_count = mb.count;
    memmove(result_limbs_at_top(p), r, remainder_count * sizeof *r);
    return finish(p, remainder_count, negative, remainder);
}

/* --- powers
 * ----------------------------------------------------------------------------------------------------------------
 */

/* Left-to-right binary powers, alternating between the result area and the scratch behind it. */
static size_t pow_limbs(mp_limb_t *result, mp_limb_t *other, size_t *in_other, const Magnitude *base,
                        uint64_t exponent) {
    size_t count = base->count;
    mpn_copyi(result, base->limbs, (mp_size_t)count);
    for (int bit = 62 - __builtin_clzl(exponent); bit >= 0; bit--) {
        mpn_sqr(other, result, (mp_size_t)count);
        count = limbs_normal(other, count * 2);
        mp_limb_t *swap = result;
        result = other, other = swap;
        *in_other ^= 1;
        if (!((exponent >> bit) & 1)) continue;
        mpn_mul(other, result, (mp_size_t)count, base->limbs, (mp_size_t)base->count);
        count = limbs_normal(other, count + base->count);
        swap = result;
        result = other, other = swap;
        *in_other ^= 1;
    }
    return count;
}

PrimStatus bignum_pow(Process *p, Value base, uint64_t exponent, Value *out) {
    Magnitude m;
    magnitude_of(base, &m);
    if (exponent == 0 || (m.count == 1 && m.limbs[0] == 1)) {
        *out = value_from_int(m.negative && (exponent & 1) ? -1 : 1);
        return PRIM_OK;
    }
    if (m.count == 0) {
        *out = value_from_int(0);
        return PRIM_OK;
    }
    size_t bits = magnitude_bits(&m);
    if (exponent > INTEGER_MAX_BITS || (bits - 1) * exponent >= INTEGER_MAX_BITS) return too_large(p);
    /* Room for a squaring that is as long as twice the half: one limb more than the product of bits says. */
    size_t count = bits * exponent / LIMB_BITS + 2 + m.count;
    if (!gmp_scratch_ok(p, count) || !reserve(p, count, count, &base, 1)) return PRIM_RAISE;
    magnitude_of(base, &m);
    mp_limb_t *result = result_limbs_at_top(p);
    size_t in_other = 0;
    size_t used = pow_limbs(result, result + count, &in_other, &m, exponent);
    if (in_other) mpn_copyi(result, result + count, (mp_size_t)used);
    return finish(p, used, m.negative && (exponent & 1), out);
}

/* --- bits
 * -----------------------------------------------------------------------------------------------------------------
 */

/* Limb i of the infinite two's complement of m; *carry starts at 1. */
static mp_limb_t complement_limb(const Magnitude *m, size_t i, mp_limb_t *carry) {
    mp_limb_t limb = i < m->count ? m->limbs[i] : 0;
    if (!m->negative) return limb;
    limb = ~limb + *carry;
    if (limb != 0) *carry = 0;
    return limb;
}

PrimStatus bignum_bits(Process *p, Value a, Value b, BitOperation operation, Value *out) {
    Value operands[2] = {a, b};
    Magnitude ma, mb;
    magnitude_of(a, &ma);
    magnitude_of(b, &mb);
    size_t count = (ma.count > mb.count ? ma.count : mb.count) + 1;
    if (!reserve(p, count, 0, operands, 2)) return PRIM_RAISE;
    magnitude_of(operands[0], &ma);
    magnitude_of(operands[1], &mb);
    mp_limb_t *to = result_limbs_at_top(p), carry_a = 1, carry_b = 1;
    for (size_t i = 0; i < count; i++) {
        mp_limb_t la = complement_limb(&ma, i, &carry_a), lb = complement_limb(&mb, i, &carry_b);
        to[i] = operation == BIT_AND ? la & lb : operation == BIT_OR ? la | lb : la ^ lb;
    }
    bool negative = to[count - 1] >> (LIMB_BITS - 1);
    if (negative) mpn_neg(to, to, (mp_size_t)count);
    return finish(p, count, negative, out);
}

static PrimStatus shift_left(Process *p, Value a, uint64_t by, Value *out) {
    Magnitude m;
    magnitude_of(a, &m);
    if (by > INTEGER_MAX_BITS || magnitude_bits(&m) + by > INTEGER_MAX_BITS) return too_large(p);
    size_t whole = by / LIMB_BITS, count = m.count + whole + 1;
    unsigned bits = by % LIMB_BITS;
    if (!reserve(p, count, 0, &a, 1)) return PRIM_RAISE;
    magnitude_of(a, &m);
    mp_limb_t *to = result_limbs_at_top(p);
    for (size_t i = 0; i < whole; i++) to[i] = 0;
    if (bits) {
        to[count - 1] = mpn_lshift(to + whole, m.limbs, (mp_size_t)m.count, bits);
    } else {
        mpn_copyi(to + whole, m.limbs, (mp_size_t)m.count);
        to[count - 1] = 0;
    }
    return finish(p, count, m.negative, out);
}

static bool any_low_bits(const Magnitude *m, size_t whole, unsigned bits) {
    for (size_t i = 0; i < whole; i++) {
        if (m->limbs[i]) return true;
    }
    return bits && (m->limbs[whole] << (LIMB_BITS - bits)) != 0;
}

/* Toward minus infinity, as two's complement does. */
static PrimStatus shift_right(Process *p, Value a, uint64_t by, Value *out) {
    Magnitude m;
    magnitude_of(a, &m);
    size_t whole = by / LIMB_BITS;
    unsigned bits = by % LIMB_BITS;
    if (whole >= m.count) {
        *out = value_from_int(m.negative ? -1 : 0);
        return PRIM_OK;
    }
    size_t count = m.count - whole;
    if (!reserve(p, count + 1, 0, &a, 1)) return PRIM_RAISE;
    magnitude_of(a, &m);
    mp_limb_t *to = result_limbs_at_top(p);
    if (bits) {
        mpn_rshift(to, m.limbs + whole, (mp_size_t)count, bits);
    } else {
        mpn_copyi(to, m.limbs + whole, (mp_size_t)count);
    }
    to[count] = 0;
    if (m.negative && any_low_bits(&m, whole, bits)) mpn_add_1(to, to, (mp_size_t)count + 1, 1);
    return finish(p, count + 1, m.negative, out);
}

PrimStatus bignum_shift(Process *p, Value a, int64_t left, Value *out) {
    if (a == value_from_int(0) || left == 0) {
        *out = a;
        return PRIM_OK;
    }
    return left > 0 ? shift_left(p, a, (uint64_t)left, out) : shift_right(p, a, 0 - (uint64_t)left, out);
}

/* --- greatest common divisor
 * ---------------------------------------------------------------------------------------------- */

/* Copies m to `to` without its trailing zero bits; answers how many those were. */
static size_t copy_odd_part(mp_limb_t *to, const Magnitude *m, size_t *count) {
    size_t zeros = mpn_scan1(m->limbs, 0), whole = zeros / LIMB_BITS;
    if (zeros % LIMB_BITS) {
        mpn_rshift(to, m->limbs + whole, (mp_size_t)(m->count - whole), zeros % LIMB_BITS);
    } else {
        mpn_copyi(to, m->limbs + whole, (mp_size_t)(m->count - whole));
    }
    *count = limbs_normal(to, m->count - whole);
    return zeros;
}

PrimStatus bignum_gcd(Process *p, Value a, Value b, Value *out) {
    Value operands[2] = {a, b};
    Magnitude ma, mb;
    magnitude_of(a, &ma);
    magnitude_of(b, &mb);
    if (ma.count == 0 || mb.count == 0) {
        Value other = ma.count == 0 ? b : a;
        if (!(ma.count == 0 ? mb : ma).negative) {
            *out = other;
            return PRIM_OK;
        }
        return bignum_add(p, value_from_int(0), other, true, out);
    }
    size_t total = ma.count + mb.count;
    if (!gmp_scratch_ok(p, total) || !reserve(p, total, total, operands, 2)) return PRIM_RAISE;
    magnitude_of(operands[0], &ma);
    magnitude_of(operands[1], &mb);
    mp_limb_t *result = result_limbs_at_top(p), *x = result + total, *y = x + ma.count;
    size_t x_count, y_count;
    size_t x_zeros = copy_odd_part(x, &ma, &x_count), y_zeros = copy_odd_part(y, &mb, &y_count);
    if (limbs_bits(x, x_count) < limbs_bits(y, y_count)) {
        mp_limb_t *swap = x;
        size_t swap_count = x_count;
        x = y, y = swap;
        x_count = y_count, y_count = swap_count;
    }
    size_t count = (size_t)mpn_gcd(result, x, (mp_size_t)x_count, y, (mp_size_t)y_count);
    PrimStatus status = finish(p, count, false, out);
    return status == PRIM_OK ? bignum_shift(p, *out, (int64_t)(x_zeros < y_zeros ? x_zeros : y_zeros), out)
                             : status;
}

/* --- comparing and doubles
 * ------------------------------------------------------------------------------------------------ */

int bignum_compare(Value a, Value b) {
    Magnitude ma, mb;
    magnitude_of(a, &ma);
    magnitude_of(b, &mb);
    if (ma.negative != mb.negative) return ma.negative ? -1 : 1;
    int order = compare_magnitudes(&ma, &mb);
    return ma.negative ? -order : order;
}

/* Limbs of an integral double below 2^1024. */
#define DOUBLE_LIMBS 17
static size_t double_limbs(double d, mp_limb_t limbs[DOUBLE_LIMBS]) {
    int exponent;
    double fraction = frexp(d, &exponent);
    if (exponent <= 0) return 0;
    mp_limb_t mantissa = (mp_limb_t)ldexp(fraction, 53);
    memset(limbs, 0, DOUBLE_LIMBS * sizeof *limbs);
    if (exponent <= 53) {
        limbs[0] = mantissa >> (53 - exponent);
        return limbs_normal(limbs, 1);
    }
    size_t shift = (size_t)exponent - 53, whole = shift / LIMB_BITS, bits = shift % LIMB_BITS;
    limbs[whole] = mantissa << bits;
    if (bits) limbs[whole + 1] = mantissa >> (LIMB_BITS - bits);
    return limbs_normal(limbs, whole + 2);
}

int bignum_compare_double(Value a, double d) {
    Magnitude m, other;
    mp_limb_t limbs[DOUBLE_LIMBS];
    magnitude_of(a, &m);
    bool negative = d < 0;
    if (m.negative != negative) return m.negative ? -1 : 1;
    double whole = trunc(fabs(d));
    other.limbs = limbs;
    other.count = double_limbs(whole, limbs);
    int order = compare_magnitudes(&m, &other);
    if (order == 0 && fabs(d) > whole) order = -1;
    return negative ? -order : order;
}

/* The top 64 bits, left-justified, and whether anything below them is set. */
static mp_limb_t top_bits(const Magnitude *m, bool *sticky) {
    mp_limb_t top = m->limbs[m->count - 1];
    unsigned shift = (unsigned)__builtin_clzl(top);
    size_t rest = m->count - 1;
    *sticky = false;
    if (shift && rest > 0) {
        mp_limb_t next = m->limbs[--rest];
        top = (top << shift) | (next >> (LIMB_BITS - shift));
        *sticky = (next << shift) != 0;
    } else {
        top <<= shift;
    }
    while (rest > 0 && !*sticky) *sticky = m->limbs[--rest] != 0;
    return top;
}

bool bignum_to_double(Value v, double *out) {
    Magnitude m;
    magnitude_of(v, &m);
    *out = 0;
    if (m.count == 0) return true;
    size_t bits = magnitude_bits(&m);
    if (bits > 1024) return false;
    bool sticky;
    mp_limb_t top = top_bits(&m, &sticky), kept = top >> 11, low = top & 0x7ff;
    if (low > 0x400 || (low == 0x400 && (sticky || (kept & 1)))) kept++;
    double d = ldexp((double)kept, (int)bits - 53);
    if (!isfinite(d)) return false;
    *out = m.negative ? -d : d;
    return true;
}

PrimStatus bignum_from_double(Process *p, double integral, Value *out) {
    mp_limb_t limbs[DOUBLE_LIMBS];
    size_t count = double_limbs(fabs(integral), limbs);
    if (!reserve(p, count, 0, NULL, 0)) return PRIM_RAISE;
    memcpy(result_limbs_at_top(p), limbs, count * sizeof *limbs);
    return finish(p, count, integral < 0, out);
}

/* --- text
 * -----------------------------------------------------------------------------------------------------------------
 */

static int digit_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'z') return c - 'a' + 10;
    return c - 'A' + 10;
}

/* Bits that `length` digits of this radix may need. */
static size_t digits_bits(size_t length, unsigned radix) {
    return (size_t)ceil((double)length * log2((double)radix)) + 1;
}

/* Converts into `limbs` (room for digits_bits / 64 + 2); false if memory lacks. */
static bool digits_to_limbs(const Memory *memory, mp_limb_t *limbs, const char *digits, size_t length,
                            unsigned radix, size_t *count) {
    unsigned char small[256], *values = length <= sizeof small ? small : memory_alloc(memory, length);
    if (!values) return false;
    for (size_t i = 0; i < length; i++) values[i] = (unsigned char)digit_value(digits[i]);
    *count = length ? (size_t)mpn_set_str(limbs, values, length, (int)radix) : 0;
    if (values != small) memory_free(memory, values);
    return true;
}

static size_t skip_zeros(const char **digits, size_t length) {
    while (length > 0 && **digits == '0') ++*digits, --length;
    return length;
}

PrimStatus bignum_from_digits(Process *p, const char *digits, size_t length, unsigned radix, bool negative,
                              Value *out) {
    length = skip_zeros(&digits, length);
    if (length > INTEGER_MAX_BITS) return too_large(p);
    size_t limbs = digits_bits(length, radix) / LIMB_BITS + 2, count;
    if (limbs > MAX_LIMBS + 2) return too_large(p);
    if (!gmp_scratch_ok(p, limbs) || !reserve(p, limbs, 0, NULL, 0)) return PRIM_RAISE;
    if (!digits_to_limbs(p->vm->memory, result_limbs_at_top(p), digits, length, radix, &count)) {
        return error_resource(p, "There is no memory to read a large integer.");
    }
    return finish(p, count, negative, out);
}

size_t number_literal_words(const char *digits, size_t length, unsigned radix) {
    length = skip_zeros(&digits, length);
    return BIGNUM_LIMBS + digits_bits(length, radix) / LIMB_BITS + 2;
}

bool number_literal_make(const Memory *memory, uint64_t *words, const char *digits, size_t length,
                         unsigned radix, bool negative, Value *out, size_t *used_words) {
    length = skip_zeros(&digits, length);
    mp_limb_t *limbs = (mp_limb_t *)(words + BIGNUM_LIMBS);
    size_t count;
    if (digits_bits(length, radix) > INTEGER_MAX_BITS ||
        !digits_to_limbs(memory, limbs, digits, length, radix, &count))
        return false;
    count = limbs_normal(limbs, count);
    *used_words = 0;
    if (count == 0 || (count == 1 && limbs[0] <= (mp_limb_t)SMALLINT_MAX + negative)) {
        int64_t i = count ? (int64_t)limbs[0] : 0;
        *out = value_from_int(negative ? -i : i);
        return true;
    }
    *used_words = BIGNUM_LIMBS + count;
    words[0] = header_make(CLASS_ID_Integer, KIND_BIGNUM, OBJ_LITERAL, *used_words);
    words[BIGNUM_SIZE] = (count << 1) | negative;
    *out = value_from_object(words);
    return true;
}

const char *small_digits(int64_t i, char digits[SMALL_DIGITS], size_t *length) {
    char *at = digits + SMALL_DIGITS;
    uint64_t rest = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
    do {
        *--at = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (i < 0) *--at = '-';
    *length = (size_t)(digits + SMALL_DIGITS - at);
    return at;
}

void integer_append_text(Text *t, Value v, unsigned radix) {
    if (value_is_int(v) && radix == 10) {
        char digits[SMALL_DIGITS];
        size_t length;
        const char *from = small_digits(value_to_int(v), digits, &length);
        text_append(t, from, length);
        return;
    }
    Magnitude m;
    magnitude_of(v, &m);
    if (m.negative) text_append_char(t, '-');
    if (m.count == 0) text_append_char(t, '0');
    if (m.count == 0) return;
    size_t room = (size_t)((double)magnitude_bits(&m) / log2((double)radix)) + 2;
    mp_limb_t *copy =
        memory_alloc(t->memory, (m.count + 1) * sizeof *copy); /* mpn_get_str destroys its operand */
    if (!copy || !text_reserve(t, room)) {
        memory_free(t->memory, copy);
        t->failed = true;
        return;
    }
    mpn_copyi(copy, m.limbs, (mp_size_t)m.count);
    unsigned char *to = (unsigned char *)t->bytes + t->length;
    size_t count = mpn_get_str(to, (int)radix, copy, (mp_size_t)m.count), zeros = 0;
    memory_free(t->memory, copy);
    while (zeros + 1 < count && to[zeros] == 0) zeros++;
    for (size_t i = zeros; i < count; i++)
        to[i - zeros] = (unsigned char)"0123456789abcdefghijklmnopqrstuvwxyz"[to[i]];
    t->length += count - zeros;
}
