// What was typed, in the letters a to z that the models of this page know.

// Letters that Unicode does not take apart into one from a to z and a mark.
const SPELLED = { ß: "ss", æ: "ae", œ: "oe", ø: "o", ł: "l", đ: "d", ð: "d", þ: "th", ı: "i" };

/** A text in small letters, without marks (ü, é) and apostrophes; what has no place among a to z stays. */
export function plain_letters(text) {
  const plain = [...text.toLowerCase().normalize("NFD")].map((letter) => SPELLED[letter] ?? letter).join("");
  return plain.replace(/\p{M}|['’‘ʼ`´]/gu, "").normalize("NFC");
}

/** What was read in place of what was typed, as a sentence; "" if they are the same. */
export function read_as(text, words) {
  if (words.length === 0 || text.trim().toLowerCase() === words[0]) return "";
  if (words.length === 1) return `Read as “${words[0]}”: it knows the letters from a to z and nothing else.`;
  return `Read as ${words.length} words, each by itself: ${words.join(", ")}. It has never read two together.`;
}
