/* SPDX-License-Identifier: BSD-3-Clause */
/* words.c - reads words of an argument list or a shell's text, and writes a line to type. */
#include "resolve/command.h"

static bool is_operator(char c)
{
    return c == ';' || c == '&' || c == '|' || c == '(' || c == ')' || c == '\n';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || is_operator(c);
}

/* Return the end of the quotes, $(...), <(...), A=(...) or ${...} that a character begins inside a piece that `closer`
 * ends, or 0. */
static char closer_of(char before, char c, char closer)
{
    bool is_text = closer == '"';

    if (closer == '\'')
        return '\0';
    if (c == '"' || c == '`' || (c == '\'' && !is_text))
        return c;
    if (c == '{' && before == '$')
        return '}';
    if (c == '(' && (before == '$' || closer == ')' || (!is_text && (before == '<' || before == '>' || before == '='))))
        return ')';
    return '\0';
}

/* Return the length of the first word: blanks in quotes and in $(...) are part of it. */
static size_t word_length(struct rc_str text)
{
    enum { DEEPEST = 16 };
    char closers[DEEPEST];
    unsigned depth = 0;

    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        char before = i ? text.p[i - 1] : '\0';
        char closer = depth ? closers[depth - 1] : '\0';
        char next = closer_of(before, c, closer);

        if (c == '\\' && closer != '\'')
            i++;
        else if (depth && c == closer)
            depth--;
        else if (next && depth < DEEPEST)
            closers[depth++] = next;
        else if (!depth && is_blank(c) && !(c == '&' && (before == '<' || before == '>')))
            return i;
    }
    return text.n;
}

struct rc_str rc_word_unquote(struct rc_str word)
{
    char quote = word.n > 1 ? word.p[0] : '\0';
    struct rc_str inside = { word.p + 1, word.n - 2 };
    struct rc_str rest;

    if ((quote != '"' && quote != '\'') || word.p[word.n - 1] != quote)
        return word;
    rc_str_split(inside, quote, &rest);
    return rest.p ? word : inside;
}

static struct rc_str after(struct rc_str text, size_t n)
{
    return (struct rc_str){ text.p + n, text.n - n };
}

/* Skip blanks, operators, comments and continued line ends. */
static struct rc_str skip_blanks(struct rc_str text, bool *has_operator)
{
    struct rc_str rest;

    while (text.n) {
        if (rc_str_starts(text, "\\\n")) {
            text = after(text, 2);
        } else if (*text.p == '#') {
            text = after(text, rc_str_split(text, '\n', &rest).n);
        } else if (is_blank(*text.p)) {
            *has_operator = *has_operator || is_operator(*text.p);
            text = after(text, 1);
        } else {
            break;
        }
    }
    return text;
}

bool rc_words_next(struct rc_words *words, struct rc_str *word)
{
    words->starts_command = false;
    *word = RC_ABSENT;
    if (words->left == 0)
        return false;
    words->left--;
    if (words->argv) {
        if (!*words->argv)
            return false;
        *word = rc_str(*words->argv++);
        return true;
    }
    words->line = skip_blanks(words->line, &words->starts_command);
    *word = (struct rc_str){ words->line.p, word_length(words->line) };
    words->line = after(words->line, word->n);
    *word = word->n ? rc_word_unquote(*word) : RC_ABSENT;
    return word->p;
}

bool rc_command_is_named(struct rc_str option, const char *names)
{
    struct rc_str rest = rc_str(names);

    while (rest.p) {
        struct rc_str name = rc_str_split(rest, '|', &rest);
        size_t same = 0;

        while (same < name.n && same < option.n &&
               (name.p[same] == option.p[same] || (name.p[same] == '_' && option.p[same] == '-')))
            same++;
        if (same == name.n && same == option.n)
            return true;
    }
    return false;
}

bool rc_command_has(const char *const *argv, const char *names)
{
    struct rc_str value;

    for (; *argv; argv++)
        if (rc_command_is_named(rc_str_split(rc_str(*argv), '=', &value), names))
            return true;
    return false;
}

/* UNTYPED: double quotes do not stop expansion, or the word would end the caller's single quotes. */
enum quoting { PLAIN, IN_QUOTES, UNTYPED };

static enum quoting quoting_of(struct rc_str word)
{
    enum quoting quoting = word.n ? PLAIN : IN_QUOTES;

    for (size_t i = 0; i < word.n; i++) {
        char c = word.p[i];

        if (!rc_is_printable(c) || c == '"' || c == '\'' || c == '$' || c == '`' || c == '\\' || c == '!')
            return UNTYPED;
        if (!rc_is_in_name(c) && c != '/' && c != '=' && c != ':' && c != ',' && c != '+' && c != '@')
            quoting = IN_QUOTES;
    }
    return quoting;
}

const char *rc_command_write(const char *const *argv, const char *without, struct rc_str script, struct rc_arena *arena)
{
    enum { LINE_MAX = 200 };
    const char *line = rc_format(arena, "%s", argv[0]);
    size_t length = rc_str(argv[0]).n;
    bool is_found = !without;
    bool is_before = without;

    for (argv++; *argv; argv++) {
        struct rc_str word = rc_str(*argv);
        enum quoting quoting = length + word.n < LINE_MAX ? quoting_of(word) : UNTYPED;
        struct rc_str value;

        is_before = is_before && *argv != script.p;
        if (is_before && rc_command_is_named(rc_str_split(word, '=', &value), without)) {
            is_found = true;
            /* an empty variable left no word; the next is another option or the script */
            if (!value.p && argv[1] && argv[1][0] != '-' && !rc_str_ends(rc_str(argv[1]), ".py"))
                argv++;
            continue;
        }
        rc_join(arena);
        if (quoting == UNTYPED) {
            rc_format(arena, " ...");
            break;
        }
        rc_format(arena, quoting == PLAIN ? " %pS" : " \"%pS\"", &word);
        length += word.n + 1;
    }
    return is_found ? line : NULL;
}
