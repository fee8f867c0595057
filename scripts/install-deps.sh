#!/usr/bin/env bash
# Installs the Debian packages that limber needs, and only those that are missing.
#
#   scripts/install-deps.sh [--check] build|test|python
#
# build: to compile and run. python: build, and what a Python package is built with. test: python, and what the tests
# need on top. A package counts as there when dpkg knows it
# or when what it provides is found (a compiler from elsewhere, a newer Node.js), so a complete machine needs neither
# root nor a network. Without root or sudo the missing packages are named and the script ends with 1; --check names
# them and never installs.
set -euo pipefail

check_only=0
if [[ ${1:-} == --check ]]; then check_only=1; shift; fi
group=${1:-}

have() { command -v "$1" >/dev/null 2>&1; }

# A version "a.b.c" that is at least the second argument.
at_least() { [[ -n $1 && $(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1) == "$2" ]]; }
first_version() { grep -oE '[0-9]+(\.[0-9]+)+' | head -n 1 || true; }

probe_gxx() { have g++ && at_least "$(g++ -dumpfullversion 2>/dev/null)" 11; }
probe_cmake() { have cmake && at_least "$(cmake --version 2>/dev/null | first_version)" 3.25; }
probe_node() { have node && at_least "$(node --version 2>/dev/null | first_version)" 18; }
probe_header() {
  local root
  for root in /usr/include /usr/local/include; do [[ -e $root/$1 ]] && return 0; done
  return 1
}

probe_python_header() {
  local header
  for header in /usr/include/python3*/Python.h; do [[ -e $header ]] && return 0; done
  return 1
}

probe_boost() {  # Beast compiles as C++20 from 1.81 on
  local header=/usr/include/boost/version.hpp
  [[ -e $header ]] && at_least "$(sed -n 's/^#define BOOST_LIB_VERSION "\(.*\)"/\1/p' $header | tr _ .)" 1.81
}

# package | another way to see that it is there ("-": dpkg alone knows)
build_packages=(
  "g++|probe_gxx"
  "cmake|probe_cmake"
  "ninja-build|have ninja"
  "git|have git"
  "libeigen3-dev|probe_header eigen3/Eigen/Core"
  "libtbb-dev|probe_header oneapi/tbb.h"
  "libyaml-cpp-dev|probe_header yaml-cpp/yaml.h"
  "nlohmann-json3-dev|probe_header nlohmann/json.hpp"
  "libcli11-dev|probe_header CLI/CLI.hpp"
  "libfmt-dev|probe_header fmt/format.h"
  "libboost1.81-dev|probe_boost"
  "nodejs|probe_node"
  "npm|have npm"
  "ca-certificates|-"
)
python_packages=(
  "python3|test -x /usr/bin/python3"
  "python3-dev|probe_python_header"
  "python3-venv|/usr/bin/python3 -m ensurepip --version"
)
test_packages=(
  "libgtest-dev|probe_header gtest/gtest.h"
  "librapidcheck-dev|probe_header rapidcheck.h"
  "python3-vtk9|-"
  "chromium|have chromium"
  "clang-format|have clang-format"
)

case $group in
  build) wanted=("${build_packages[@]}") ;;
  python) wanted=("${build_packages[@]}" "${python_packages[@]}") ;;
  test) wanted=("${build_packages[@]}" "${python_packages[@]}" "${test_packages[@]}") ;;
  *) echo "usage: scripts/install-deps.sh [--check] build|test|python" >&2; exit 2 ;;
esac

# The names that dpkg holds as installed, asked for once.
installed=" "
if have dpkg-query; then
  # dpkg-query ends with 1 when it does not know one of the names.
  installed=" $(dpkg-query -W -f='${binary:Package}:${db:Status-Status}\n' "${wanted[@]%%|*}" 2>/dev/null |
    sed -n 's/^\([^:]*\)\(:[a-z0-9-]*\)*:installed$/\1/p' | tr '\n' ' ' || true)"
fi

find_missing() {
  missing=()
  local entry package probe
  for entry in "${wanted[@]}"; do
    package=${entry%%|*} probe=${entry#*|}
    [[ $installed == *" $package "* ]] && continue
    # Without dpkg a package that has no other sign is left to the one who runs this.
    if [[ $probe == - ]]; then have dpkg-query || continue; else $probe && continue; fi
    missing+=("$package")
  done
}

find_missing
[[ ${#missing[@]} -eq 0 ]] && exit 0

ask_for() {
  echo "limber: these packages are missing: ${missing[*]}" >&2
  echo "limber: $1" >&2
  echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
  exit 1
}

[[ $check_only -eq 1 ]] && ask_for "install them with"
have apt-get || ask_for "this is no Debian system: install their equivalents. On Debian it would be"

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  if have sudo && { sudo -n true 2>/dev/null || [[ -t 0 && -t 2 ]]; }; then
    as_root=(sudo)
  else
    ask_for "neither root nor sudo here: ask an administrator for"
  fi
fi

# Another apt or dpkg may hold a lock: wait for it, and try again when the lists are locked or a download fails.
apt() {
  local try
  for try in 1 2 3 4 5 6; do
    if "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 \
      -o Acquire::Retries=3 "$@"; then
      return 0
    fi
    [[ $try -lt 6 ]] && echo "limber: apt-get $1 failed (try $try of 6), again in $((5 * try)) s" >&2 && sleep $((5 * try))
  done
  return 1
}

echo "limber: installing ${missing[*]}" >&2
{ apt update && apt install --no-install-recommends "${missing[@]}"; } >&2 ||
  ask_for "apt-get could not install them; its messages are above. The command was"
