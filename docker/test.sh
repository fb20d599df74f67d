#!/bin/bash
# Builds the images and runs them, without a registry: docker/test.sh [--keep]
#
# The base image is made here by debootstrap, under the name that the Dockerfiles use. Engines are Debian's buildah and
# podman; images and containers lie in a folder of their own, which is deleted at the end. With --keep the images stay, and
# those that are there are not built again. Needs root on Debian 12, 6 GB of disk, and ten minutes: most of them go into the
# build in Rust.
set -euo pipefail
exec 8>&2
say() { printf '\033[1m==> %s\033[0m\n' "$*" >&8; }
die() { printf 'docker/test.sh: %s\n' "$*" >&8; exit 1; }

[ "$(id -u)" = 0 ] || die "needs root: debootstrap, buildah and podman run as root here"
# All mounts are made in a namespace of this script, and go with it.
[ -n "${P4SCHED_IN_NAMESPACE-}" ] || P4SCHED_IN_NAMESPACE=1 exec unshare --mount -- "$0" "$@"
cd "$(dirname "$0")/.."

MAX_LAB_MB=600
FOLDER=/var/tmp/p4sched-images
BASE=$(sed -n 's/^ARG BASE=\([^@]*\).*/\1/p' docker/lab/Dockerfile)
SUITE=bookworm

not_done=(
  "docker itself: podman and podman-compose stand in for it"
  "p4sched/bmv2 and p4sched/onos: they are built on images of p4lang and onosproject, from a registry"
  "limits of cgroups, and networks between containers: the services here have none"
)
checks=0
# passed WHAT: counts a check.
passed() { checks=$((checks + 1)); printf '  ok  %s\n' "$*" >&8; }
# says FILE TEXT WHAT: what a command wrote has this text.
says() { grep -qF -- "$2" "$1" || { cat "$1" >&8; die "$3: nowhere '$2'"; }; passed "$3"; }

keep=
case "$*" in
  '') ;;
  --keep) keep=1 ;;
  *) die "usage: docker/test.sh [--keep]" ;;
esac

export TMPDIR=$FOLDER/tmp
mkdir -p "$TMPDIR"
exec 9>"$FOLDER/lock"
flock -n 9 || die "another docker/test.sh is running"
results=$FOLDER/results

# Where version 1 of cgroups lies beside version 2, crun refuses to start a container. Here it sees version 2 only.
# Containers get no cgroup: there is nothing to limit.
if [ -d /sys/fs/cgroup/unified ]; then
  umount -R /sys/fs/cgroup
  mount -t cgroup2 cgroup2 /sys/fs/cgroup
fi

# overlay where the machine has it: vfs copies a whole image for each container
storage=(--root "$FOLDER/storage" --runroot "$FOLDER/run" --storage-driver)
overlay() {
  mkdir -p "$FOLDER"/overlay/{lower,upper,work,merged}
  mount -t overlay -o "lowerdir=$FOLDER/overlay/lower,upperdir=$FOLDER/overlay/upper,workdir=$FOLDER/overlay/work" \
    overlay "$FOLDER/overlay/merged" 2>/dev/null && umount "$FOLDER/overlay/merged"
}
if overlay; then storage+=(overlay); else storage+=(vfs); fi

engine() { podman "${storage[@]}" --cgroup-manager=cgroupfs "$@" 9>&-; }

# job COMMAND...: runs a command so that a signal to this script ends both at once.
job=
job() {
  setsid "$@" 9>&- &
  job=$!
  local code=0
  wait $job || code=$?
  job=
  return $code
}

# contain OPTIONS... IMAGE COMMAND...: `docker run`, with a network of its own.
run_options=(--cgroups=disabled --ulimit nofile=4096:4096 --ulimit nproc=4096:4096)
contain() { engine run --rm "${run_options[@]}" --health-interval=disable --network none "$@"; }

