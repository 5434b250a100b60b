#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# loader.bats - what the dynamic loader makes of LD_PRELOAD: programs that are not reached, of other sizes and
# rights, and the shim more than once, late, or beside others.

load helper

setup_file()
{
    need_preload
    gcc -O2 -o "$bin/probe" "$here/programs/probe.c"
    gcc -O2 -Wall -Wextra -Werror -o "$bin/drop" "$here/programs/drop.c"
    static_program gcc -static
    static_program gcc -static-pie -fPIE
    static_program musl-gcc -static
    gcc -shared -fPIC -pthread -o "$bin/busy.so" "$here/programs/busy.c"
    gcc -m32 -o "$bin/probe-32" "$here/programs/probe.c"
    gcc -m32 -static -o "$bin/probe-32-static" "$here/programs/probe.c"
    build_32
}

# static_program COMPILER OPTION...: probe, and become, which is another program at once
static_program()
{
    "$@" -o "$bin/probe-$1$2" "$here/programs/probe.c"
    "$@" -o "$bin/become-$1$2" -x c - <<'C'
#include <unistd.h>
extern char **environ;
int main(int argc, char **argv) { return argc < 2 || execve(argv[1], argv + 1, environ); }
C
    is_static "$bin/probe-$1$2"
    is_static "$bin/become-$1$2"
}

# As a user builds it for his 32-bit programs.
build_32()
{
    mkdir "$bin/build-32"
    (cd "$bin/build-32" && "$top/configure" CC="gcc -m32" CFLAGS=-O1 --enable-werror &&
        make shim/librollcall-preload.la) > "$bin/build-32.log" 2>&1 || {
        tail -n 20 "$bin/build-32.log"
        return 1
    }
}

preload_32=$bin/build-32/shim/.libs/librollcall-preload.so

@test "static programs, position independent or not, glibc and musl: not reached, and run" {
    local program
    for program in "$bin"/probe-*-static*; do
        run -0 --separate-stderr in_task RANK=9 "$program" RANK LOCAL_RANK
        [ -z "$stderr" ]
        expect RANK=9
        [[ $output != *LOCAL_RANK* ]]
    done
}

@test "what a static program becomes, or starts, is reached" {
    local program
    for program in "$bin"/become-*; do
        run -0 in_task RANK=9 "$program" "$bin/probe" "${names[@]}"
        expect "${identity[@]}"
    done
}

@test "a 32-bit program beside the 64-bit shim: one line by the loader, and it runs" {
    run -0 --separate-stderr in_task RANK=9 "$bin/probe-32" RANK LOCAL_RANK
    expect RANK=9
    [[ $output != *LOCAL_RANK* ]]
    [[ $stderr == *"wrong ELF class"* ]]
    [ "${#stderr_lines[@]}" -eq 1 ]
    run --separate-stderr in_task RANK=9 "$bin/probe-32-static" RANK
    expect RANK=9
    [ -z "$stderr" ]
}

