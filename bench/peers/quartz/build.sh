#!/bin/sh
# build.sh OUT: makes OUT/quartz, which takes the work as all peers do, and prints its version.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/quartz-classes"
timeout 300 mvn -q -B -f "$here/pom.xml" dependency:copy-dependencies -DoutputDirectory="$1/quartz-jars" >&2
javac -cp "$1/quartz-jars/*" -d "$1/quartz-classes" "$here/Work.java" >&2
printf '#!/bin/sh\nexec java -cp "%s/quartz-classes:%s/quartz-jars/*" Work "$@"\n' "$1" "$1" >"$1/quartz"
chmod +x "$1/quartz"
sed -n '/<artifactId>quartz</,/version/s/.*<version>\(.*\)<.*/\1/p' "$here/pom.xml"
