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
const OPT_IN = ['START', 'UNSTOP', 'OPTIN', 'OPT IN', 'OPT-IN']

const MEANINGS: ReadonlyMap<string, 'out' | 'in'> = new Map([
  ...OPT_OUT.map((word) => [word, 'out'] as const),
  ...OPT_IN.map((word) => [word, 'in'] as const),
])

/** Longer texts are not keywords. This leaves room for composed characters and punctuation, and skips most texts quickly. */
const MAX_KEYWORD_UNITS = 40

/** Whether a text is exactly a keyword that opts out or in. Case and final punctuation do not count. */
export function keywordOf(text: string): 'out' | 'in' | null {
  const trimmed = text.trim()
  if (trimmed.length > MAX_KEYWORD_UNITS) return null
  const word = trimmed.normalize('NFC').replace(/[\p{P}\s]+$/u, '')
  return MEANINGS.get(word.toUpperCase()) ?? null
}
