#!/bin/sh
# build.sh OUT: makes OUT/quartz, which takes the work as all peers do, and prints its version.
set -eu

version=2.5.0
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/quartz-classes"
for artifact in org.quartz-scheduler:quartz:$version org.slf4j:slf4j-api:2.0.16 org.slf4j:slf4j-nop:2.0.16; do
    timeout 300 mvn -q -B dependency:copy -Dartifact="$artifact" -DoutputDirectory="$1/quartz-jars" >&2
done
javac -cp "$1/quartz-jars/*" -d "$1/quartz-classes" "$here/Work.java" >&2
printf '#!/bin/sh\nexec java -cp "%s/quartz-classes:%s/quartz-jars/*" Work "$@"\n' "$1" "$1" >"$1/quartz"
chmod +x "$1/quartz"
echo $version
