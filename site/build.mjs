// node build.mjs ROOT OUT
// Makes a static site of the documents below ROOT: pages.mjs says of which. It needs no server, nor anything
// from elsewhere: it can be opened from a folder. Fails where a link of a document leads nowhere.
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import MarkdownIt from 'markdown-it';
import { groups, names } from './pages.mjs';

const [root, out] = process.argv.slice(2);
const here = import.meta.dirname ?? dirname(new URL(import.meta.url).pathname);
const sources = groups.flatMap((group) => group.pages);
const problems = [];

const escape = (text) => text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);

// docs/JOBS.md -> jobs.html; test/sim/README.md -> test-sim.html
function pageOf(source) {
  if (source === 'README.md') return 'index.html';
  const name = source.replace(/^docs\//, '').replace(/\/README\.md$/, '').replace(/^README\./, '').replace(/\.md$/, '');
  return name.toLowerCase().replace(/[^a-z0-9]+/g, '-') + '.html';
}

// As the usual viewers of Markdown make them, so that links in the documents fit both.
function slugOf(text, seen) {
  const base = text.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/\s/g, '-');
  const count = seen.get(base) ?? 0;
  seen.set(base, count + 1);
  return count ? `${base}-${count}` : base;
}

const plain = (token) =>
  (token.children ?? []).map((child) => (child.type === 'softbreak' ? ' ' : child.children ? plain(child) : child.content)).join('');

// ---- what each document has ----

function read(source) {
  const markdown = new MarkdownIt({ html: true });
  const tokens = markdown.parse(readFileSync(join(root, source), 'utf8'), {});
  const seen = new Map();
  const headings = [];
  const sections = [];
  let section = null;
  tokens.forEach((token, i) => {
    if (token.type === 'heading_open') {
      const text = plain(tokens[i + 1]);
      const slug = slugOf(text, seen);
      token.attrSet('id', slug);
      headings.push({ level: Number(token.tag[1]), text, slug });
      section = { heading: text, slug, words: [] };
      sections.push(section);
    } else if (token.type === 'inline' && tokens[i - 1]?.type !== 'heading_open') {
      section?.words.push(plain(token));
    } else if (token.type === 'fence' || token.type === 'code_block') {
      section?.words.push(token.content);
    }
  });
  const title = headings[0]?.text ?? source;
  return { source, page: pageOf(source), title, headings, sections, tokens, markdown, ids: new Set(headings.map((h) => h.slug)) };
}

const documents = new Map(sources.map((source) => [source, read(source)]));
for (const folder of ['docs', 'docs/zh'].filter((folder) => existsSync(join(root, folder))))
  for (const file of readdirSync(join(root, folder)))
    if (file.endsWith('.md') && !documents.has(`${folder}/${file}`)) problems.push(`site/pages.mjs: ${folder}/${file} is in no group`);

// ---- languages ----

const isChinese = (source) => /\.zh-CN\.md$|\/zh\//.test(source);

// The same document in the other language, if there is one.
function otherLanguage(source) {
  const name = source.startsWith('docs/')
    ? isChinese(source) ? source.replace('docs/zh/', 'docs/') : source.replace('docs/', 'docs/zh/')
    : isChinese(source) ? source.replace('.zh-CN.md', '.md') : source.replace('.md', '.zh-CN.md');
  return documents.get(name);
}

// What the frame of a page says, beside the document.
const words = {
  en: {
    contents: 'On this page', documents: 'Documents', neighbours: 'Neighbours', skip: 'Skip to the text', anchor: 'Link to this section', search: 'Search  ( / )',
    label: 'Search the documents', results: 'Results', nothing: 'Nothing was found for “{words}”.', other: '中文', otherCode: 'zh-CN',
  },
  'zh-CN': {
    contents: '本页内容', documents: '文档', neighbours: '上一页和下一页', skip: '跳到正文', anchor: '本节链接', search: '搜索  ( / )',
    label: '搜索文档', results: '搜索结果', nothing: '没有找到“{words}”。', other: 'English', otherCode: 'en',
  },
};
const languageOf = (document) => (isChinese(document.source) ? 'zh-CN' : 'en');

// ---- links ----

const copied = new Map(); // file of the project -> its place in the site

function copy(file) {
  const isShown = /\.(webp|png|svg|gif|webm|html|txt)$/.test(file);
  const place = isShown ? `files/${file}` : `files/${file}.txt`;
  copied.set(file, place);
  return place;
}

// Where a link of a document leads in the site; null: the text alone stays.
function resolve(document, href) {
  if (/^[a-z]+:/.test(href)) return href;
  const [path, anchor] = decodeURIComponent(href).split('#'); // markdown-it encodes what is not Latin
  const lacks = (what) => problems.push(`${document.source}: ${href}: ${what}`);
  if (!path) {
    if (!document.ids.has(anchor)) lacks('no such heading');
    return href;
  }
  let file = normalize(join(dirname(document.source), path)).replace(/\/$/, '');
  if (!existsSync(join(root, file))) {
    lacks('no such file');
    return null;
  }
  if (statSync(join(root, file)).isDirectory()) file = `${file}/README.md`;
  const target = documents.get(file);
  if (!target) return existsSync(join(root, file)) ? copy(file) : null;
  if (anchor && !target.ids.has(anchor)) lacks('no such heading');
  return target.page + (anchor ? `#${anchor}` : '');
}

function resolveHtml(document, html) {
  return html.replace(/\b(src|srcset|href)="([^"]+)"/g, (_, name, href) => `${name}="${resolve(document, href) ?? href}"`);
}

