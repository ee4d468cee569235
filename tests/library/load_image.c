/* Loads the image named by the argument from memory; then damaged ones, which must be refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "beamtalk.h"

static int wrong(const char *what) {
    fprintf(stderr, "%s\n", what);
    return 1;
}

/* The status, and whether the kind is this one. */
static int refused(bt_vm *vm, const unsigned char *bytes, size_t length, const char *kind) {
    bt_result *r = NULL;
    int right = bt_vm_load_image(vm, bytes, length, &r) == BT_COMPILE_ERROR && bt_result_error_kind(r) &&
                !strcmp(bt_result_error_kind(r), kind) && bt_result_error_message(r);
    bt_result_free(r);
    return right;
}

static int damaged_are_refused(bt_vm *vm, unsigned char *bytes, size_t length) {
    for (size_t n = 0; n < length; n += 7)
        if (!refused(vm, bytes, n, "image_invalid")) return 0;
    for (size_t i = 40; i < length; i += 3) {
        bytes[i] ^= 0x10;
        int right = refused(vm, bytes, length, "image_invalid");
        bytes[i] ^= 0x10;
        if (!right) return 0;
    }
    return 1;
}

int main(int argc, char **argv) {
    static unsigned char bytes[1 << 20];
    FILE *in = argc > 1 ? fopen(argv[1], "rb") : NULL;
    if (!in) return wrong("no image");
    size_t length = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    bt_vm *vm = bt_vm_new(NULL);
    bt_session *session = bt_session_new(vm);
    if (!damaged_are_refused(vm, bytes, length)) return wrong("a damaged image is loaded");
    bt_result *r = NULL;
    if (bt_vm_load_image(vm, bytes, length, &r) != BT_OK) return wrong(bt_result_error_message(r));
    if (strcmp(bt_result_definitions(r), "Shape")) return wrong(bt_result_definitions(r));
    bt_result_free(r);
    memset(bytes, 0, length);
    if (bt_vm_eval(session, "Shape corners", 13, NULL, &r) != BT_OK) return wrong(bt_result_error_message(r));
    if (strcmp(bt_result_print_string(r), "4")) return wrong(bt_result_print_string(r));
    bt_result_free(r);
    bt_session_free(session);
    bt_vm_free(vm);
    return 0;
}
