// Search: words that hold what was searched for, also where it is a word itself; and the sentence below each result.

/* global Search */
const LONGEST = 240; // characters shown
const PROSE = "article :is(p, li, dd, h1, h2, h3, td)";

/** How many of the words stand in a text; one that is found by its beginning alone counts half. */
function found(text, words) {
  const lower = text.toLowerCase();
  return words.reduce((sum, word) => sum + (lower.includes(word) ? 1 : word.length > 4 && lower.includes(word.slice(0, -2)) ? 0.5 : 0), 0);
}

/** The part of a text that holds most of the words. */
function around(text, words) {
  if (text.length <= LONGEST) return text;
  const places = words.map((word) => text.toLowerCase().indexOf(word)).filter((place) => place >= 0);
  let start = Math.max(0, Math.min(...(places.length ? places : [0])) - LONGEST / 3);
  const sentence = text.lastIndexOf(". ", start + LONGEST / 3);
  if (sentence >= start) start = sentence + 2;
  else if (start > 0) start = text.indexOf(" ", start) + 1;
  const part = text.slice(start, start + LONGEST);
  const cut = start + LONGEST < text.length;
  return `${start > 0 ? "… " : ""}${cut ? `${part.slice(0, part.lastIndexOf(" "))} …` : part}`;
}

/** The theme looks for "flash" in "flashattention" only where no page has the word "flash" itself. */
const by_terms = Search.performTermsSearch;
Search.performTermsSearch = (...asked) => {
  for (const terms of [Search._index.terms, Search._index.titleterms]) {
    const words = Object.keys(terms);
    const parts = (word) => words.filter((term) => term.includes(word)).flatMap((term) => terms[term]);
    for (const word of asked[0]) if (word.length > 2 && Object.hasOwn(terms, word)) terms[word] = [...new Set(parts(word))];
  }
  return by_terms(...asked);
};

Search.makeSearchSummary = (html, keywords, anchor) => {
  const page = new DOMParser().parseFromString(html, "text/html");
  page.querySelectorAll(".headerlink, script, style, nav, .notebook-links").forEach((node) => node.remove());
  const part = (anchor && page.querySelector(anchor)) || page;
  const inside = part === page ? PROSE : PROSE.replace("article ", "");
  const words = [...keywords].map((word) => word.toLowerCase());
  const texts = [...part.querySelectorAll(inside)].filter((node) => !node.closest(".cell_output")).map((node) => node.textContent.replace(/\\[()[\]]/g, "").replace(/\s+/g, " ").trim());
  const counts = texts.map((text) => found(text, words) + (/[.:?!]$/.test(text) ? 0.25 : 0)); // a sentence before a title
  const best = counts.indexOf(Math.max(...counts));
  if (best < 0) return null;
  const summary = document.createElement("p");
  summary.className = "context";
  summary.textContent = around(texts[best], words);
  return summary;
};
