# Sourced by what builds packages, in the folder of the repository: of which commit they are.
#   package_of [COMMIT]       sets $commit (HEAD), $version, $revision (none for a released version), and exports
#                             SOURCE_DATE_EPOCH, LC_ALL and TZ, so that all dates are the commit's
#   package_sources FOLDER    makes FOLDER, of the sources as git has them
# A commit that has no tag of a version is a version between the last and the next one: 0.1.0~202611191740.abcdef12.
# shellcheck shell=sh

package_of()
{
    commit=$(git rev-parse --verify "${1:-HEAD}^{commit}")
    SOURCE_DATE_EPOCH=$(git show -s --format=%ct "$commit")
    export SOURCE_DATE_EPOCH LC_ALL=C.UTF-8 TZ=UTC
    version=$(git show "$commit:CMakeLists.txt" | sed -n 's/^project(peal VERSION \([0-9.]*\).*/\1/p')
    revision=
    if [ "$(git describe --tags --exact-match "$commit" 2>/dev/null)" != "v$version" ]; then
        revision=$(git rev-parse --short=8 "$commit")
        version=$version~$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d%H%M).$revision
    fi
}

package_sources()
{
    mkdir -p "$1"
    git archive "$commit" | tar -C "$1" -x
    # What was built before here need not be fetched again.
    [ ! -d web/node_modules ] || cp -r web/node_modules "$1/web/"
}
