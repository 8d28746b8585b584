# Sourced by the tests of webhooks, after lib.sh: what senders sign, and how they send it.
# shellcheck shell=bash
# shellcheck disable=SC2154 # lib.sh has its variables

# As GitHub does: the HMAC of the file in hexadecimal digits, with the text as key.
sign_github() { # SECRET FILE
    openssl dgst -sha256 -hmac "$1" <"$2" | sed 's/.*= */sha256=/'
}

# As Standard Webhooks say, and so GitLab with a signing token.
sign_standard() { # SECRET ID TIMESTAMP FILE
    local key
    key=$(printf %s "${1#whsec_}" | base64 -d | od -An -v -tx1 | tr -d ' \n')
    { printf '%s.%s.' "$2" "$3" && cat "$4"; } |
        openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64 -w 0 | sed 's/^/v1,/'
}

# The answer's body is stdout, its status the first line of stderr.
post() { # URL FILE [HEADER...]
    local url=$1 file=$2 header words=()
    shift 2
    for header in "$@"; do
        words+=(-H "$header")
    done
    run curl -sS --path-as-is -o "$scratch/answer" -w '%{stderr}%{http_code}\n' -X POST \
        --data-binary "@$file" -H 'Content-Type: application/json' "${words[@]}" "$url"
    cp "$scratch/answer" "$scratch/out"
}

post_github() { # URL SECRET DELIVERY FILE [HEADER...]
    local url=$1 secret=$2 delivery=$3 file=$4
    shift 4
    post "$url" "$file" "X-Hub-Signature-256: $(sign_github "$secret" "$file")" \
        "X-GitHub-Delivery: $delivery" 'X-GitHub-Event: push' "$@"
}

post_standard() { # URL SECRET ID TIMESTAMP FILE [HEADER...]
    local url=$1 secret=$2 id=$3 at=$4 file=$5
    shift 5
    post "$url" "$file" "webhook-signature: $(sign_standard "$secret" "$id" "$at" "$file")" \
        "webhook-id: $id" "webhook-timestamp: $at" "$@"
}

expect_code() { # HTTP STATUS
    checks=$((checks + 1))
    [ "$(head -n 1 "$scratch/err")" = "$1" ] || mismatch "expected the answer $1"
}

# Makes a webhook; $url and $secret are its.
make_webhook() { # JOB [OPTION...]
    run peal webhook create "$@"
    expect_status 0
    url=$(sed -n 1p "$scratch/out")
    secret=$(sed -n 2p "$scratch/out")
}
