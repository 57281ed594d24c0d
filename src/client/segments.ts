/** The encoding of a text and the number of SMS segments that carry it, by 3GPP TS 23.038 and 23.040. */

export const ENCODINGS = ['GSM-7', 'UCS-2'] as const
export type Encoding = (typeof ENCODINGS)[number]

export interface TextSize {
  encoding: Encoding
  segments: number
  /** Septets in GSM-7, UTF-16 code units in UCS-2. */
  characters: number
  /** Distinct code points that GSM-7 lacks, in order of their first occurrence. */
  nonGsmCharacters: string[]
}

/** The basic alphabet: one septet for each character. */
const BASIC = String.raw`A-Za-z0-9 !"#$%&'()*+,\-./:;<=>?@_\n\r£¥èéùìòÇØøÅåΔΦΓΛΩΠΨΣΘΞÆæßÉ¤¡ÄÖÑÜ§¿äöñüà`
/** The extension table: an escape and one more septet. */
const EXTENSION = String.raw`\f^{}\\[~\]|€`

const IS_BASIC = new RegExp(`^[${BASIC}]*$`)
const IS_GSM = new RegExp(`^[${BASIC}${EXTENSION}]*$`)
const EXTENDED = new RegExp(`[${EXTENSION}]`, 'g')
const NOT_GSM = new RegExp(`[^${BASIC}${EXTENSION}]`, 'gu')

/** What one segment holds: alone, and as a part of several, where a header takes six octets. */
const CAPACITY = { 'GSM-7': { alone: 160, part: 153 }, 'UCS-2': { alone: 70, part: 67 } } as const

export function textSize(text: string): TextSize {
  const encoding = IS_GSM.test(text) ? 'GSM-7' : 'UCS-2'
  return {
    encoding,
    segments: segmentsOf(text),
    characters: encoding === 'UCS-2' ? text.length : text.length + (text.match(EXTENDED)?.length ?? 0),
    nonGsmCharacters: [...new Set(text.match(NOT_GSM))],
  }
}

/** Runs for every sent message: most texts need only the first line. */
export function segmentsOf(text: string): number {
  if (IS_BASIC.test(text)) return segmentsFor('GSM-7', text.length, () => text.length / CAPACITY['GSM-7'].part)
  if (!IS_GSM.test(text)) return segmentsFor('UCS-2', text.length, () => partsOf('UCS-2', text, (char) => char.length))
  const septetsOf = (char: string): number => (EXTENSION_CHARS.has(char) ? 2 : 1)
  const septets = text.length + (text.match(EXTENDED)?.length ?? 0)
  return segmentsFor('GSM-7', septets, () => partsOf('GSM-7', text, septetsOf))
}

const EXTENSION_CHARS: ReadonlySet<string> = new Set('\f^{}\\[~]|€')

const segmentsFor = (encoding: Encoding, units: number, parts: () => number): number =>
  units <= CAPACITY[encoding].alone ? 1 : Math.ceil(parts())

/** Neither an escape sequence nor a surrogate pair is cut in two. */
function partsOf(encoding: Encoding, text: string, unitsOf: (char: string) => number): number {
  const { part } = CAPACITY[encoding]
  let parts = 1
  let used = 0
  for (const char of text) {
    const units = unitsOf(char)
    if (used + units > part) {
      parts++
      used = 0
    }
    used += units
  }
  return parts
}