cleaned=
clean_up() {
  [ -z "$cleaned" ] || return
  cleaned=1
  trap '' INT TERM
  say "cleaning up"
  [ -z "$job" ] || { kill -TERM -- "-$job" && wait "$job"; } 2>/dev/null || true
  if command -v podman >/dev/null; then engine rm --all --force --time 5 >/dev/null 2>&1 || true; fi
  [ -z "${allowed_before-}" ] || echo "$allowed_before" >$allowed
  awk -v folder="$FOLDER/" 'index($2, folder) == 1 { print $2 }' /proc/mounts | sort -r | xargs -r umount -l
  rm -rf --one-file-system "$results" "${FOLDER:?}"/{bin,overlay,root,run,tmp} "$FOLDER"/*.tar
  [ -n "$keep" ] || rm -rf --one-file-system "$FOLDER"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

install_engines() {
  local missing=() name
  for name in buildah crun debootstrap podman; do
    command -v "$name" >/dev/null || missing+=("$name")
  done
  [ ${#missing[@]} -eq 0 ] && return
  say "Debian packages: ${missing[*]}"
  apt-get update -q >/dev/null
  DEBIAN_FRONTEND=noninteractive apt-get install -yq --no-install-recommends "${missing[@]}" >/dev/null
}

# What debootstrap leaves, as the image from the registry has it: the same sources of packages, no lists, no manuals.
base_image() {
  buildah "${storage[@]}" inspect --type image "$BASE" >/dev/null 2>&1 && return
  say "base image $BASE (debootstrap)"
  local root=$FOLDER/root container
  job debootstrap --variant=minbase "$SUITE" "$root" http://deb.debian.org/debian >"$FOLDER/debootstrap.log" 2>&1 ||
    { tail "$FOLDER/debootstrap.log" >&8; die "debootstrap failed"; }
  rm -rf "$root"/etc/apt/sources.list "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/* \
    "$root"/usr/share/{doc,locale,man}
  cat >"$root/etc/apt/sources.list.d/debian.sources" <<END
Types: deb
URIs: http://deb.debian.org/debian
Suites: $SUITE $SUITE-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://deb.debian.org/debian-security
Suites: $SUITE-security
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
END
  container=$(buildah "${storage[@]}" from scratch)
  tar -C "$root" -cf "$FOLDER/root.tar" .
  buildah "${storage[@]}" add -q "$container" "$FOLDER/root.tar" / >/dev/null
  buildah "${storage[@]}" commit -q --rm "$container" "$BASE" >/dev/null
  rm -rf "$root" "$FOLDER/root.tar"
}

# build NAME: by docker/build.sh. This machine's certificates and its settings of apt and pip are lent, and stay outside.
build() {
  if [ -n "$keep" ] && engine image exists "p4sched/$1"; then return; fi
  say "image p4sched/$1"
  local lent=(-v "$FOLDER/pip.conf:/etc/pip.conf:ro") bundle=/etc/ssl/certs/ca-certificates.crt file
  printf '[global]\ncert = %s\n' "$bundle" >"$FOLDER/pip.conf"
  # update-ca-certificates takes what lies in this folder over, while ca-certificates is installed
  [ ! -f "$bundle" ] || lent+=(-v "$bundle:/usr/local/share/ca-certificates/machine.crt:ro")
  # Debian's mvn reads /etc/mavenrc
  if [ -f /etc/ssl/certs/java/cacerts ]; then
    echo 'MAVEN_OPTS=-Djavax.net.ssl.trustStore=/usr/local/share/machine.jks' >"$FOLDER/mavenrc"
    lent+=(-v /etc/ssl/certs/java/cacerts:/usr/local/share/machine.jks:ro -v "$FOLDER/mavenrc:/etc/mavenrc:ro")
  fi
  for file in /etc/apt/apt.conf.d/*registry* /etc/apt/apt.conf.d/*proxy*; do
    [ ! -f "$file" ] || lent+=(-v "$file:$file:ro")
  done
  ENGINE="buildah ${storage[*]}" BASE=$BASE BUILD_OPTIONS="--isolation chroot --pull=never ${lent[*]}" \
    job docker/build.sh "$1" >"$FOLDER/build-$1.log" 2>&1 ||
    { tail -n 40 "$FOLDER/build-$1.log" >&8; die "p4sched/$1 was not built"; }
  buildah "${storage[@]}" rmi --prune >/dev/null 2>&1 || true
  local megabytes
  megabytes=$(($(engine image inspect --format '{{.Size}}' "p4sched/$1") / 1000000))
  [ "$1" != lab ] || [ "$megabytes" -le $MAX_LAB_MB ] || die "p4sched/$1 has $megabytes MB, more than $MAX_LAB_MB"
  passed "p4sched/$1 is built: $megabytes MB"
}

# refused TEXT WHAT OPTIONS... : a container ends with an error that has this text.
refused() {
  local text=$1 what=$2
  shift 2
  if contain "$@" >"$FOLDER/said" 2>&1; then die "$what: did not fail"; fi
  says "$FOLDER/said" "$text" "$what"
}

# with_switch NAME: waits until the switch of a container's run is there.
with_switch() {
  local tries=120
  until engine exec "$1" grep -q '"s1"' /run/p4sched/state.json 2>/dev/null; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || die "container $1: no switch"
    sleep 0.5
  done
}

# A kernel whose default is not cubic keeps namespaces from it, and a container cannot change that.
allowed=/proc/sys/net/ipv4/tcp_allowed_congestion_control
allow_cubic() {
  allowed_before=$(cat $allowed)
  [[ " $allowed_before " == *" cubic "* ]] || echo "$allowed_before cubic" >$allowed
}

bad_input() {
  say "what goes wrong"
  refused "a container must be privileged" "without --privileged it says what is missing" p4sched/lab
  refused "the lab makes network namespaces and needs root" "an unprivileged user gets a message" \
    --privileged --user student p4sched/lab
  refused "cannot write results there: Read-only file system" "an unwritable folder is reported before the run" \
    --privileged -v "$results:/p4sched/results:ro" p4sched/lab
  refused "no experiment 'fdpa'" "an unknown experiment is reported" --privileged p4sched/lab run fdpa
  refused "" "a switch that does not answer is unhealthy" --entrypoint bash p4sched/lab -c '
    mkdir -p /run/p4sched && echo "{\"switches\": {\"s1\": {\"address\": \"127.0.0.1:1\"}}}" >/run/p4sched/state.json
    healthcheck'
}

without_privileges() {
  say "what needs no privileges"
  contain --user student --read-only --tmpfs /tmp p4sched/lab compile p4/fdpa.p4 -o /tmp/p4 >"$FOLDER/said" 2>&1 ||
    { cat "$FOLDER/said" >&8; die "compile"; }
  says "$FOLDER/said" /tmp/p4/fdpa.json "an unprivileged user compiles, on a file system that is read-only"
  contain --user student -v "$results:/p4sched/results" p4sched/lab \
    run inversions --stepped --packets 2000 --schemes fifo,packs >"$FOLDER/said" 2>&1 ||
    { cat "$FOLDER/said" >&8; die "inversions --stepped"; }
  says "$FOLDER/said" PACKS "an unprivileged user runs the simulator"
}

# summary FILE: what a demo found; fails when FDPA was no fairer than FIFO.
summary() {
  python3 - "$1" >&8 <<'PYTHON'
import json
import sys

summary = json.load(open(sys.argv[1]))
found = summary["schemes"]
for name, scheme in found.items():
    doubts = "; ".join(scheme["fidelity"]["doubts"]) or "valid"
    print(f"      {name}: Jain's index {scheme['jain_index']:.3f}, throughput {scheme['throughput']:.3f} ({doubts})")
assert summary["versions"]["commit"] not in ("", "missing"), "the commit is missing"
if {"fifo", "fdpa"} <= found.keys():
    assert found["fdpa"]["jain_index"] > found["fifo"]["jain_index"], "FDPA is no fairer than FIFO"
PYTHON
}

demo() {
  say "the demo, in its quick form"
  local code=0
  contain --name stopped --privileged -v "$results:/p4sched/results" p4sched/lab run fdpa_fairness --quick \
    >"$FOLDER/said" 2>&1 &
  with_switch stopped
  engine stop --time 30 stopped >/dev/null 2>&1
  wait $! || code=$?
  [ $code = 130 ] || { cat "$FOLDER/said" >&8; die "a run that was stopped ended with $code"; }
  says "$FOLDER/said" "stopping (SIGTERM)" "a run that is stopped ends in order"

  contain --name demo --privileged -v "$results:/p4sched/results" p4sched/lab run fdpa_fairness --quick \
    >"$FOLDER/said" 2>&1 &
  with_switch demo
  engine healthcheck run demo >/dev/null || die "the running demo is not healthy"
  passed "the running demo is healthy"
  wait $! || { cat "$FOLDER/said" >&8; die "the demo failed"; }
  summary "$results/fdpa_fairness/summary.json"
  [ "$(stat -c %u:%g "$results/fdpa_fairness/figure.png")" = 1000:1000 ] || die "the results belong to another user"
  passed "the results are there, and belong to whom the folder belongs"
}

# The stage of p4sched/onos that needs nothing from a registry.
application() {
  contain -v "$PWD/docker/onos/unpack:/usr/local/bin/unpack:ro" p4sched/lab-onos bash -c '
    unpack controller/onos/app/target /tmp/application && cd /tmp/application && find apps m2 -type f' \
    >"$FOLDER/said" 2>&1 || { cat "$FOLDER/said" >&8; die "the application was not unpacked"; }
  says "$FOLDER/said" apps/org.p4sched.onos/active "the .oar of the image is an application for ONOS"
}

# compose FILE SERVICE COMMAND: starts a compose file's service, with another command: podman-compose in place of docker.
compose() {
  local file=$1 service=$2 command=$3
  say "services of $file"
  printf 'services: {%s: {command: %s}}\n' "$service" "$command" >"$FOLDER/quick.yaml"
  # podman-compose starts the program of this name
  mkdir -p "$FOLDER/bin"
  cat >"$FOLDER/bin/podman" <<END
#!/bin/bash
command=\$1
shift
case "\$command" in create | run) set -- ${run_options[*]} --health-interval=disable "\$@" ;; esac
exec $(command -v podman) ${storage[*]} --cgroup-manager=cgroupfs "\$command" "\$@"
END
  chmod +x "$FOLDER/bin/podman"
  rm -rf "${results:?}"/*
  local words=(env PATH="$FOLDER/bin:$PATH" RESULTS="$results" .venv/bin/podman-compose --in-pod false
    -f "$file" -f "$FOLDER/quick.yaml")
  job "${words[@]}" up --no-build --abort-on-container-exit >"$FOLDER/said" 2>&1 ||
    { cat "$FOLDER/said" >&8; die "$file"; }
  job "${words[@]}" down >/dev/null 2>&1 || true
  summary "$results/fdpa_fairness/summary.json"
  passed "$file: $service ran and left its results"
}

install_engines
base_image
mkdir -p "$results"
chown 1000:1000 "$results"
allow_cubic
build lab
without_privileges
bad_input
demo
compose docker/compose.yaml lab '[run, fdpa_fairness, --quick, --schemes, "fifo,fdpa"]'
build lab-onos
application
compose docker/compose.onos.yaml lab '[run, fdpa_fairness, --quick, --schemes, fdpa, --controller, "python,onos"]'

say "$checks checks passed"
printf '  not done: %s\n' "${not_done[@]}" >&8
