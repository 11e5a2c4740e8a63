#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# demo.sh - a small Slurm cluster on rented "machines" of this computer; 'stint demo' runs it.
#
# Everything lives in namespaces of its own: network, mounts, processes, host name. Nothing outside is
# changed, nothing but its page can be reached from outside, and when it ends, however it ends, the kernel takes all
# of it away. STINT_BIN (a folder with all programs), STINT_SHARE and STINT_JOB_SUBMIT (the gate) come from 'stint demo'.
# If STINT_DEMO_KEEP names a folder, the logs, the cloud's own bill and the ledger are left there.
set -u

say() { printf '%s\n' "$*"; }

# Everything inside dies with the first process there; the terminal gets back its screen and cursor.
stop() { # stop STATUS
    trap '' INT TERM HUP
    kill -KILL "$child" && wait "$child" 2>/dev/null
    kill "$page" 2>/dev/null && wait "$page" 2>/dev/null
    [ ! -t 1 ] || printf '\033[?25h\033[?1049l'
    say "stint demo: stopped; nothing is left" >&2
    exit "$1"
}

if [ -z "${STINT_DEMO_FOLDER-}" ]; then
    STINT_DEMO_FOLDER=$(mktemp -d "${TMPDIR:-/tmp}/stint-demo.XXXXXX") || exit 1
    export STINT_DEMO_FOLDER
    chmod 755 "$STINT_DEMO_FOLDER"
    trap 'rm -rf "$STINT_DEMO_FOLDER"' EXIT
    # In the background, as bash hears of a signal only between two commands of the foreground.
    setpriv --pdeathsig KILL unshare --net --mount --uts --ipc --pid --fork --kill-child=KILL \
        --propagation private --mount-proc bash "$0" "$@" &
    child=$!
    # Out here, where a browser can reach it. The link goes to the inside, which shows it.
    setpriv --pdeathsig KILL bash -c "until [ -S '$STINT_DEMO_FOLDER/stintd.sock' ]; do sleep 0.2; done
        exec '$STINT' open --socket '$STINT_DEMO_FOLDER/stintd.sock' >'$STINT_DEMO_FOLDER/link' 2>/dev/null" &
    page=$!
    trap 'stop 130' INT
    trap 'stop 143' TERM HUP
    wait "$child"
    status=$?
    kill "$page" 2>/dev/null && wait "$page" 2>/dev/null
    exit "$status"
fi

D=$STINT_DEMO_FOLDER
JOBS=${1:-40}

