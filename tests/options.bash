# SPDX-License-Identifier: BSD-3-Clause
# options.bash - the rows of lib/resolve/options.def, for tests that compare texts with them. $top is the tree.
# shellcheck disable=SC2154 # $top comes from helper.bash

# option_rows MACRO FIELD...: one row a line, with tabs between its fields. Where the table cannot be read, one that no
# text has, so that a test fails whose loop would have nothing to do.
option_rows()
{
    local table
    table=$(printf '#define ROLLCALL_%s row %s\n#include "resolve/options.def"\n' "$1" "$2" |
        gcc -E -P -I "$top/lib" -xc -) || table='row "options.def cannot be read"'
    sed -n 's/^row "\(.*\)"$/\1/; T; s/" "/\t/g; p' <<< "$table"
}

# word, help
option_modes()
{
    option_rows 'MODE(word, help)' 'word help'
}

# key, shape, values, help, section
option_keys()
{
    option_rows 'KEY(key, shape, values, read, member, last, help, section)' '#key #shape values help section'
}
