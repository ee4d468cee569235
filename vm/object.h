/* Heap objects: one header word, then the words that object_kinds.def describes.
 *
 *   63        40 39    34 33   29 28                1 0
 *   [ class id  ][ kind  ][ flags ][ size in words   ][0]
 *
 * Size counts the header. Bit 0 of a live header is 0; a forwarding header is the new address with bit 0 set.
 * Class ids are what dispatch caches compare. Everything but RECORD objects is immutable once published.
 */
#ifndef BT_VM_OBJECT_H
#define BT_VM_OBJECT_H

#include <stdatomic.h>
#include <stddef.h>
#include "vm/value.h"

typedef enum {
#define KIND(name, first, what) KIND_##name,
#include "vm/object_kinds.def"
#undef KIND
    KIND_COUNT
} ObjectKind;

#define OBJECT_NO_VALUES 0xff
#define OBJECT_OFFHEAP 0xfe
#define OBJECT_MAX_WORDS ((size_t)((1u << 28) - 1))

/* Flag of the header. */
enum { OBJ_LITERAL = 2 /* lies in a loaded module's literal area: never moved, never copied */ };
_Static_assert(OBJ_LITERAL < 8, "see object_kind_byte");

static inline uint64_t *object_words(Value v) { return (uint64_t *)(uintptr_t)v; }
static inline uint64_t object_header(Value v) { return *object_words(v); }
static inline uint64_t header_make(uint32_t class_id, ObjectKind kind, unsigned flags, size_t size_words) {
    return ((uint64_t)class_id << 40) | ((uint64_t)kind << 34) | ((uint64_t)flags << 29) |
           ((uint64_t)size_words << 1);
}
static inline uint32_t header_class(uint64_t h) { return (uint32_t)(h >> 40); }
static inline ObjectKind header_kind(uint64_t h) { return (ObjectKind)((h >> 34) & 0x3f); }
static inline unsigned header_flags(uint64_t h) { return (unsigned)(h >> 29) & 0x1f; }
static inline size_t header_size(uint64_t h) { return (size_t)(h >> 1) & 0xfffffff; }
static inline uint32_t object_class(Value v) { return header_class(object_header(v)); }
static inline size_t object_size(Value v) { return header_size(object_header(v)); }
/* The kind shares a byte with the two highest flags, which no object has: one load and one compare. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static inline uint8_t object_kind_byte(Value v) { return ((const uint8_t *)(uintptr_t)v)[4]; }
#else
static inline uint8_t object_kind_byte(Value v) { return (uint8_t)(object_header(v) >> 32); }
#endif
static inline ObjectKind object_kind(Value v) { return (ObjectKind)(object_kind_byte(v) >> 2); }
static inline bool value_is_kind(Value v, ObjectKind kind) {
    return value_is_ptr(v) && object_kind_byte(v) == kind << 2;
}
static inline Value value_from_object(uint64_t *words) { return (Value)(uintptr_t)words; }
/* Word i of an object as a Value; word 0 is the header. */
static inline Value object_at(Value v, size_t i) { return object_words(v)[i]; }

#define CONS_HEAD(v) object_at((v), 1)
#define CONS_TAIL(v) object_at((v), 2)

/* Word indexes of a CLOSURE. self is the receiver of the home method; home class is a class object when the
 * block was written in a class method (ADR 0109: identity by name), else nil; carriers is the index in
 * process->carriers of those that the block reaches into, nil if there are none. If there are, the last two
 * words, behind the captures, say who opened them: pid and serial. */
enum {
    CLOSURE_FN = 1,
    CLOSURE_SELF,
    CLOSURE_HOME_PID,
    CLOSURE_HOME_SERIAL,
    CLOSURE_CARRIERS,
    CLOSURE_HOME_CLASS,
    CLOSURE_CAPTURES,
    CLOSURE_CARRIER_WORDS = 2
};

/* Word indexes (slots from 1) of every instance of Exception and its subclasses, before the subclass's own
 * fields. */
enum {
    EXC_MESSAGE = 1, /* String */
    EXC_KIND,        /* Symbol */
    EXC_ERROR_CLASS, /* Symbol or nil */
    EXC_SELECTOR,    /* Symbol or nil */
    EXC_HINT,        /* String or nil */
    EXC_DETAILS,     /* Dictionary */
    EXC_TRACE,       /* List of StackFrame instances, or the raw trace Tuple until asked for */
    EXC_SLOTS_END
};

/* Off-heap memory shared by processes (long strings, native handles): counted, freed by drop at zero, which
 * gets the memory of the VM. */
typedef struct Counted Counted;
typedef struct Memory Memory;
typedef void CountedDrop(const Memory *memory, Counted *counted);
struct Counted {
    _Atomic uint32_t refs;
    CountedDrop *drop;
};

#endif
