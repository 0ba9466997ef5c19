# Installs the Debian packages that are missing, and touches nothing when none is.

# "a|b" is content with either; if neither is there, the first is installed.
declare -A packages=(
  [build]="g++ cmake ninja-build pkg-config ccache libsimdjson-dev libfmt-dev libssl-dev libxxhash-dev libsqlite3-dev
           libcurl4-openssl-dev|libcurl4-gnutls-dev libhnswlib-dev libboost-dev libcli11-dev libgtest-dev libgmock-dev
           nlohmann-json3-dev libbenchmark-dev"
  [format]="clang-format-19"
  [lint]="clang-19 clang-tidy-19 libclang-rt-19-dev lld-19"
  [python]="python3 python3-venv"
  [javascript]="nodejs npm"
  [test]="zsh groff-base"
  [server-bench]="wrk"
)

# ensure_packages GROUP...
ensure_packages() {
  local missing
  command -v dpkg-query >/dev/null || return 0 # another system: its owner brings the packages
  mapfile -t missing < <(missing_packages "$@")
  if ((${#missing[@]})); then install_packages "${missing[@]}"; fi
}

missing_packages() {
  local group entry installed wanted=()
  # shellcheck disable=SC2206  # the lists are meant to fall into words
  for group in "$@"; do wanted+=(${packages[$group]}); done
  # shellcheck disable=SC2068  # and so are the alternatives
  installed=$(installed_packages ${wanted[@]//|/ }) || true # dpkg-query fails for those it does not know
  for entry in "${wanted[@]}"; do
    grep -qxE "${entry//+/\\+}" <<<"$installed" || echo "${entry%%|*}"
  done | sort -u
}

installed_packages() {
  # shellcheck disable=SC2016  # dpkg-query expands these, not the shell
  dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null | sed -n 's/ installed$//p'
}

install_packages() {
  local install=(apt-get install -y --no-install-recommends --no-remove "$@")
  echo "[packages] missing: $*"
  become_root "${install[@]}"
  if has_package_lists && try_install "${install[@]}"; then return; fi
  stage packages update "${as_root[@]}" apt-get update
  stage packages install "${as_root[@]}" "${install[@]}"
}

# A first attempt may fail because the lists are old; the second one, after an update, reports.
try_install() {
  begin_line packages install
  local began=$SECONDS
  if "${as_root[@]}" "$@" >"$logs/packages-install.log" 2>&1; then
    end_line 0 "$began"
  else
    echo "not with the present package lists"
    return 1
  fi
}

become_root() {
  as_root=(env DEBIAN_FRONTEND=noninteractive)
  ((EUID)) || return 0
  echo "[packages] installing needs root: sudo may ask for your password"
  if ! command -v sudo >/dev/null || ! sudo -v; then
    fail "cannot install packages without root; run this as root, then try again:
  apt-get update && $*"
  fi
  as_root=(sudo "${as_root[@]}")
}

has_package_lists() {
  compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null
}