@test "what a 32-bit program starts is reached again" {
    run -0 --separate-stderr in_task RANK=9 sh -c "env -u ROLLCALL_SCOPE $bin/probe-32 RANK; $bin/probe ${names[*]}"
    [ "${lines[0]}" = "getenv RANK=3" ]
    output=${output#*$'\n'*$'\n'*$'\n'}
    expect "${identity[@]}"
}

@test "a 32-bit build of the shim: the same identity, with \$LIB one value of LD_PRELOAD for both" {
    local libraries=$BATS_TEST_TMPDIR
    run -0 in_task RANK=9 LD_PRELOAD="$preload_32" "$bin/probe-32" "${names[@]}" ROLLCALL_SCOPE
    expect "${identity[@]}"
    expect "ROLLCALL_SCOPE=slurm:42.7/3/worker/$(sed -n 's/^getenv MASTER_PORT=//p' <<< "$output") =3/4/1/2/1"
    # what it stands for differs between distributions
    install -D "$preload_32" "$libraries/$(lib_of "$bin/probe-32")/librollcall-preload.so"
    install -D "$preload" "$libraries/$(lib_of "$bin/probe")/librollcall-preload.so"
    for program in probe probe-32; do
        run -0 --separate-stderr in_task RANK=9 LD_PRELOAD="$libraries/\$LIB/librollcall-preload.so" \
            "$bin/$program" "${names[@]}"
        [ -z "$stderr" ]
        expect "${identity[@]}"
    done
}

# The folder that the loader of this program puts for $LIB.
lib_of()
{
    strace -e trace=openat -E LD_PRELOAD='/nonexistent/$LIB/x.so' "$1" 2>&1 | sed -n 's,.*"/nonexistent/\(.*\)/x.so".*,\1,p'
}

@test "a 32-bit build has no system calls: RANK 0 gets its identity, holds no port, says nothing" {
    grep -q '^  preload library   yes, without system calls$' "$bin/build-32.log"
    run -0 --separate-stderr in_task LD_PRELOAD="$preload_32" "${rank_0[@]}" ROLLCALL_DEBUG=2 "$bin/probe-32" RANK LOCAL_RANK
    [ -z "$stderr" ]
    expect RANK=0 LOCAL_RANK=0
    run in_task LD_PRELOAD="$preload_32" "${rank_0[@]}" "$bin/probe-32" MASTER_PORT
    port=$(sed -n 's/^getenv MASTER_PORT=//p' <<< "$output")
    [ "$port" -ge 1024 ]
    # it is free while that program runs
    strace -f -e trace=socket,bind -o "$BATS_TEST_TMPDIR/trace" env -i "${task_environment[@]}" "${rank_0[@]}" \
        LD_PRELOAD="$preload_32" "$bin/probe-32" 2> /dev/null
    [ "$(grep -c 'socket(' "$BATS_TEST_TMPDIR/trace")" -eq 0 ]
}

@test "a 32-bit build cannot say an error, so it leaves that to the 64-bit programs that it starts" {
    prints '' in_task LD_PRELOAD="$preload_32" SLURM_LOCALID=7 "$bin/probe-32" RANK ROLLCALL_REPORTED
}

# A set-uid program needs a folder that is not mounted nosuid, and a user who may look into it.
privileged()
{
    [ "$(id -u)" -eq 0 ] || skip "only root can make a set-uid program"
    suid=$(mktemp -d /var/tmp/rollcall-suid.XXXXXX)
    chmod 755 "$suid"
    cp "$bin/drop" "$bin/probe" "$preload" "$suid"
    chmod 755 "$suid"/*
}

teardown()
{
    [ -z "${suid:-}" ] || rm -r "$suid"
}

# As nobody, in the task.
as_nobody()
{
    run --separate-stderr setpriv --reuid=65534 --regid=65534 --clear-groups \
        env -i "${task_environment[@]}" "${rank_0[@]}" RANK=9 "$@"
}

@test "set-uid and set-gid programs: not reached and no line, nor is what they start (the loader drops LD_PRELOAD)" {
    local mode
    privileged
    for mode in 4755 2755; do
        chmod "$mode" "$suid/drop"
        as_nobody LD_PRELOAD="$suid/librollcall-preload.so" "$suid/drop" "$suid/probe" RANK LOCAL_RANK LD_PRELOAD
        [ "$status" -eq 0 ]
        [ "${lines[0]}" = "secure 1, RANK=9" ]
        [ -z "$stderr" ]
        expect RANK=9
        [[ $output != *LOCAL_RANK* && $output != *LD_PRELOAD* ]]
    done
    # the other way round: the same program without the bit is reached, and so is what it starts
    chmod 755 "$suid/drop"
    as_nobody LD_PRELOAD="$suid/librollcall-preload.so" "$suid/drop" "$suid/probe" RANK LOCAL_RANK
    [ "${lines[0]}" = "secure 0, RANK=0" ]
    expect RANK=0 LOCAL_RANK=0
}

@test "a program with file capabilities, as ping is: not reached and no line" {
    privileged
    setcap cap_net_raw+ep "$suid/drop"
    as_nobody LD_PRELOAD="$suid/librollcall-preload.so" "$suid/drop" "$suid/probe" RANK LOCAL_RANK
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = "secure 1, RANK=9" ]
    [ -z "$stderr" ]
    expect RANK=9
}

# Not the whole of /etc, in which other layers may install packages.
site_etc()
{
    mkdir "$suid/etc"
    cp -a /etc/ld.so.cache /etc/passwd /etc/group "$suid/etc"
}

# in_site CMD...: as nobody, with $suid/etc for /etc, which nobody else sees
in_site()
{
    run --separate-stderr unshare --mount --propagation private sh -c \
        'mount --bind "$0/etc" /etc && shift 0 && exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"' \
        "$suid" env -i "${task_environment[@]}" "${rank_0[@]}" RANK=9 "$@"
}

@test "set-uid programs where a site has put the shim into /etc/ld.so.preload: it is there, and does nothing" {
    privileged
    site_etc
    echo "$suid/librollcall-preload.so" > "$suid/etc/ld.so.preload"
    in_site "$suid/probe" RANK LOCAL_RANK
    [ "$status" -eq 0 ]
    expect RANK=0 LOCAL_RANK=0
    chmod 4755 "$suid/drop"
    # without the stamp of env, so that the set-uid program is the first one to be reached
    in_site env -u ROLLCALL_SCOPE RANK=9 "$suid/drop" /bin/true
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = "secure 1, RANK=9" ]
    # nor is it bound as a launcher's worker (pins.bats)
    worker=(ROLLCALL_SCOPE=slurm:42.7/0/launcher/29500 TORCHELASTIC_RUN_ID=42.7 RANK=0 LOCAL_RANK=0 LOCAL_WORLD_SIZE=1
        ROLLCALL_PINS="$(taskset -cp $$ | sed 's/.*: //')")
    in_site "${worker[@]}" "$suid/probe" ROLLCALL_PINNED
    expect ROLLCALL_PINNED=0
    chmod 4755 "$suid/probe"
    in_site "${worker[@]}" "$suid/probe" ROLLCALL_PINNED
    [ "$status" -eq 0 ]
    [ -z "$output" ]
}

@test "a set-uid program whose environment another library has moved before the shim looks" {
    privileged
    gcc -shared -fPIC -o "$suid/mover.so" -x c - <<'C'
extern char **environ;
static char *copy[256];
__attribute__((constructor)) static void move(void)
{
    for (int i = 0; i < 255 && environ[i]; i++)
        copy[i] = environ[i];
    environ = copy;
}
C
    site_etc
    # what is loaded last begins first
    printf '%s\n' "$suid/librollcall-preload.so" "$suid/mover.so" > "$suid/etc/ld.so.preload"
    in_site "$suid/probe" RANK LOCAL_RANK
    [ "$status" -eq 0 ]
    expect RANK=0 LOCAL_RANK=0
    in_site env -u ROLLCALL_SCOPE RANK=9 "$suid/drop" /bin/true
    [ "${lines[0]}" = "secure 0, RANK=0" ]
    for bit in 4755 2755; do
        chmod "$bit" "$suid/drop"
        in_site env -u ROLLCALL_SCOPE RANK=9 "$suid/drop" /bin/true
        [ "${lines[0]}" = "secure 1, RANK=9" ]
    done
}

@test "the shim twice, by two names or as two copies: one identity, one port, said once" {
    cp "$preload" "$BATS_TEST_TMPDIR/other-version.so"
    ln -s "$preload" "$BATS_TEST_TMPDIR/link.so"
    for list in "$preload:$preload" "$preload:$BATS_TEST_TMPDIR/link.so" "$BATS_TEST_TMPDIR/other-version.so:$preload"; do
        run -0 --separate-stderr in_task "${rank_0[@]}" LD_PRELOAD="$list" ROLLCALL_DEBUG=1 \
            bash -c "ls -l /proc/\$\$/fd | grep -c socket; exec $bin/probe RANK WORLD_SIZE"
        [ "${lines[0]}" = 1 ]
        expect RANK=0 WORLD_SIZE=4
        [ "$(grep -c 'rollcall: launcher' <<< "$stderr")" -eq 1 ]
    done
}

@test "loaded late, by dlopen: the program's environment and that of its children" {
    run -0 in_task LD_PRELOAD= RANK=9 python3 -c '
import ctypes, os, subprocess, sys
os.environ["LATER"] = "1"
ctypes.CDLL(sys.argv[1])
getenv = ctypes.CDLL(None).getenv
getenv.restype = ctypes.c_char_p
print(getenv(b"RANK"), getenv(b"LATER"), os.environ["RANK"])
sys.stdout.flush()
os.execv(sys.argv[2], sys.argv[2:])' "$preload" "$bin/probe" "${names[@]}" LATER
    [ "${lines[0]}" = "b'3' b'1' 9" ]
    expect "${identity[@]}" LATER=1
}

@test "another library's threads read the environment while the shim changes it" {
    local order
    for order in "$bin/busy.so:$preload" "$preload:$bin/busy.so"; do
        for _ in 1 2 3 4; do
            run -0 in_task RANK=9 PET_NNODES=1 LD_PRELOAD="$order" "$bin/probe" "${names[@]}"
            expect "${identity[@]}"
        done
    done
}

@test "a user's LD_LIBRARY_PATH, LD_BIND_NOW, LD_DEBUG and a library of the same name change nothing" {
    echo 'int environ_of_another;' | gcc -shared -fPIC -x c -o "$BATS_TEST_TMPDIR/librollcall-preload.so" -
    for more in LD_BIND_NOW=1 LD_LIBRARY_PATH="$BATS_TEST_TMPDIR" LD_DEBUG=statistics GLIBC_TUNABLES=glibc.rtld.optional_static_tls=0; do
        run -0 in_task RANK=9 "$more" "$bin/probe" "${names[@]}"
        expect "${identity[@]}"
    done
}
