# Sourced by the scripts: installs Debian packages by name, only those that are missing.
# Needs root or sudo, and only when something is missing.

install_packages() {
  local package missing=()
  for package in "$@"; do
    if [[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)" != installed ]]; then
      missing+=("$package")
    fi
  done
  if ((${#missing[@]} == 0)); then
    echo "== all needed packages are installed"
    return
  fi
  echo "== installing by apt: ${missing[*]}"
  local as_root=()
  if [[ "$(id -u)" -ne 0 ]]; then
    if ! command -v sudo >/dev/null; then
      echo "error: apt-get needs root; run this as root, install sudo, or install: ${missing[*]}" >&2
      exit 1
    fi
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -q </dev/null
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends "${missing[@]}" </dev/null
}

# What the program itself is built with and from.
build_packages=(g++ cmake ninja-build libsimgrid-dev libfmt-dev nlohmann-json3-dev libcli11-dev)
