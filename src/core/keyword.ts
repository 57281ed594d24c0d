const OPT_OUT = [
  'STOP',
  'STOPALL',
  'UNSUBSCRIBE',
  'END',
  'QUIT',
  'CANCEL',
  'REVOKE',
  'OPTOUT',
  'OPT OUT',
  'OPT-OUT',
  'ARRET',
  'ARRÊT',
]
const OPT_IN = ['START', 'UNSTOP', 'OPTIN', 'OPT IN', 'OPT-IN', 'SUBSCRIBE', 'RESUME', 'CONTINUE']

const MEANINGS: ReadonlyMap<string, 'out' | 'in'> = new Map([
  ...OPT_OUT.map((word) => [word, 'out'] as const),
  ...OPT_IN.map((word) => [word, 'in'] as const),
])

/** No SMS is longer. Together with `TOO_MANY_LETTERS` this bounds the time for any text. */
const MAX_KEYWORD_UNITS = 1600

/**
 * 17 visible letters or combining marks: more than any keyword has. This alone decides for most texts. Normalizing hundreds of marks in a row
 * takes milliseconds.
 */
const TOO_MANY_LETTERS =
  /^(?:[^[[\p{L}\p{Mn}\p{Mc}]--\p{Default_Ignorable_Code_Point}]]*[[\p{L}\p{Mn}\p{Mc}]--\p{Default_Ignorable_Code_Point}]){17}/v

/**
 * Signs that NFKC would turn into letters, digits or marks: emoji such as ™, keycaps, and accents that stand alone. Ⓜ is one of the
 * circled letters, unless a variation selector makes it an emoji.
 */
const SIGN = /[\d#*]\uFE0F?\u20E3|(?!Ⓜ(?!\uFE0F))\p{Extended_Pictographic}|\p{Sk}/gu

/** Invisible characters: zero-width characters, soft hyphens, direction marks, variation selectors, control characters that are not blanks. */
const INVISIBLE = /[[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}]--[\t-\r\x85]]/gv

/** From the first letter to the last, without the punctuation and symbols around them. */
const BETWEEN_ENDS = /[\p{L}\p{M}\p{N}].*[\p{L}\p{M}\p{N}]/su

/** U+2800 is the Braille blank, which Unicode classes as a symbol. */
const BLANKS = /[\s\x85\u2800]+/gu

const DASH = /[\p{Pd}\u2212]/gu

/**
 * Whether a text is exactly a keyword that opts out or in. Ignored: case and width, invisible characters, punctuation, symbols and emoji at
 * both ends; blanks of any kind are one space.
 */
export function keywordOf(text: string): 'out' | 'in' | null {
  if (text.length > MAX_KEYWORD_UNITS || TOO_MANY_LETTERS.test(text)) return null
  const visible = text.replace(SIGN, '*').replace(INVISIBLE, '').normalize('NFKC')
  const word = BETWEEN_ENDS.exec(visible)?.[0].replace(BLANKS, ' ').replace(DASH, '-')
  return word === undefined ? null : (MEANINGS.get(word.toUpperCase()) ?? null)
}
