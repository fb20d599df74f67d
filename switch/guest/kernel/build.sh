#!/usr/bin/env bash
# Builds the kernel of the guests, User-mode Linux in virtual time, from Debian's sources: once, some minutes on two
# cores, 2.5 GB of disk while it runs. The result stays outside of the repository, in $P4SCHED_CACHE or ~/.cache/p4sched.
set -euo pipefail
cd "$(dirname "$0")"

version=$(cat version)
package=linux-source-${version%.*-*}
# The package of bookworm's last point release, which stays in Debian's archive.
sha256=9305d1a151b8e83dcb88aa11361e7b9513f0c252bdf7f5647e4542762d99c094
cache=${P4SCHED_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/p4sched}
kernel=$cache/linux-um-$version
made_from=$(cat version fragment.config random.c virtual-time.patch build.sh | sha256sum | cut -d' ' -f1)

say() { printf '\033[1m==> %s\033[0m\n' "$*" >&2; }
die() { printf 'make virtual: %s\n' "$*" >&2; exit 1; }

if [ -x "$kernel" ] && [ "$(cat "$kernel.made-from" 2>/dev/null)" = "$made_from" ]; then
  say "The guests' kernel is there already: $kernel"
  exit 0
fi

mkdir -p "$cache"
scratch=$(mktemp -d "$cache/build.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
log=$cache/linux-um-$version.log
fails() { tail -n 20 "$log" >&2; die "$1; $log has all that it said"; }

say "Debian's $package $version"
(cd "$scratch" && apt-get download -q "$package=$version") >"$log" 2>&1 ||
  fails "apt-get has no $package $version: run apt-get update, or add bookworm's main archive to its sources"
mv "$scratch"/*.deb "$scratch/source.deb"
[ "$(sha256sum <"$scratch/source.deb" | cut -d' ' -f1)" = "$sha256" ] || die "the package is not the one that this lab was built with"
dpkg-deb --fsys-tarfile "$scratch/source.deb" | tar -xO --wildcards './usr/src/*.tar.xz' | tar -xJ -C "$scratch"
rm "$scratch/source.deb"
tree=$scratch/$package

# amend FILE FROM TO: changes one line of the kernel's source, which must be there.
amend() {
  [ "$(grep -cF "$2" "$tree/$1")" = 1 ] || die "$1 of $version has no line, or several, with '$2'"
  sed -i "s/$2/$3/" "$tree/$1"
}
# TCP's shortest timeouts are two timer interrupts. User-mode Linux has 100 of them a second, Debian's kernels 250.
amend arch/um/Kconfig 'default 100' 'default 250'
# A processor with AMX has 11008 bytes of registers, which a tracer must set in one piece.
amend arch/x86/um/user-offsets.c 'HOST_FP_SIZE, 2696' 'HOST_FP_SIZE, 12288'
# Room for all frames that a guest's queue discipline can send at one instant.
amend arch/um/drivers/virtio_uml.c 'define MAX_SUPPORTED_QUEUE_SIZE' 'define MAX_SUPPORTED_QUEUE_SIZE 1024 \/\/'
patch -d "$tree" -p1 <virtual-time.patch >"$log" 2>&1 || fails "virtual-time.patch does not fit $version"

say "The guests' kernel (some minutes)"
# The build names no person, machine or time, so that the same source gives the same kernel.
export KBUILD_BUILD_USER=p4sched KBUILD_BUILD_HOST=p4sched KBUILD_BUILD_TIMESTAMP='1970-01-01'
gcc -O2 -Wall -Wextra -Werror -fno-pic -fno-stack-protector -c random.c -o "$scratch/random.o"
make -C "$tree" ARCH=um KCONFIG_ALLCONFIG="$PWD/fragment.config" allnoconfig >"$log" 2>&1 ||
  fails "the kernel could not be configured"
while IFS= read -r option; do
  grep -qxF "$option" "$tree/.config" || die "the kernel has no option $option"
done < <(grep '^CONFIG' fragment.config)
make -C "$tree" ARCH=um -j"$(nproc)" LD_FLAGS_CMDLINE="-Wl,--wrap=getrandom $scratch/random.o" linux >"$log" 2>&1 ||
  fails "the kernel could not be built"
strip -o "$kernel.new" "$tree/linux"
mv "$kernel.new" "$kernel"
printf '%s\n' "$made_from" >"$kernel.made-from"
rm "$log"
say "The guests' kernel: $kernel"
