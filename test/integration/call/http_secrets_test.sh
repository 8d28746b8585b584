#!/bin/bash
# Secrets in HTTP calls: in headers and bodies, masked in the answer that echoes them, also over two parts of it; not in URLs, and
# not where a redirect leads.
# shellcheck disable=SC2016 # texts of jobs
server=$1
# shellcheck source=test/integration/call/lib.sh
. "$(dirname "$0")/lib.sh"
start_server
start_agent data --listen none --config "$scratch/peal.yaml"
value="s$(tr -dc 'a-z0-9' </dev/urandom | head -c 12)/Z"
run peal secret init
(umask 077 && echo "$value" >"$scratch/value")
run peal secret set api-token --value-file "$scratch/value"
expect_status 0

apply <<END
name: tells
schedule: '@manual'
secrets: [api-token, OTHER=api-token]
http:
  url: $at/echo
  method: PUT
  headers: {Authorization: "Bearer \${API_TOKEN}", Content-Type: text/x-test}
  body: "<\${OTHER}> and \${OTHER}\${OTHER}"
END
expect_status 0
run peal run tells --wait
expect_status 0
id=$(cat "$scratch/out")
run peal logs "$id"
expect_stdout_has 'Authorization: Bearer ********'
expect_stdout_has '<********> and ********'
[[ $(<"$scratch/out") != *"$value"* ]] || mismatch 'expected no value'

# ---- neither files nor arguments have it ----
run grep -rlaF -e "$value" -e "$(printf %s "$value" | base64 | tr -d =)" "$scratch/data"
expect_stdout ''
for pid in $(processes_with "$scratch/data"); do
    tr '\0' ' ' <"/proc/$pid/cmdline"
done >"$scratch/out"
[[ $(<"$scratch/out") != *"$value"* ]] || mismatch 'expected no value in a command line'

# ---- the line that says why, of a definition with the value itself ----
apply <<END
name: fails
schedule: '@manual'
secrets: [api-token]
http: {url: '$at/echo', method: PUT, body: "\${API_TOKEN}", match: '$value?'}
END
run peal run fails --wait
expect_stderr_has 'but the body does not hold "********?"'
run peal runs fails -o json
[[ $(<"$scratch/out") != *"$value"* ]] || mismatch 'expected no value'

# ---- where it can't be ----
refused() { # FIELD MESSAGE
    apply <<END
name: refused
schedule: '@manual'
secrets: [api-token]
http: {url: '$at/status/200', $1}
END
    expect_status 6
    expect_stderr_has "$2"
}
refused 'redirects: 3' 'they would go where the answer says'
apply <<END
name: refused
schedule: '@manual'
secrets: [api-token]
http: '$at/echo?t=\${API_TOKEN}'
END
expect_status 6
expect_stderr_has 'a URL is shown in messages'
apply <<END
name: refused
schedule: '@manual'
secrets: [api-token]
function: work
END
expect_status 6
expect_stderr_has 'a function has none'

# ---- one that is not there ----
run peal secret delete api-token --yes
run peal run tells --wait
expect_stderr_has 'there is no secret api-token'
finish
