/* Judges tokens only: no parsing, so that half an input costs nothing and reports nothing. */
#include "compiler/input_complete.h"

#include <string.h>
#include "compiler/lexer.h"

typedef struct {
    int64_t brackets, parens, braces, angles; /* openers minus closers */
    bool unterminated;
    bool subclass, arrow_outside, protocol;
} Tally;

static bool is_text(const Token *token, const char *text) {
    return token->name && strcmp(token->name, text) == 0;
}

static void count_token(Tally *tally, const Token *token, const Token *next) {
    switch (token->kind) {
    case TOK_LBRACKET:
    case TOK_ARRAY_OPEN: tally->brackets++; break;
    case TOK_RBRACKET: tally->brackets--; break;
    case TOK_LPAREN:
    case TOK_LIST_OPEN: tally->parens++; break;
    case TOK_RPAREN: tally->parens--; break;
    case TOK_LBRACE:
    case TOK_MAP_OPEN: tally->braces++; break;
    case TOK_RBRACE: tally->braces--; break;
    case TOK_LTLT: tally->angles++; break;
    case TOK_GTGT: tally->angles--; break;
    case TOK_ERROR: tally->unterminated |= (token->flags & TOK_UNTERMINATED) != 0; break;
    case TOK_KEYWORD: tally->subclass |= is_text(token, "subclass:"); break;
    case TOK_IDENT:
        tally->protocol |=
            is_text(token, "Protocol") && next->kind == TOK_KEYWORD && is_text(next, "define:");
        break;
    case TOK_FAT:
        tally->arrow_outside |= tally->brackets <= 0 && tally->parens <= 0 && tally->braces <= 0;
        break;
    default: break;
    }
}

/* Tokens after which more must come. */
static bool wants_more(TokenKind kind) {
    switch (kind) {
    case TOK_KEYWORD:
    case TOK_BINOP:
    case TOK_COMMA:
    case TOK_ARROW:
    case TOK_GTGT:
    case TOK_ASSIGN:
    case TOK_SEMI:
    case TOK_CARET: return true;
    default: return false;
    }
}

static InputState judge(const TokenList *tokens) {
    Tally tally = {0};
    uint32_t count = tokens->count;
    if (count < 2) return INPUT_COMPLETE; /* nothing but EOF, or no memory: let the parser say so */
    for (uint32_t i = 0; i + 1 < count; i++) count_token(&tally, &tokens->items[i], &tokens->items[i + 1]);
    bool open = tally.brackets > 0 || tally.parens > 0 || tally.braces > 0 || tally.angles > 0;
    if (open || tally.unterminated || wants_more(tokens->items[count - 2].kind)) return INPUT_INCOMPLETE;
    return (tally.subclass && !tally.arrow_outside) || tally.protocol ? INPUT_OPEN_DEFINITION
                                                                      : INPUT_COMPLETE;
}

InputState input_state(const char *text, size_t length) {
    if (length > SOURCE_MAX_BYTES) return INPUT_COMPLETE;
    Arena arena;
    Intern intern;
    TokenList tokens = {0};
    arena_init(&arena, NULL);
    InputState state = INPUT_COMPLETE;
    if (intern_init(&intern, &arena)) {
        lexer_run(text, (uint32_t)length, &intern, &tokens);
        state = judge(&tokens);
    }
    lexer_free_tokens(&tokens);
    intern_free(&intern);
    arena_free(&arena);
    return state;
}
