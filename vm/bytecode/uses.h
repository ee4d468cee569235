/* What a method mentions, as data that the compiler finds and the VM asks for: navigation from senders to
 * methods. Constructs count as the sends they are spelled as, inlined or not. */
#ifndef BT_VM_BYTECODE_USES_H
#define BT_VM_BYTECODE_USES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    USE_SEND,       /* name: selector */
    USE_SELF_SEND,  /* the same, to self or super */
    USE_CLASS,      /* name: class, in code or in a type */
    USE_FIELD_READ, /* name: field of self, or class variable */
    USE_FIELD_WRITE,
    USE_FOREIGN,     /* name: module:function/arity */
    USE_ANNOUNCEMENT /* name: class of what is announced */
} UseKind;

typedef struct {
    UseKind kind;
    const char *name; /* lives during the call only */
    uint32_t line;    /* from 1, within the method's text */
} MethodUse;

typedef void (*UseVisitor)(const MethodUse *use, void *context);

#endif
