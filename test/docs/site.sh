#!/bin/bash
# The site of the documents: that it is made at all says that every document is in it and every link leads somewhere. Its search, and
# the mistakes that must end the build.
# shellcheck source=test/integration/lib.sh
. "$PEAL_SOURCE/test/integration/lib.sh"

run "$source_dir/tools/site.sh" "$scratch/site"
expect_status 0
for page in index guide concepts jobs schedules cli zh-cn zh-guide zh-concepts zh-faq; do
    run test -s "$scratch/site/$page.html"
    expect_status 0
done

# Nothing is loaded from elsewhere.
run grep -rlE '(src|srcset)="(https?:)?//' "$scratch/site" --include '*.html'
expect_stdout ''

# Every picture that a page shows is there.
run sh -c "cd '$scratch/site' && grep -ohE '(src|srcset)=\"[^\"]+' ./*.html | sed 's/.*\"//' | sort -u | while read -r file; do test -e \"\$file\" || echo \"\$file\"; done"
expect_stdout ''

# ---- search ----

cat >"$scratch/ask.cjs" <<'END'
global.window = {};
require(process.argv[2] + '/search-index.js');
require('node:fs').copyFileSync(process.argv[2] + '/search.js', process.argv[2] + '/search.cjs');
const { find, excerpt } = require(process.argv[2] + '/search.cjs');
const found = find(window.pealIndex, process.argv[3], process.argv[4]);
console.log(found.slice(0, 3).map((hit) => hit.page).join(' '));
if (found.length && !excerpt(found[0]).length) throw new Error('no excerpt');
END
search() { node "$scratch/ask.cjs" "$scratch/site" "$@"; } # WORDS [LANGUAGE]
finds() { # WORDS PAGE [LANGUAGE]: among the first three
    checks=$((checks + 1))
    search "$1" ${3:+"$3"} >"$scratch/out" 2>&1
    grep -qF "$2" "$scratch/out" || mismatch "$1: wants $2"
}
finds 'overlap' jobs.html#overlap
finds 'catch up' jobs.html#catching-up
finds 'retr' jobs.html#retries
finds 'advance-cursors' cluster.html#backup
finds 'fencing token' reliability.html
finds 'clock jumps' schedules.html
finds '触发' zh-
# Chinese without blanks: words as they stand, a question, and beside letters.
finds '租约' zh-concepts.html
finds '为什么不直接用cron' zh-faq.html
finds '节点宕机之后会怎样' zh-
finds '任务失败通知' zh-guide.html
# The reader's language first.
finds 'PEAL_FENCE' zh- zh-CN
finds 'fencing' concepts.html en
run search 'nosuchwordanywhere'
expect_stdout ''

# ---- languages ----

# The same page in the other language, or its first page; frames are in the language of the page.
switches() { # PAGE OTHER
    run grep -o 'class="language" href="[^"]*"' "$scratch/site/$1.html"
    expect_stdout "class=\"language\" href=\"$2.html\""
}
switches index zh-cn
switches zh-cn index
switches guide zh-guide
switches zh-faq faq
switches jobs zh-cn
run grep -c '<html lang="zh-CN">' "$scratch/site/zh-guide.html"
expect_stdout 1
run grep -c '搜索文档' "$scratch/site/zh-guide.html"
expect_stdout 1
run grep -c 'Search the documents' "$scratch/site/zh-guide.html"
expect_stdout 0

# ---- mistakes ----

mkdir -p "$scratch/bad/site" "$scratch/bad/docs"
cp "$source_dir"/site/build.mjs "$source_dir"/site/page.css "$source_dir"/site/search.js "$scratch/bad/site"
ln -s "$source_dir/site/node_modules" "$scratch/bad/site/node_modules"
echo "export const groups = [{ title: 'All', pages: ['docs/A.md'] }]; export const names = {};" >"$scratch/bad/site/pages.mjs"
printf '# A\n\n[gone](B.md) [no](#there) [up](A.md#a)\n' >"$scratch/bad/docs/A.md"
echo '# C' >"$scratch/bad/docs/C.md"
run node "$scratch/bad/site/build.mjs" "$scratch/bad" "$scratch/bad/out"
expect_status 1
expect_stderr 'site/pages.mjs: docs/C.md is in no group
docs/A.md: B.md: no such file
docs/A.md: #there: no such heading'

finish
