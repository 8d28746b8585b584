#!/bin/sh
# tools/kubeconform.sh [--there]
# Says where kubeconform is, and the folder with the schemas of Kubernetes, one of each release: FOLDER/RELEASE/KIND.json. Where they
# are not, the program is built with Go and the schemas are taken out of a package for Python, into the user's cache, which takes half a
# minute; with --there only if that was done. Status 77: they are not here.
set -eu

version=v0.6.3 # the last one that Debian 12's Go compiles
releases=kubernetes-validate

none()
{
    echo "kubeconform: not here: $*" >&2
    exit 77
}

cache=${XDG_CACHE_HOME:-$HOME/.cache}/peal
program=$(command -v kubeconform || echo "$cache/kubeconform")
schemas=$cache/kubernetes-schemas
if ! [ -x "$program" ]; then
    [ "${1-}" != --there ] || none 'make kubernetes builds it'
    command -v go >/dev/null || none 'install it, or Go'
    GOBIN=$cache go install "github.com/yannh/kubeconform/cmd/kubeconform@$version" >&2 || none 'Go could not build it'
fi

# Each file on its own, since kubeconform resolves no references between files. Of the groups that peal's manifests have.
make_schemas()
{
    python3 - "$1" "$2" <<'PYTHON'
import glob, json, os, re, sys

source, target = sys.argv[1:]
refers = re.compile(r'(?:/api/)?_definitions\.json#/\$defs/|#/\$defs/')


def plain(value, found):
    """The value without descriptions, with references into the same file; their names go to `found`."""
    if isinstance(value, list):
        return [plain(one, found) for one in value]
    if not isinstance(value, dict):
        return value
    ret = {}
    for key, one in value.items():
        if key == "$ref":
            one = refers.sub("", one)
            found.add(one)
            ret[key] = "#/$defs/" + one
        elif key != "description" or not isinstance(one, str):
            ret[key] = plain(one, found)
    return ret


for folder in glob.glob(os.path.join(source, "*-local-strict")):
    with open(os.path.join(folder, "_definitions.json"), encoding="utf-8") as file:
        definitions = json.load(file)["$defs"]
    release = re.sub(r"^v|-local-strict$", "", os.path.basename(folder))
    os.makedirs(os.path.join(target, release))
    for path in glob.glob(os.path.join(folder, "*.json")):
        name = os.path.basename(path)
        if not re.fullmatch(r"[a-z]+(-apps|-batch|-policy)?-v1\.json", name):
            continue
        with open(path, encoding="utf-8") as file:
            wanted, made = set(), {}
            schema = plain(json.load(file), wanted)
        while wanted - set(made):
            for one in wanted - set(made):
                made[one] = plain(definitions[one], wanted)
        with open(os.path.join(target, release, name), "w", encoding="utf-8") as file:
            json.dump({**schema, "$defs": made}, file)
PYTHON
}

if ! [ -d "$schemas" ]; then
    [ "${1-}" != --there ] || none 'make kubernetes fetches its schemas'
    command -v python3 >/dev/null || none 'install python3'
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    python3 -m pip download -q --no-deps --dest "$work" "$releases" >"$work/log" 2>&1 || none "$(tail -n 1 "$work/log")"
    python3 -m zipfile -e "$work"/*.whl "$work/package"
    make_schemas "$work/package/kubernetes_validate/kubernetes-json-schema" "$work/schemas" >&2
    mkdir -p "$cache"
    mv "$work/schemas" "$schemas"
fi
echo "$program $schemas"