keep() {
    [ -n "${STINT_DEMO_KEEP-}" ] || return 0
    mkdir -p "$STINT_DEMO_KEEP" && cp "$D"/*.log "$D/cloud.csv" "$STINT_DEMO_KEEP/"
    "$STINT" ledger --by type -o json >"$STINT_DEMO_KEEP/ledger.json"
}

fail() {
    keep
    say "stint demo: $*" >&2
    tail -n 5 "$D"/*.log >&2
    exit 1
}

wait_for() { # wait_for SECONDS COMMAND...
    local end=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.1
    done
}

start() { # start NAME COMMAND...
    local name=$1
    shift
    setsid "$@" >>"$D/$name.log" 2>&1 </dev/null &
}

prepare() {
    mount -t tmpfs tmpfs /run && mount -t tmpfs tmpfs /var/spool &&
        mkdir -p /run/munge /run/stint /var/spool/slurmd "$D/munge" "$D/slurm" "$D/state" "$D/out" ||
        fail "no mounts can be made here"
    chmod 777 "$D/out"
    head -c 128 /dev/urandom >"$D/munge/munge.key" && chmod 600 "$D/munge/munge.key"
    printf '127.0.0.1 localhost\n10.77.0.1 ctl\n' >"$D/hosts"
    : >"$D/resolv.conf"
    sed -e "s|@D@|$D|g" "$STINT_SHARE/demo/slurm.conf" >"$D/slurm/slurm.conf"
    cp "$STINT_JOB_SUBMIT" "$D/slurm/job_submit.lua"
    sed -e "s|@D@|$D|g" -e "s|@SLURM@|$STINT_SLURM|" -e "s|@SHARE@|$STINT_SHARE|" \
        "$STINT_SHARE/demo/stint.conf" >"$D/stint.conf"
    mount --bind "$D/hosts" /etc/hosts && mount --bind "$D/resolv.conf" /etc/resolv.conf &&
        mount --bind "$D/slurm" /etc/slurm && mount --bind "$D/munge" /etc/munge || fail "mounts"
    hostname ctl
    # An address of its own: else the bridge takes that of a machine, which goes.
    ip link set lo up && ip link add slbr0 address 02:00:0a:4d:00:01 type bridge &&
        ip addr add 10.77.0.1/16 dev slbr0 &&
        ip link set slbr0 up || fail "no bridge can be made"
}

bring_up() {
    start munged munged --foreground --key-file=/etc/munge/munge.key --pid-file=/run/munged.pid \
        --seed-file=/run/munged.seed --log-file="$D/munge.log"
    wait_for 10 test -S /run/munge/munge.socket.2 || fail "munged does not start"
    start slurmctld-said slurmctld -D # its own log is slurmctld.log
    wait_for 15 sh -c 'scontrol ping | grep -q " UP"' || fail "slurmctld does not start"
    start cloud "$STINT_CLOUD" --socket "$D/cloud.sock" --catalogue "$STINT_SHARE/demo/catalogue.yaml" \
        --boot "$STINT_SHARE/local/boot-slurm.sh" --state "$D/cloud" --log "$D/cloud.csv" \
        --bridge slbr0 --network 10.77
    wait_for 10 test -S "$D/cloud.sock" || fail "stint-cloud-local does not start"
    start stintd "$STINT_DAEMON" -c "$D/stint.conf"
    wait_for 20 "$STINT" status || fail "stintd does not start"
}

submit() {
    local i cpus
    for ((i = 0; i < JOBS; i++)); do
        cpus=$((1 << (i % 4)))
        sbatch -Q -o /dev/null -D / -t 5 -J "demo$((i % 3))" --mem=$((cpus * 800)) \
            --cpus-per-task="$cpus" --wrap "sleep $((3 + i % 9)); echo >$D/out/\$SLURM_JOB_ID"
    done
    sbatch -Q -o /dev/null -D / -t 5 -J gang --nodes=3 --ntasks-per-node=1 --mem=1000 \
        --wrap "sleep 5; echo >$D/out/\$SLURM_JOB_ID"
    sbatch -Q -o /dev/null -D / -t 5 -J train --gres=gpu:1 --mem=2000 \
        --wrap "sleep 6; echo >$D/out/\$SLURM_JOB_ID"
}

all_done() { [ "$(find "$D/out" -type f | wc -l)" -eq $((JOBS + 2)) ]; }

# How many machines run, by the cloud's own log.
machines() {
    awk -F, '$2 == "running" { up[$3] } $2 == "gone" { delete up[$3] } END { print length(up) }' "$D/cloud.csv"
}

all_returned() { [ "$(machines)" -eq 0 ] && "$STINT" status -o json | grep -q '"open_intents": 0'; }

# Until all is done: the live view on a terminal, a line at each change elsewhere.
watch() {
    local end=$((SECONDS + 300)) top='' now='' before=''
    if [ -t 1 ]; then
        "$STINT" top < <(sleep infinity) & # with no input at all it would end at once
        top=$!
    fi
    until all_done; do
        [ "$SECONDS" -lt "$end" ] || fail "the jobs do not end"
        sleep 1
        now="$(squeue -h -t R | wc -l) jobs run, $(squeue -h -t PD | wc -l) wait, on $(machines) machines"
        [ -n "$top" ] || [ "$now" = "$before" ] || say "$now"
        before=$now
    done
    [ -z "$top" ] || kill -INT "$top" 2>/dev/null
    [ -z "$top" ] || wait "$top" 2>/dev/null
}

# The live view covers what was said before: time to follow the link.
show_page() {
    if wait_for 20 test -s "$D/link"; then
        say "Its page, in a browser on this computer, while this runs: $(cat "$D/link")"
    else
        say "Its page, while this runs, from another terminal: sudo $STINT open --socket $STINT_SOCKET"
    fi
    [ ! -t 1 ] || { say "The live view follows in ten seconds." && sleep 10; }
}

# field NAME: a whole number of the daemon's status.
field() { sed -n "s/^ *\"$1\": \(-\{0,1\}[0-9][0-9]*\),\{0,1\}\$/\1/p" "$D/status.json"; }

# What was saved, and against what.
sum_up() {
    "$STINT" status -o json >"$D/status.json" || fail "no status"
    awk -v bill="$(field bill_microdollars)" -v alone="$(field alone_microdollars)" -v jobs=$((JOBS + 2)) 'BEGIN {
        printf "\nThese %d jobs cost $%.4f, boot and idle time included.\n", jobs, bill / 1e6
        printf "On one machine per task they would have cost $%.4f, minimum charges included.\n", alone / 1e6
        if (alone > 0) printf "%s against that baseline: %.0f %%.\n", bill <= alone ? "Saved" : "Lost", (bill <= alone ? alone - bill : bill - alone) / alone * 100
    }'
    say "On your cluster, 'stint open' shows the daemon's page, and 'stint report --html FILE' writes a page that you can share."
}

export STINT_SOCKET=$D/stintd.sock
say "A Slurm cluster without machines is being brought up in namespaces of this computer."
prepare
bring_up
say "Submitting $((JOBS + 2)) jobs with plain sbatch; Stint rents what they need."
submit
show_page
watch
say "All jobs are done. Each machine is billed for at least one minute and is returned after that."
wait_for 120 all_returned || fail "machines are left"
keep
say "All machines are back. What it cost, by machine type:"
"$STINT" ledger --by type || fail "no ledger"
sum_up
