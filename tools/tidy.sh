#!/bin/sh
# tools/tidy.sh DATABASE FILE
# Runs clang-tidy on a file, unless it has passed before with the same rules, the same compiler's
# options, and the same contents of the file and of all that it includes. What has passed is kept in
# build/tidy; what has not is never kept. On a fresh machine everything is checked.
set -eu

database=$1
file=$2
passed=build/tidy

{
    read -r folder
    read -r command
} <<END
$(jq -r --arg file "$file" '.[] | select(.file == $file) | .directory, .command' \
    "$database/compile_commands.json")
END

# All files that the compiler reads, one a line. The options that name its outputs are taken away.
files_read()
{
    words=$(echo "$command" | sed -E 's/ -(MD|c)\b//g; s/ -(MT|MF|o) [^ ]+//g')
    (cd "$folder" && eval "$words -M") | sed 's/^[^ ]*://; s/\\$//' | tr -s ' ' '\n' | grep . | sort -u
}

key()
{
    {
        clang-tidy --version
        cat .clang-tidy
        echo "$command"
        cat "$list"
        (cd "$folder" && xargs cat <"$OLDPWD/$list")
    } | sha256sum | cut -d ' ' -f 1
}

mkdir -p "$passed"
list=$passed/list.$$
trap 'rm -f "$list"' EXIT
files_read >"$list"
if ! grep -q "$file" "$list"; then
    echo "tidy: the compiler does not say what $file includes" >&2
    exit 1
fi
key=$(key)
[ ! -e "$passed/$key" ] || exit 0
clang-tidy --quiet -p "$database" "$file"
: >"$passed/$key"