function rewrite(document, tokens) {
  const dropped = [];
  for (const token of tokens) {
    if (token.type === 'link_open') {
      const href = resolve(document, token.attrGet('href'));
      dropped.push(href === null);
      if (href !== null) token.attrSet('href', href);
      else Object.assign(token, { type: 'text', content: '', tag: '' });
    } else if (token.type === 'link_close') {
      if (dropped.pop()) Object.assign(token, { type: 'text', content: '', tag: '' });
    } else if (token.type === 'image') {
      token.attrSet('src', resolve(document, token.attrGet('src')) ?? '');
    } else if (token.type === 'html_inline' || token.type === 'html_block') {
      token.content = resolveHtml(document, token.content);
    }
    if (token.children) rewrite(document, token.children);
  }
}

// ---- pages ----

function navigation(current) {
  const entry = (source) => {
    const { page, title } = documents.get(source);
    const mark = source === current.source ? ' aria-current="page"' : '';
    return `<li><a href="${page}"${mark}>${escape(names[source] ?? title)}</a></li>`;
  };
  // What is in the reader's language comes first.
  const isOwn = (group) => isChinese(group.pages[0]) === isChinese(current.source);
  const ordered = isChinese(current.source) ? [...groups.filter(isOwn), ...groups.filter((group) => !isOwn(group))] : groups;
  return ordered.map((group) => `<h2>${group.title}</h2>\n<ul>\n${group.pages.map(entry).join('\n')}\n</ul>`).join('\n');
}

function contents(document) {
  const items = document.headings.filter((heading) => heading.level === 2 || heading.level === 3);
  if (items.length < 3) return '';
  const lines = items.map((h) => `<li class="level${h.level}"><a href="#${h.slug}">${escape(h.text)}</a></li>`);
  return `<details class="contents"><summary>${words[languageOf(document)].contents}</summary><ul>\n${lines.join('\n')}\n</ul></details>`;
}

function neighbours(document) {
  const at = sources.indexOf(document.source);
  const link = (source, words) =>
    source ? `<a href="${documents.get(source).page}">${words} ${escape(names[source] ?? documents.get(source).title)}</a>` : '<span></span>';
  return `<nav class="neighbours" aria-label="${words[languageOf(document)].neighbours}">${link(sources[at - 1], '←')}${link(sources[at + 1], '→')}</nav>`;
}

// To the same page in the other language; else to the first one there.
function languageSwitch(document) {
  const said = words[languageOf(document)];
  const { page } = otherLanguage(document.source) ?? documents.get(isChinese(document.source) ? 'README.md' : 'README.zh-CN.md') ?? document;
  return `<a class="language" href="${page}" lang="${said.otherCode}" hreflang="${said.otherCode}">${said.other}</a>`;
}

function render(document) {
  rewrite(document, document.tokens);
  const { markdown } = document;
  const language = languageOf(document);
  const said = words[language];
  markdown.renderer.rules.table_open = () => '<div class="table"><table>\n';
  markdown.renderer.rules.table_close = () => '</table></div>\n';
  markdown.renderer.rules.heading_close = (tokens, i) => {
    const slug = tokens[i - 2].attrGet('id');
    return ` <a class="anchor" href="#${slug}" aria-label="${said.anchor}">#</a></${tokens[i].tag}>\n`;
  };
  const body = markdown.renderer
    .render(document.tokens, markdown.options, {})
    .replace('</h1>', `</h1>\n${contents(document)}`);
  const title = document.source === 'README.md' ? 'peal' : `${document.title} · peal`;
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)}</title>
<link rel="stylesheet" href="page.css">
<script src="search.js" defer></script>
</head>
<body>
<a class="skip" href="#content">${said.skip}</a>
<header>
<a class="name" href="index.html">peal</a>
<form role="search" id="search"><input type="search" id="query" placeholder="${said.search}" aria-label="${said.label}" data-nothing="${said.nothing}" autocomplete="off"></form>
${languageSwitch(document)}
</header>
<div id="results" role="region" aria-label="${said.results}" aria-live="polite" hidden></div>
<div class="page">
<nav class="pages" aria-label="${said.documents}"><details id="menu"><summary>${said.documents}</summary>
${navigation(document)}
</details></nav>
<main id="content" lang="${language}">
${body}
${neighbours(document)}
</main>
</div>
</body>
</html>
`;
}

// A section is found by its heading and by its words.
function indexOf(document) {
  return document.sections.map((section) => [
    document.page + (section.slug === document.headings[0].slug ? '' : `#${section.slug}`),
    document.title,
    section.heading,
    section.words.join(' ').replace(/\s+/g, ' ').trim(),
  ]);
}

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
for (const document of documents.values()) writeFileSync(join(out, document.page), render(document));
// A script, not a document of data: a page that was opened from a folder may load that.
const index = [...documents.values()].flatMap(indexOf);
writeFileSync(join(out, 'search-index.js'), `window.pealIndex = ${JSON.stringify(index)};\n`);
for (const file of ['page.css', 'search.js']) cpSync(join(here, file), join(out, file));
for (const [file, place] of copied) {
  mkdirSync(join(out, dirname(place)), { recursive: true });
  cpSync(join(root, file), join(out, place));
}
if (problems.length) {
  console.error(problems.join('\n'));
  process.exit(1);
}
console.log(`${documents.size} pages, ${index.length} sections, ${copied.size} files: ${relative(process.cwd(), join(out, 'index.html'))}`);
