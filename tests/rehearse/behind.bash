# SPDX-License-Identifier: BSD-3-Clause
# behind.bash - scripts behind the wall, without the director of `rollcall rehearse`.

# shellcheck disable=SC1083,SC2034,SC2093,SC2154 # of coproc, and what the tests read

load ../cli/helper

libexec=$prefix/libexec/rollcall

# Folders that other users enter: the script is $base/script.sh and works in $home. The rehearsal's is $scratch.
setup()
{
    PATH=/usr/local/bin:/usr/bin:/bin
    base=$(mktemp -d /var/tmp/rollcall-base.XXXXXX)
    home=$base/home
    mkdir "$home"
    chmod 755 "$base"
    user=()
    cd "$home" || return 1
}

teardown()
{
    cd / && rm -rf "$base" "${scratch:-/nowhere}"
}

# Nobody runs what follows, if root does the tests.
be_user()
{
    [ "$EUID" -ne 0 ] || user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    [ "$EUID" -ne 0 ] || chown -hR 65534:65534 "$home"
}

# behind [OPTION...] < SCRIPT: bash runs the script behind the wall. Its output is `output`, what the stand-ins were is
# $requests, the exit status $status, its errors are $errors.
behind()
{
    local recorder
    scratch=$("${user[@]}" mktemp -d /var/tmp/rollcall-scratch.XXXXXX)
    requests=$scratch/requests errors=$scratch/errors
    cat > "$base/script.sh"
    coproc recorder { exec "${user[@]}" python3 "$BATS_TEST_DIRNAME/recorder.py" "$scratch" 3>&- > "$scratch/requests"; }
    until [ -S "$scratch/socket" ]; do
        kill -0 "$recorder_PID" || return 1
        sleep 0.02
    done
    status=0
    output=$("${user[@]}" env -u BASH_ENV ROLLCALL_REHEARSAL_WHO=batch "$libexec/rollcall-rehearse" wall "$@" "$scratch" \
        -- bash "$base/script.sh" 2> "$scratch/errors" < /dev/null) || status=$?
    exec {recorder[1]}>&-
    wait "$recorder_PID" || true
    printf '%s\n' "$output" "-- errors, requests:" > "$scratch/all"
    cat "$scratch/errors" "$scratch/requests" >> "$scratch/all"
    cat "$scratch/all"
}

# is_output LINE...: what the script printed, and nothing else
is_output()
{
    diff <(printf '%s\n' "$@") <(printf '%s\n' "$output")
}
