#!/usr/bin/env bash
# Builds what a user installs, into dist/: `build.sh wheel`, `build.sh archive`, `build.sh deb`. `setup.sh dist` has
# installed what it needs. README.md says what each holds.
#
#   MACHINE=aarch64   for another machine than x86_64
set -euo pipefail
cd "$(dirname "$0")/.."

MACHINE=${MACHINE:-x86_64}
# The oldest C library that the programs run with.
GLIBC=2.28
MAINTAINER="p4sched maintainers <p4sched@users.noreply.github.com>"
VERSION=$(sed -n 's/^version = "\(.*\)"/\1/p' switch/Cargo.toml | head -n 1)
TARGET=$MACHINE-unknown-linux-gnu
PROGRAMS=${CARGO_TARGET_DIR:-switch/target}/$TARGET/dist

die() { printf 'build: %s\n' "$*" >&2; exit 1; }

programs() {
  PATH=$PWD/.venv-dist/bin:$PATH PYO3_NO_PYTHON=1 cargo zigbuild --locked --quiet --manifest-path switch/Cargo.toml \
    --profile dist --target "$TARGET.$GLIBC" \
    -p p4sched-compiler -p p4sched-switch -p p4sched-tools -p p4sched-python
}

wheel() {
  P4SCHED_PROGRAMS=$(realpath "$PROGRAMS") P4SCHED_PLATFORM=manylinux_${GLIBC/./_}_$MACHINE \
    .venv/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .
}

# Switch and compiler alone, with BMv2's and p4c's names.
archive() {
  local name=p4sched-switch-$VERSION-$MACHINE
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  mkdir -p "$folder/$name/bin" dist
  install -m 755 "$PROGRAMS"/p4sched-{p4c,switch} "$folder/$name/bin"
  ln -s p4sched-p4c "$folder/$name/bin/p4c"
  ln -s p4sched-p4c "$folder/$name/bin/p4c-bm2-ss"
  ln -s p4sched-switch "$folder/$name/bin/simple_switch"
  ln -s p4sched-switch "$folder/$name/bin/simple_switch_grpc"
  install -m 644 LICENSE docs/BMV2.md "$folder/$name"
  tar -C "$folder" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" \
    -czf "dist/$name.tar.gz" "$name"
}

