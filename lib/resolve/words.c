/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/words.h"

static bool operator_character(char c)
{
    return c == ';' || c == '&' || c == '|' || c == '(' || c == ')' || c == '\n' || c == '`';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '"' || c == '\'' || operator_character(c);
}

bool rc_words_next(struct rc_words *words, struct rc_str *word)
{
    words->starts_command = false;
    if (words->left == 0)
        return false;
    words->left--;
    if (words->argv) {
        if (!*words->argv)
            return false;
        *word = rc_str(*words->argv++);
        return true;
    }
    for (; words->line.n && is_blank(*words->line.p);
         words->line = (struct rc_str){ words->line.p + 1, words->line.n - 1 })
        if (operator_character(*words->line.p))
            words->starts_command = true;
    word->p = words->line.p;
    for (word->n = 0; word->n < words->line.n && !is_blank(word->p[word->n]);)
        word->n++;
    words->line = (struct rc_str){ words->line.p + word->n, words->line.n - word->n };
    return word->n > 0;
}
