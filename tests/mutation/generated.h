/* Programs of the property test, for the mutation test: apart, because the names of the two worlds collide.
 */
#ifndef BT_TEST_GENERATED_H
#define BT_TEST_GENERATED_H

#include <stdint.h>

typedef struct Generated Generated;

void generated_begin(uint64_t seed);
void generated_end(void);
/* The program of an index, and in *wanted what it answers by the rules; NULL: they refuse it, or do not model
 * all of it. */
Generated *generated_new(uint64_t seed, uint64_t index, char **wanted);
void generated_free(Generated *g);
/* What it answers in the VM, written as *wanted is. */
char *generated_answer(const Generated *g);
/* Source of the classes that all these programs use. */
const char *generated_prelude(void);

#endif
