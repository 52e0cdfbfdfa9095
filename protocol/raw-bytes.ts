// Strings of the operating system that are not UTF-8. Each byte that cannot be decoded is kept as a lone surrogate, U+DC80 to
// U+DCFF, as Python does (PEP 383), so that encoding restores it. Only the host's own processes may have such strings.

const LONE_SURROGATE = /\p{Surrogate}/u;
const LONE_SURROGATES = /\p{Surrogate}/gu;
const NO_BYTE = /(?![\udc80-\udcff])\p{Surrogate}/u;

/** Whether the string is no valid Unicode: it has lone surrogates, which cannot be sent. */
export function isIllFormed(text: string): boolean {
  return LONE_SURROGATE.test(text);
}

/** Whether each lone surrogate of the string stands for a byte. */
export function isByteString(text: string): boolean {
  return !NO_BYTE.test(text);
}

/** The string for readers: U+FFFD in place of each lone surrogate. */
export function toWellFormed(text: string): string {
  return text.replace(LONE_SURROGATES, "\ufffd");
}
