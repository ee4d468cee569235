/* Positions in source text: what every stage from lexer to line table agrees on.
 *
 * A span is a half-open range of byte offsets. Sources are limited to SOURCE_MAX_BYTES, so 32 bits are
 * enough. Lines and columns are computed on demand (diag.h: source_position) and never stored in trees.
 */
#ifndef BT_VM_BYTECODE_SPAN_H
#define BT_VM_BYTECODE_SPAN_H

#include <stdbool.h>
#include <stdint.h>

/* Half a million lines. A compilation takes up to sixty times the memory of its text. */
#define SOURCE_MAX_BYTES ((uint32_t)16 << 20)

typedef struct {
    uint32_t start, end;
} Span;

static inline Span span_make(uint32_t start, uint32_t end) { return (Span){start, end}; }
static inline uint32_t span_length(Span s) { return s.end - s.start; }

/* Index of the line that holds offset: its start lies at or before it, the next one after it. There is at
 * least one line, and the first starts at 0. */
static inline uint32_t line_index(const uint32_t *line_starts, uint32_t count, uint32_t offset) {
    uint32_t low = 0, high = count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (line_starts[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    return low;
}

#endif