# control PACKAGE ARCHITECTURE DEPENDS DESCRIPTION: the control file of a package, and what all packages have.
debian_files() {
  local package=$1 architecture=$2 depends=$3 description=$4 root=$stage/$1
  local doc=$root/usr/share/doc/$package
  mkdir -p "$root/DEBIAN" "$doc"
  install -m 644 distribution/debian/copyright "$doc"
  printf 'p4sched (%s) stable; urgency=medium\n\n  * See CHANGELOG.md of the sources.\n\n -- %s  %s\n' \
    "$deb_version" "$MAINTAINER" "$(date -u -R -d "@$date")" | gzip -9n >"$doc/changelog.gz"
  for script in postinst prerm; do
    install -m 755 "distribution/debian/$package.$script" "$root/DEBIAN/$script"
  done
  if [ -f "distribution/debian/$package.lintian-overrides" ]; then
    install -D -m 644 "distribution/debian/$package.lintian-overrides" "$root/usr/share/lintian/overrides/$package"
  fi
  find "$root" -exec touch -h -d "@$date" {} +
  (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
  cat >"$root/DEBIAN/control" <<EOF
Package: $package
Version: $deb_version
Section: net
Priority: optional
Architecture: $architecture
Maintainer: $MAINTAINER
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Depends: $depends
Description: $description
EOF
}

# Two packages, for the Python of this Debian: its modules in C fit one version only.
deb() {
  local python site root program
  local date deb_version architecture
  python=$(/usr/bin/python3 -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
  date=$(git log -1 --format=%ct)
  deb_version=$VERSION~deb$(. /etc/os-release && echo "$VERSION_ID")
  architecture=$(dpkg --print-architecture)
  stage=$(mktemp -d)
  trap 'rm -rf "$stage"' EXIT
  root=$stage/p4sched
  site=usr/lib/p4sched/lib/$python/site-packages
  /usr/bin/python3 -m venv --without-pip "$root/usr/lib/p4sched"
  .venv/bin/python -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes \
    -r requirements-lab.lock --dest "$stage/wheels"
  .venv/bin/python -m pip --python "$root/usr/lib/p4sched/bin/python3" install --quiet --disable-pip-version-check \
    --no-compile --no-index --find-links "$stage/wheels" "dist/p4sched-$VERSION-py3-none-manylinux_${GLIBC/./_}_$MACHINE.whl"
  (
    cd "$root"
    # what no command of the laboratory uses: tests, headers, and the parts of Arrow that talk to networks
    rm -rf $site/pyarrow/{include,tests} $site/pyarrow/lib*_{flight,s3}* $site/pyarrow/libarrow_flight* $site/pyarrow/_{flight,s3fs}*
    find $site -type d \( -name tests -o -name __pycache__ \) -prune -exec rm -rf {} +
    find usr/lib/p4sched/bin -mindepth 1 ! -name 'python*' -delete
    printf 'home = /usr/bin\ninclude-system-site-packages = false\nversion = %s\n' "${python#python}" >usr/lib/p4sched/pyvenv.cfg
    mkdir -p usr/bin usr/share/man/man1 usr/share/bash-completion/completions usr/share/zsh/vendor-completions \
      usr/share/fish/vendor_completions.d
    $site/p4sched/files/bin/p4sched-tools link
    for program in p4sched-p4c p4sched-switch; do
      ln -s "../${site#usr/}/p4sched/files/bin/$program" "usr/bin/$program"
    done
    ln -s ../lib/p4sched/bin/p4sched usr/bin/p4sched
  )
  install -m 755 distribution/debian/launcher "$root/usr/lib/p4sched/bin/p4sched"
  PYTHONDONTWRITEBYTECODE=1 "$root/usr/lib/p4sched/bin/python3" distribution/manual.py |
    gzip -9n >"$root/usr/share/man/man1/p4sched.1.gz"
  for program in p4sched-p4c p4sched-switch; do
    printf '.so man1/p4sched.1\n' | gzip -9n >"$root/usr/share/man/man1/$program.1.gz"
  done
  completion bash >"$root/usr/share/bash-completion/completions/p4sched"
  completion zsh >"$root/usr/share/zsh/vendor-completions/_p4sched"
  completion fish >"$root/usr/share/fish/vendor_completions.d/p4sched.fish"
  find "$root" -type d -exec chmod 755 {} +
  find "$root/usr/lib" -type f ! -perm -100 -exec chmod 644 {} +
  find "$root/$site" -type f -name '*.so*' -exec chmod 644 {} +
  debian_files p4sched "$architecture" \
    "python3, $python, libc6 (>= $GLIBC), libgcc-s1, libstdc++6, zlib1g, mininet, iperf3, bubblewrap, ethtool, iproute2, iputils-ping, net-tools, procps" \
    "laboratory for packet scheduling on programmable switches
 The schedulers are P4 programs. A controller tunes them over P4Runtime from
 live counters. Mininet runs them under the TCP of the kernel, or a simulation
 in virtual time. Compiler and switch are included."
  mkdir -p "$stage/p4sched-as-bmv2/usr/lib/p4sched/bmv2"
  install -m 755 distribution/debian/simple_switch_CLI "$stage/p4sched-as-bmv2/usr/lib/p4sched/bmv2"
  for program in p4c p4c-bm2-ss; do
    ln -s ../../../bin/p4sched-p4c "$stage/p4sched-as-bmv2/usr/lib/p4sched/bmv2/$program"
  done
  for program in simple_switch simple_switch_grpc; do
    ln -s ../../../bin/p4sched-switch "$stage/p4sched-as-bmv2/usr/lib/p4sched/bmv2/$program"
  done
  debian_files p4sched-as-bmv2 all p4sched "switch and compiler of p4sched under the names of BMv2 and p4c
 Material for BMv2 runs with the switch and the compiler of p4sched:
 simple_switch, simple_switch_grpc, simple_switch_CLI, p4c and p4c-bm2-ss
 are alternatives."
  mkdir -p dist
  for program in p4sched p4sched-as-bmv2; do
    dpkg-deb --root-owner-group -Zxz --build "$stage/$program" dist >/dev/null
  done
}

# completion SHELL: the script that typer makes for it.
completion() {
  _P4SCHED_COMPLETE=source_$1 PYTHONDONTWRITEBYTECODE=1 "$stage/p4sched/usr/lib/p4sched/bin/python3" -c \
    'import sys; sys.argv = ["p4sched"]; from p4sched.cli.start import main; main()'
}

case "${1:-}" in
  wheel | archive | deb) ;;
  *) die "usage: build.sh wheel|archive|deb" ;;
esac
[ -n "${PROGRAMS_BUILT:-}" ] || programs
[ "$1" = deb ] && wheel
"$1"
