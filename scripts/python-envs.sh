# To be sourced: Pythons of this machine, and virtual environments of them in .build/python.

# Pythons that can make environments, the oldest first: version and path.
pythons() {
  local candidate
  {
    compgen -G "$HOME/.pyenv/versions/*/bin/python3" || true
    for candidate in python3 python3.{9..20}; do command -v "$candidate" || true; done
  } | while read -r candidate; do
    "$candidate" -c 'import sys, venv, ensurepip; print("%d.%d" % sys.version_info[:2], sys.executable)' 2>/dev/null || true
  done | sort -t . -k 1,1n -k 2,2n -u | awk '{ split($1, v, "."); if (v[1] == 3 && v[2] >= 9) print }'
}

# Makes .build/python/NAME, or leaves it as it is when it has what the arguments of pip say. Prints its python.
python_env() { # name, python, arguments of pip
  local folder=.build/python/$1 python=$2 wanted
  shift 2
  wanted=$("$python" --version; printf '%s\n' "$@"; cat python/tests/requirements.txt python/pyproject.toml)
  if [[ $(cat "$folder/wanted" 2>/dev/null) != "$wanted" ]]; then
    rm -rf "$folder"
    "$python" -m venv "$folder" &&
      "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --retries 1 --timeout 15 "$@" >&2 || return 1
    printf '%s\n' "$wanted" >"$folder/wanted"
  fi
  printf '%s\n' "$PWD/$folder/bin/python"
}
