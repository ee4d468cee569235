/* The library's image, as bytes in read-only data. */
    .section .rodata
    .balign 16
    .globl stdlib_image_bytes
    .globl stdlib_image_end
stdlib_image_bytes:
    .incbin STDLIB_IMAGE
stdlib_image_end:
    .byte 0
    .section .note.GNU-stack,"",@progbits
