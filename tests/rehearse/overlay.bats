#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The overlay: what a script writes is there for its later lines, and not outside. Each script of these tests runs twice:
# for real in a folder of its own, and behind the wall, with the same output.

load behind

# same: the script on standard input, with what is in before/, prints the same for real and behind the wall
same()
{
    local script real
    script=$(echo 'exec 2>&1'; cat)
    cp -a before "$base/real"
    cp -a before/. .
    rm -r before
    real=$(cd "$base/real" && bash -c "$script" real) || true
    behind <<< "$script"
    diff <(sed "s|$base/real|$home|g; s/^real: /script.sh: /" <<< "$real") <(sed "s|^$base/script.sh|script.sh|" <<< "$output")
}

@test "files: -> write, append, read, list, rename, link, remove" {
    mkdir before
    echo old > before/old
    echo gone > before/gone
    same << 'END'
echo one > new; echo two >> new; cat new; echo more >> old; cat old
cp old copy; mv new moved; ln -s moved link; cat link; readlink link; ln moved hard; cat hard
rm gone; [ -e gone ] || echo gone; ls; echo *; [ -f old ] && [ -s copy ] && [ -L link ] && [ ! -e new ] && echo fine
echo again > gone; cat gone; truncate -s 2 old; cat old; wc -c < old
END
}

@test "folders: -> make, enter, list, copy, move, remove, and make again" {
    mkdir -p before/deep/er
    echo 1 > before/deep/file
    echo 2 > before/deep/er/file
    same << 'END'
mkdir a a/b; cd a/b; pwd; cd ..; ls; cd ..; ls deep; echo 3 > deep/new; ls deep; find deep | sort
cp -r deep copy; find copy | sort; mv deep moved; find . | sort; ls moved/er
rm -r moved; ls; mkdir deep; ls -A deep; echo 4 > deep/4; ls deep; rm -r deep; mkdir -p moved/x; find moved | sort; rmdir moved/x moved; [ -d moved ] || echo no; rm -rf copy a; ls
for i in 1 2 3; do mkdir -p run_$i && echo $i > run_$i/out; done; cat run_*/out; ls -d run_*; rm -rf run_[12]; ls
END
}

@test "tools: -> sed -i, tee, chmod, install, mktemp, find -delete and here documents" {
    mkdir before
    echo 'key=old' > before/conf
    same << 'END'
sed -i s/old/new/ conf; cat conf; echo x | tee t1 t2 > /dev/null; cat t1 t2; touch t3; ls
cat > run.sh << EOF
#!/bin/sh
echo ran \$1
EOF
./run.sh 1 2> /dev/null || echo no; chmod +x run.sh; ./run.sh 2; install -m 755 run.sh other.sh; ./other.sh 3
t=$(mktemp) && echo in > "$t" && cat "$t" && rm "$t"; d=$(mktemp -d) && echo f > "$d/f" && ls "$d"; rm -r "$d"
find . -name 't?' -delete; ls; stat -c %a run.sh; [ -x run.sh ] && echo x
cat <(echo sub); echo to > >(cat); wait; mkfifo p; echo through > p & cat p; exec 4> four; echo 4 >&4; exec 4>&-; cat four
END
}

@test "what fails outside fails here: -> missing, existing, not empty, a folder, no permission" {
    mkdir -p before/full/x
    echo 1 > before/file
    same << 'END'
cat missing; mkdir full; mkdir no/such; rmdir full; rm full; cat full; ls missing; mv missing x; ln -s a file; cp missing x
rm missing; rmdir file; cd file; chmod +x missing; cat file/x; [ -d full/../full/x ] && echo up; : > full
END
}

@test "links: -> to folders and files outside, and through each other" {
    mkdir -p before/target
    echo 1 > before/target/file
    ln -s target before/link
    ln -s loop before/loop
    same << 'END'
echo 2 > link/new; ls target; cat link/file; echo 3 > link/file; cat target/file; ln -s ../target/file target/f2; cat link/f2
cat loop; cd link && pwd && pwd -P && cd .. && ls; rm link; ls target; ln -s target/new deep; echo 5 > deep; cat target/new
END
}

@test "folders of the system: -> /tmp and /dev/shm are overlaid, /dev/null and /dev/fd are not" {
    behind << END
for f in /tmp/rollcall-$$ /dev/shm/rollcall-$$; do echo 1 > \$f; cat \$f; done
echo x > /dev/null; echo err > /dev/stderr; echo out > /dev/fd/1
dash -c 'cat <<EOF
dash
EOF'; mksh -c 'cat <<EOF
mksh
EOF'
END
    is_output 1 1 out dash mksh
    [ ! -e /tmp/rollcall-$$ ]
    [ ! -e /dev/shm/rollcall-$$ ]
}

@test "a missing folder: -> cd and > make it, and note it with its line" {
    behind << 'END'
set -e
cd data/run
pwd
echo 1 > logs/out
cat logs/out
END
    is_output "$home/data/run" 1
    diff "$scratch/notes" - << END
folder	$home/data/run	script.sh:2
folder	$home/data	script.sh:2
folder	$home/data/run/logs	script.sh:4
END
}

@test "a file that its user may not write: -> denied, as outside" {
    echo 1 > file
    mkdir shut
    chmod 555 shut
    be_user
    [ "$EUID" -ne 0 ] || chown root file shut
    chmod 444 file
    behind <<< 'echo 2 > file || echo no; echo 3 > shut/x || echo no; rm shut/y /etc/hostname || echo no; cat file'
    is_output no no no 1
}

@test "a large file: -> appending to it works; it is not copied whole" {
    truncate -s 100M large
    behind <<< 'echo end >> large; tail -n 1 large | tr -d "\0"; rm large; ls'
    is_output end
    [ "$(stat -c %s large)" = 104857600 ]
}
