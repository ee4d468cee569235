/* See bundle.h. */
#include "vm/cli/bundle.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "vm/api/front.h"
#include "vm/cli/cli.h"

static const char SELF[] = "/proc/self/exe";

typedef struct {
    char magic[8];
    uint64_t length, checksum; /* of the payload */
    uint64_t program;          /* bytes of the program in front of it */
} Trailer;
static const char MAGIC[8] = {'B', 'T', 'B', 'U', 'N', 'D', 'L', 'E'};

/* FNV-1a (Fowler, Noll, Vo). */
static uint64_t checksum(const uint8_t *bytes, size_t length) {
    uint64_t h = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < length; i++) h = (h ^ bytes[i]) * 0x100000001b3ull;
    return h;
}

/* Where the program ends, from its section headers, which linkers put last; 0: no ELF file. */
static uint64_t program_extent(int fd) {
    Elf64_Ehdr header;
    if (pread(fd, &header, sizeof header, 0) != (ssize_t)sizeof header) return 0;
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return 0;
    return header.e_shoff + (uint64_t)header.e_shnum * header.e_shentsize;
}

/* ---- writing ---- */

static bool copy_program(FILE *out, uint64_t *extent) {
    int fd = open(SELF, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    char buffer[1 << 16];
    *extent = program_extent(fd);
    uint64_t left = *extent;
    while (left > 0) {
        ssize_t n = read(fd, buffer, left < sizeof buffer ? (size_t)left : sizeof buffer);
        if (n <= 0 || fwrite(buffer, 1, (size_t)n, out) != (size_t)n) break;
        left -= (uint64_t)n;
    }
    close(fd);
    return *extent > 0 && left == 0;
}

static void put_number(FILE *out, uint64_t n, size_t bytes) { fwrite(&n, 1, bytes, out); }

static void put_text(FILE *out, const char *text) {
    put_number(out, strlen(text), 4);
    fputs(text, out);
}

static char *make_payload(const char *entry, const BundleModule *modules, size_t count, size_t *length) {
    char *payload = NULL;
    FILE *out = open_memstream(&payload, length);
    if (!out) return NULL;
    put_text(out, entry);
    put_number(out, count, 4);
    for (size_t i = 0; i < count; i++) {
        put_text(out, modules[i].name);
        put_number(out, modules[i].length, 8);
        fwrite(modules[i].image, 1, modules[i].length, out);
    }
    bool good = !ferror(out);
    return fclose(out) == 0 && good ? payload : (free(payload), NULL);
}

bool bundle_write(const char *path, const char *entry, const BundleModule *modules, size_t count) {
    Trailer trailer = {0};
    size_t length = 0;
    char *payload = make_payload(entry, modules, count, &length);
    (void)unlink(path); /* it may be running */
    FILE *out = payload ? fopen(path, "wb") : NULL;
    bool good = out && copy_program(out, &trailer.program);
    if (good) {
        memcpy(trailer.magic, MAGIC, sizeof MAGIC);
        trailer.length = length;
        trailer.checksum = checksum((const uint8_t *)payload, length);
        good = fwrite(payload, 1, length, out) == length && fwrite(&trailer, sizeof trailer, 1, out) == 1;
    }
    if (out) good = fchmod(fileno(out), 0755) == 0 && good;
    if (out) good = fclose(out) == 0 && good;
    free(payload);
    if (!good) fail("cannot write %s: %s", path, errno ? strerror(errno) : "the program cannot be copied");
    return good;
}

/* ---- finding ---- */

static BundleState read_bundle(int fd, uint8_t **payload, size_t *length) {
    struct stat status;
    Trailer t;
    uint64_t extent = program_extent(fd);
    if (!extent || fstat(fd, &status) != 0 || (uint64_t)status.st_size <= extent) return BUNDLE_NONE;
    uint64_t behind = (uint64_t)status.st_size - extent;
    if (behind < sizeof t || pread(fd, &t, sizeof t, status.st_size - (off_t)sizeof t) != (ssize_t)sizeof t)
        return BUNDLE_DAMAGED;
    if (memcmp(t.magic, MAGIC, sizeof MAGIC) != 0 || t.program != extent || t.length != behind - sizeof t)
        return BUNDLE_DAMAGED;
    *length = (size_t)t.length;
    *payload = malloc(*length + 1);
    if (*payload && pread(fd, *payload, *length, (off_t)extent) == (ssize_t)*length &&
        checksum(*payload, *length) == t.checksum)
        return BUNDLE_FOUND;
    free(*payload);
    return BUNDLE_DAMAGED;
}

BundleState bundle_find(uint8_t **payload, size_t *length) {
    int fd = open(SELF, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return BUNDLE_NONE;
    BundleState state = read_bundle(fd, payload, length);
    close(fd);
    return state;
}

/* ---- running ---- */

typedef struct {
    const uint8_t *at, *end;
    bool failed;
} Reader;

static uint64_t get_number(Reader *r, size_t bytes) {
    uint64_t n = 0;
    if (r->failed || (size_t)(r->end - r->at) < bytes) return r->failed = true, 0;
    memcpy(&n, r->at, bytes);
    r->at += bytes;
    return n;
}

static const uint8_t *get_bytes(Reader *r, uint64_t length) {
    if (r->failed || (uint64_t)(r->end - r->at) < length) return r->failed = true, NULL;
    r->at += length;
    return r->at - length;
}

/* A copy that ends in NUL; NULL: malformed. */
static char *get_text(Reader *r) {
    uint64_t length = get_number(r, 4);
    const uint8_t *bytes = get_bytes(r, length);
    char *text = bytes ? malloc(length + 1) : NULL;
    if (!text) return r->failed = true, NULL;
    memcpy(text, bytes, length);
    text[length] = 0;
    return text;
}

static bool load_module(bt_vm *vm, Reader *r) {
    char reason[512] = "the file is malformed";
    char *name = get_text(r);
    uint64_t length = get_number(r, 8);
    const uint8_t *image = get_bytes(r, length);
    BcUnit *unit = image ? bc_decode(NULL, image, (size_t)length, reason, sizeof reason) : NULL;
    bool good = unit && front_define(vm, unit, reason, sizeof reason);
    if (!good) fail("module '%s' cannot be loaded: %s", name ? name : "?", reason);
    free(name);
    return good;
}

int bundle_run(const uint8_t *payload, size_t length, int argc, char **argv) {
    Reader r = {payload, payload + length, false};
    CommonOptions options = {.signals = signals_start()};
    bt_vm *vm = start_vm(&options);
    bt_session *session = start_session(vm);
    char *entry = get_text(&r);
    bool good = session && entry;
    for (uint64_t left = get_number(&r, 4); left > 0 && good; left--) good = load_module(vm, &r);
    int code = good ? run_entry_in(vm, session, entry, argv + 1, argc - 1) : 1;
    free(entry);
    bt_session_free(session);
    stop_vm(&options, vm);
    return signals_finish(options.signals, code);
}
