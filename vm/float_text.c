#include "vm/float_text.h"
#include "vm/bytecode/memory.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A positive double as 0.D x 10^point. No decimal point in any text given to or taken from libc: hosts may
 * set a locale. */
typedef struct {
    char digits[24];
    int count;
    int point;
} Decimal;

/* The nearest decimal of `count` significant digits. */
static void decimal_round(double d, int count, Decimal *out) {
    char text[48];
    snprintf(text, sizeof text, "%.*e", count - 1, d);
    char *e = strchr(text, 'e');
    out->count = 0;
    for (char *c = text; c < e; c++) {
        if (*c >= '0' && *c <= '9') out->digits[out->count++] = *c;
    }
    out->point = atoi(e + 1) + 1;
}

static bool decimal_reads_back(const Decimal *m, double d) {
    char text[64];
    snprintf(text, sizeof text, "%.*se%d", m->count, m->digits, m->point - m->count);
    return strtod(text, NULL) == d;
}

/* The next decimal up with as many digits. */
static void decimal_increment(Decimal *m) {
    int i = m->count - 1;
    while (i >= 0 && m->digits[i] == '9') m->digits[i--] = '0';
    if (i >= 0) {
        m->digits[i]++;
        return;
    }
    m->digits[0] = '1';
    m->point++;
}

static bool decimal_try(double d, int count, bool power_of_two, Decimal *out) {
    decimal_round(d, count, out);
    if (decimal_reads_back(out, d)) return true;
    if (!power_of_two) return false;
    /* The gap above a power of two is twice the one below: the neighbour above may read back though it is not
     * the nearest. */
    decimal_increment(out);
    return decimal_reads_back(out, d);
}

static void decimal_shortest(double d, Decimal *out) {
    int exponent;
    bool power_of_two = frexp(d, &exponent) == 0.5;
    /* For normal doubles up to 15 digits are exact, so a shorter text shows as trailing zeros of the 15. */
    int count = d < DBL_MIN ? 1 : DBL_DIG;
    while (count < DBL_DECIMAL_DIG && !decimal_try(d, count, power_of_two, out)) count++;
    if (count == DBL_DECIMAL_DIG) decimal_round(d, count, out);
    while (out->count > 1 && out->digits[out->count - 1] == '0') out->count--;
}

static int text_width(int number) {
    char text[16];
    return snprintf(text, sizeof text, "%d", number);
}

static char *put(char *to, const char *bytes, int count) {
    memcpy(to, bytes, (size_t)count);
    return to + count;
}

static char *put_zeros(char *to, int count) {
    memset(to, '0', (size_t)count);
    return to + count;
}

static char *put_scientific(char *to, const Decimal *m) {
    *to++ = m->digits[0];
    *to++ = '.';
    to = m->count == 1 ? put_zeros(to, 1) : put(to, m->digits + 1, m->count - 1);
    return to + sprintf(to, "e%d", m->point - 1);
}

/* Fixed notation unless the scientific one is shorter (stdlib-core 9.4). */
static char *put_decimal(char *to, const Decimal *m, bool large) {
    int scientific_cost = text_width(m->point - 1) + 1 + (m->count == 1 ? 2 : 1);
    if (large) return put_scientific(to, m);
    if (m->point > 0 && m->point < m->count) {
        to = put(to, m->digits, m->point);
        *to++ = '.';
        return put(to, m->digits + m->point, m->count - m->point);
    }
    if (m->point >= m->count) {
        if (m->point - m->count + 2 > scientific_cost) return put_scientific(to, m);
        to = put(to, m->digits, m->count);
        to = put_zeros(to, m->point - m->count);
        return put(to, ".0", 2);
    }
    if (m->point < 0 && 2 - m->point > scientific_cost) return put_scientific(to, m);
    to = put(to, "0.", 2);
    to = put_zeros(to, -m->point);
    return put(to, m->digits, m->count);
}

size_t float_print(double d, char *buffer) {
    char *to = buffer;
    if (signbit(d)) *to++ = '-';
    d = fabs(d);
    if (d == 0) {
        to = put(to, "0.0", 3);
    } else {
        Decimal m;
        decimal_shortest(d, &m);
        to = put_decimal(to, &m, d >= 9007199254740992.0);
    }
    *to = '\0';
    return (size_t)(to - buffer);
}

/* --- parsing
 * --------------------------------------------------------------------------------------------------------------
 */

/* Length of the run of digits at text[at]. */
static size_t digit_run(const char *text, size_t length, size_t at) {
    size_t end = at;
    while (end < length && text[end] >= '0' && text[end] <= '9') end++;
    return end - at;
}

#define EXPONENT_BOUND 100000000

/* [eE][+-]?[0-9]+ up to the end of the text; clamped. */
static bool parse_exponent(const char *text, size_t length, size_t at, long *exponent) {
    *exponent = 0;
    if (at == length) return true;
    if (text[at] != 'e' && text[at] != 'E') return false;
    at++;
    bool negative = at < length && text[at] == '-';
    if (at < length && (text[at] == '-' || text[at] == '+')) at++;
    size_t run = digit_run(text, length, at);
    if (run == 0 || at + run != length) return false;
    for (; at < length; at++) {
        if (*exponent < EXPONENT_BOUND) *exponent = *exponent * 10 + (text[at] - '0');
    }
    if (negative) *exponent = -*exponent;
    return true;
}

bool float_parse(const Memory *memory, const char *text, size_t length, double *out) {
    size_t at = 0;
    bool negative = length > 0 && text[0] == '-';
    if (length > 0 && (text[0] == '-' || text[0] == '+')) at++;
    size_t whole_at = at, whole = digit_run(text, length, at);
    at += whole;
    if (whole == 0 || at == length || text[at] != '.') return false;
    size_t fraction_at = ++at, fraction = digit_run(text, length, at);
    if (fraction == 0 || fraction > EXPONENT_BOUND || whole > EXPONENT_BOUND) return false;
    long exponent;
    if (!parse_exponent(text, length, at + fraction, &exponent)) return false;
    char small[128];
    char *plain = whole + fraction + 24 <= sizeof small ? small : memory_alloc(memory, whole + fraction + 24);
    if (!plain) return false;
    memcpy(plain, text + whole_at, whole);
    memcpy(plain + whole, text + fraction_at, fraction);
    sprintf(plain + whole + fraction, "e%ld", exponent - (long)fraction);
    double d = strtod(plain, NULL);
    if (plain != small) memory_free(memory, plain);
    *out = negative ? -d : d;
    return isfinite(d);
}
