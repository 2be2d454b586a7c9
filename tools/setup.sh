# Sourced by the tools beside it: installs what is missing and builds. Everything that is said here goes to
# standard error, nothing reads standard input, and a failure ends the calling script with exit code 70.
set -euo pipefail

WAVETAIL_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
WAVETAIL_SETUP_FAILED=70

say() { printf '%s\n' "wavetail: $*" >&2; }

give_up() {
  say "$@"
  exit "$WAVETAIL_SETUP_FAILED"
}

# The packages of the given groups (tools/packages.txt) that are not installed, one per line.
missing_packages() {
  local group=$1 name kind state
  local -A wanted=()
  while read -r kind name; do
    if [[ $kind == "$group" ]]; then wanted[$name]=1; fi
  done < "$WAVETAIL_ROOT/tools/packages.txt"
  while read -r name state; do
    if [[ $state == ii* ]]; then unset "wanted[$name]"; fi
  done < <(dpkg-query -W -f '${Package} ${db:Status-Abbrev}\n' "${!wanted[@]}" 2> /dev/null)
  if ((${#wanted[@]})); then printf '%s\n' "${!wanted[@]}" | sort; fi
}

# Installs the missing packages of a group; asks apt only when there are any.
install_packages() {
  local group=$1 as_root=() missing
  if ! command -v dpkg-query > /dev/null; then
    return  # not a Debian system: the build says what it lacks
  fi
  mapfile -t missing < <(missing_packages "$group")
  if ((${#missing[@]} == 0)); then return; fi
  if ((EUID != 0)); then
    command -v sudo > /dev/null ||
      give_up "these packages are missing, and this is neither root nor is there sudo:" \
        "apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 -qq)
  "${apt[@]}" update < /dev/null > /dev/null 2>&1 || say "apt-get update failed; trying with the lists at hand"
  run_step quiet "${apt[@]}" install -y --no-install-recommends "${missing[@]}"
}

# Runs a command with its output on standard error. Quiet unless it fails; with `loud`, as it comes.
run_step() {
  local mode=$1 log
  shift
  if [[ $mode == loud ]]; then
    "$@" < /dev/null >&2 || give_up "failed: $*"
    return
  fi
  log=$(mktemp)
  if ! "$@" < /dev/null > "$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    give_up "failed: $*"
  fi
  rm -f "$log"
}

# build_preset PRESET [TARGET...]: configures once and builds; two calls at once take turns.
build_preset() {
  local preset=$1 mode=quiet
  local folder=$WAVETAIL_ROOT/build/$preset
  shift
  mkdir -p "$folder"
  exec {build_lock}> "$folder/.lock"
  if ! flock -n "$build_lock"; then
    say "waiting for another build of build/$preset"
    flock "$build_lock"
  fi
  install_packages build
  if [[ ! -e $folder/.built-once ]]; then
    say "building build/$preset: minutes the first time"
    mode=loud
  fi
  if [[ $WAVETAIL_ROOT/CMakePresets.json -nt $folder/build.ninja ]]; then  # or there is none yet
    (cd "$WAVETAIL_ROOT" && run_step quiet cmake --preset "$preset") || exit $?
  fi
  run_step "$mode" ninja -C "$folder" "$@"
  touch "$folder/.built-once"
  exec {build_lock}>&-
}
