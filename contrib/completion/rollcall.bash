# SPDX-License-Identifier: BSD-3-Clause
# rollcall.bash - what bash completes behind `rollcall`; loaded by bash-completion, or by hand: `. rollcall.bash`.
# tests/cli/completion.bats compares it with --help, the manual page and lib/resolve/option.def.

# shellcheck shell=bash

# Completes behind --ddp=: a mode or a key first, then keys with their values, with commas between them.
_rollcall_ddp()
{
    local text=${1#--ddp=} before=--ddp=
    local -a words=(auto worker launcher off)

    if [[ $text == *,* ]]; then
        before+=${text%,*},
        text=${text##*,}
        words=()
    fi
    case $text in
        addr=*) before+=addr= words=(given) ;;
        order=*) before+=order= words=(launcher node topology) ;;
        exchange=*) before+=exchange= words=(auto pmix srun off) ;;
        check=*) before+=check= words=(off warn stop strict) ;;
        same=*) before+=same= words=(off warn stop) ;;
        watch=*) before+=watch= words=(on off) ;;
        guard=*) before+=guard= words=(nccl off) ;;
        gpus=*) before+=gpus= words=(auto all own) ;;
        bind=*) before+=bind= words=(auto cores numa none) ;;
        nic=*) before+=nic= words=(auto none) ;;
        lookup=*) before+=lookup= words=(system numeric) ;;
        *=*) words=() ;;
        *)
            words+=(order= nproc= addr= port= exchange= check= same= deadline= watch watch= guard= gpus= bind=
                nic= lookup=)
            ;;
    esac
    candidates=("${words[@]/#/$before}")
}

_rollcall()
{
    local line=${COMP_LINE:0:COMP_POINT} current previous first=1 i
    local -a words candidates=()

    read -ra words <<< "$line"
    [[ $line != *[[:space:]] ]] || words+=("")
    current=${words[-1]}
    previous=${words[-2]-}
    COMPREPLY=()

    # behind -- or exec's options it is another command
    for ((i = 2; i < ${#words[@]} - 1; i++)); do
        case ${words[i]} in
            --) first=$((i + 1)) && break ;;
            -*) ;;
            *) [ "${words[1]}" != exec ] || first=$i && break ;;
        esac
    done
    case ${words[1]} in exec | show | explain | doctor) ;; *) first=1 ;; esac
    if ((first > 1)) || [[ ${words[1]} == exec && ${#words[@]} -gt 2 && $current != -* ]]; then
        ((first > 1)) || first=$((${#words[@]} - 1))
        if ((first < ${#words[@]} - 1)); then
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
            compopt -o filenames 2> /dev/null
        else
            mapfile -t COMPREPLY < <(compgen -c -- "$current")
        fi
        return
    fi

    case $current,$previous in
        --ddp=*) _rollcall_ddp "$current" ;;
        --from=* | --xml=* | --script=*)
            mapfile -t candidates < <(compgen -P "${current%%=*}=" -f -- "${current#*=}")
            ;;
        *,--from | *,--xml | *,--script)
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
            compopt -o filenames 2> /dev/null
            return
            ;;
        *,--pid) candidates=(/proc/[0-9]*) candidates=("${candidates[@]#/proc/}") ;;
        *,--tasks | *,--gpus | *,--cpus) return ;;
        *)
            case ${#words[@]},${words[1]} in
                2,*) candidates=(exec show explain check map doctor --help --version) ;;
                *,exec) candidates=(--ddp --ddp= --verbose --help) ;;
                *,show) candidates=(--from --pid --ddp --ddp= --json --long --help --) ;;
                *,explain)
                    candidates=(--from --pid --ddp --ddp= --json --list --help --)
                    [[ $current == -* ]] || mapfile -t candidates < <("$1" explain --list 2> /dev/null | cut -d' ' -f1)
                    ;;
                *,check) candidates=(--pid --exclude --json --html --help) ;;
                *,doctor)
                    candidates=(--script --json --help --)
                    [[ $current == -* ]] || mapfile -t candidates < <(compgen -f -- "$current")
                    ;;
                *,map) candidates=(--tasks --gpus --cpus --from --json --xml --help) ;;
            esac
            ;;
    esac
    for i in "${candidates[@]}"; do
        [[ $i != "$current"* ]] || COMPREPLY+=("$i")
    done
    [[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2> /dev/null
    # for readline the word begins behind the last =
    if [[ $COMP_WORDBREAKS == *=* && $current == *=* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"${current%=*}="}")
    fi
}

complete -F _rollcall rollcall
