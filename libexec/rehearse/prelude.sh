# SPDX-License-Identifier: BSD-3-Clause
# prelude.sh - read by each bash of a rehearsal (BASH_ENV) before its script.
#
# Where a command stands goes to the stand-in; commands that change the shell and that no program has are here; a file
# that is to be sourced and is not there is empty.

# shellcheck shell=bash disable=SC2154,SC2089,SC2090
if [ -n "${ROLLCALL_REHEARSAL_BASH_ENV+x}" ]; then
    BASH_ENV=$ROLLCALL_REHEARSAL_BASH_ENV
    unset ROLLCALL_REHEARSAL_BASH_ENV
else
    unset BASH_ENV
fi

command_not_found_handle()
{
    "/rollcall-rehearse/not-found/$1" "${@:2}"
}

module() { :; }
ml() { :; }
conda()
{
    case ${1-} in
        activate | deactivate) ;;
        *) command conda "$@" ;;
    esac
}
mamba() { conda "$@"; }
micromamba() { conda "$@"; }

# The words of `source FILE ARG...` are the script's: expand them there.
ROLLCALL_REHEARSAL_SOURCE='
case $BASH_COMMAND in
    "source "* | ". "*)
        # a substitution runs only once, in the script
        if [[ $BASH_COMMAND != *[\`\(]* ]] && eval "ROLLCALL_REHEARSAL_WORDS=(${BASH_COMMAND#* })" 2> /dev/null &&
            [[ ${ROLLCALL_REHEARSAL_WORDS[0]-} == */* && ! -e ${ROLLCALL_REHEARSAL_WORDS[0]} ]]; then
            { : >> "${ROLLCALL_REHEARSAL_WORDS[0]}"; } 2> /dev/null
        fi ;;
esac'
set -o functrace
# the number is right in the first line of the trap alone
trap 'ROLLCALL_REHEARSAL_LAST=$_; [[ ${BASH_SOURCE[0]-} == */prelude.sh || -z ${BASH_SOURCE[0]-} ]] || { export ROLLCALL_REHEARSAL_AT=${BASH_SOURCE[0]##*/}:$LINENO
    eval "$ROLLCALL_REHEARSAL_SOURCE"
}; : "$ROLLCALL_REHEARSAL_LAST"' DEBUG
