/** Control characters (C0, DEL, C1), bidirectional controls and line separators: they affect a terminal. */
const ACTS_ON_A_TERMINAL = /[\p{Cc}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu

/** The text in a form that is safe for a terminal. An escaped character reads `\u001b`, so that JSON keeps its value. */
export const printable = (text: string): string =>
  text.replaceAll(
    ACTS_ON_A_TERMINAL,
    (character) => String.raw`\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
