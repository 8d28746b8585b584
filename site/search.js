// Finds sections of the documents by words: all have to be there, as beginnings of words or, in Chinese,
// anywhere. What stands in a heading comes first.
'use strict';

/* exported find, excerpt */

// Pages in LANGUAGE ("en", "zh-CN") come before equal ones in the other.
function find(index, query, language, most = 20) {
  const words = query.toLowerCase().match(/\p{Script=Han}+|[^\s\p{Script=Han}]+/gu) ?? [];
  let found = sectionsWith(index, words, words.length);
  // Chinese has no blanks between its words: of a question that is nowhere as it stands, a third of the pairs of characters will do.
  const pairs = words.flatMap(pairsOf);
  if (!found.length && pairs.length > words.length) found = sectionsWith(index, pairs, Math.ceil(pairs.length / 3));
  const rank = (hit) => (language && hit.page.startsWith('zh-') === (language === 'zh-CN') ? hit.score * 1.5 : hit.score);
  return found.sort((a, b) => rank(b) - rank(a)).slice(0, most);
}

function pairsOf(word) {
  if (!/^\p{Script=Han}{3,}$/u.test(word)) return [word];
  const characters = [...word];
  return characters.slice(1).map((character, i) => characters[i] + character);
}

// Those that have at least so many of the words.
function sectionsWith(index, words, least) {
  if (!words.length) return [];
  const found = [];
  for (const [page, title, heading, text] of index) {
    const scores = words.map((word) => scoreOf(word, heading, 12) + scoreOf(word, title, 4) + scoreOf(word, text, 1)).filter(Boolean);
    if (scores.length < least) continue;
    // Of many words, to have one more counts more than to have one in a heading.
    const score = scores.reduce((sum, one) => sum + one, 0) * (scores.length / words.length) ** 4;
    found.push({ page, title, heading, text, score, words });
  }
  return found;
}

// More for a whole word than for a beginning; many in one section count little more than a few.
function scoreOf(word, text, weight) {
  const lower = text.toLowerCase();
  let score = 0;
  let count = 0;
  for (let at = lower.indexOf(word); at >= 0 && count < 4; at = lower.indexOf(word, at + word.length)) {
    const isLetter = (c) => c !== undefined && /[a-z0-9]/.test(c);
    if (isLetter(word[0]) && isLetter(lower[at - 1])) continue;
    count++;
    score += isLetter(lower[at + word.length]) ? weight / 2 : weight;
  }
  return count ? score / Math.sqrt(count) : 0;
}

// Some words around the first one that was found, cut into pieces: [text, isFound].
function excerpt({ text, words }, length = 160) {
  const lower = text.toLowerCase();
  const first = Math.min(...words.map((word) => lower.indexOf(word)).filter((at) => at >= 0), Infinity);
  const from = first === Infinity ? 0 : Math.max(0, first - length / 3);
  const shown = (from ? '… ' : '') + text.slice(from, from + length) + (from + length < text.length ? ' …' : '');
  const pattern = new RegExp(`(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})`, 'gi');
  return shown.split(pattern).map((piece, i) => [piece, i % 2 === 1]);
}

if (typeof document !== 'undefined') {
  const query = document.getElementById('query');
  const results = document.getElementById('results');
  let loading = null;

  const load = () =>
    (loading ??= new Promise((done) => {
      const script = document.createElement('script');
      script.src = 'search-index.js';
      script.onload = () => done(window.pealIndex);
      script.onerror = () => done([]);
      document.head.append(script);
    }));

  const element = (name, className, ...children) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    made.append(...children);
    return made;
  };

  const show = async () => {
    const text = query.value.trim();
    const index = text ? await load() : [];
    if (query.value.trim() !== text) return;
    const found = find(index, text, document.documentElement.lang);
    results.hidden = !text;
    const rows = found.map((hit) => {
      const link = element('a', '', element('strong', '', hit.heading));
      link.href = hit.page;
      if (hit.heading !== hit.title) link.append(element('small', '', hit.title));
      link.append(element('span', '', ...excerpt(hit).map(([piece, isFound]) => (isFound ? element('mark', '', piece) : piece))));
      return element('li', '', link);
    });
    results.replaceChildren(rows.length ? element('ol', '', ...rows) : element('p', '', query.dataset.nothing.replace('{words}', text)));
  };

  query.addEventListener('input', show);
  query.addEventListener('focus', load, { once: true });
  results.addEventListener('click', (event) => {
    if (event.target.closest('a')) results.hidden = true;
  });
  document.getElementById('search').addEventListener('submit', (event) => {
    event.preventDefault();
    results.querySelector('a')?.click();
  });
  document.addEventListener('keydown', (event) => {
    const isWriting = /^(input|textarea)$/i.test(document.activeElement?.tagName ?? '');
    if (event.key === '/' && !isWriting && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      query.focus();
    } else if (event.key === 'Escape') {
      results.hidden = true;
      query.blur();
    } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && !results.hidden) {
      const links = [query, ...results.querySelectorAll('a')];
      const at = links.indexOf(document.activeElement);
      links[Math.min(Math.max(at + (event.key === 'ArrowDown' ? 1 : -1), 0), links.length - 1)].focus();
      event.preventDefault();
    }
  });
  // On a wide screen the lists of documents and of sections are open.
  const wide = window.matchMedia('(min-width: 60rem)');
  const arrange = () => document.querySelectorAll('#menu, .contents').forEach((list) => (list.open = wide.matches));
  wide.addEventListener('change', arrange);
  arrange();
}

if (typeof module !== 'undefined') module.exports = { find, excerpt };
