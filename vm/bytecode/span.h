/* Positions in source text: what every stage from lexer to line table agrees on.
 *
 * A span is a half-open range of byte offsets. Sources are limited to SOURCE_MAX_BYTES, so 32 bits are
 * enough. Lines and columns are computed on demand (diag.h: source_position) and never stored in trees.
 */
#ifndef BT_VM_BYTECODE_SPAN_H
#define BT_VM_BYTECODE_SPAN_H

#include <stdbool.h>
#include <stdint.h>

#define SOURCE_MAX_BYTES ((uint32_t)1 << 30)

typedef struct {
    uint32_t start, end;
} Span;

static inline Span span_make(uint32_t start, uint32_t end) { return (Span){start, end}; }
static inline uint32_t span_length(Span s) { return s.end - s.start; }

#endif
