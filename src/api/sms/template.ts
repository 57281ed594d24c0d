import { digitsOf, writeExactJson } from '../../core/exact-json.ts'
import { MAX_BODY_UNITS } from '../../core/limits.ts'
import { USUAL_PLACES } from './usual-places.ts'

/** A text in which each `{{path}}` stands for a value of a JSON body: its texts, and its paths as their segments. */
export type Template = readonly (string | readonly string[])[]

/** The parts of a template; null if it does not parse: an unclosed `{{`, or a path with an empty segment. */
export function parseTemplate(text: string): Template | null {
  const [first = '', ...others] = text.split('{{')
  const parts: (string | readonly string[])[] = [first]
  for (const other of others) {
    const end = other.indexOf('}}')
    const path = other.slice(0, Math.max(0, end)).trim().split('.')
    if (end < 0 || path.some((segment) => segment.trim() === '')) return null
    parts.push(path, other.slice(end + 2))
  }
  return parts
}

/** The text of a template with the values of a body: trimmed, and cut to 1600 UTF-16 units. */
export function filled(template: Template, body: unknown): string {
  const pieces = new Map<string, Piece>()
  let text = ''
  for (const part of template) {
    const piece = typeof part === 'string' ? pieceOf(part) : pieceAt(body, part, pieces)
    text += text === '' ? piece.trimmed : piece.whole
    if (text.slice(MAX_BODY_UNITS).trim() !== '') break
    text = text.slice(0, MAX_BODY_UNITS)
  }
  return cut(storable(text.trimEnd()))
}

/** The parts of a text that a result can show: in its middle, and at its beginning. */
interface Piece {
  whole: string
  trimmed: string
}

/** Each value is measured once: a template can repeat one of 100 KB hundreds of times. */
function pieceAt(body: unknown, path: readonly string[], pieces: Map<string, Piece>): Piece {
  const name = path.join('.')
  const known = pieces.get(name)
  if (known !== undefined) return known
  const piece = pieceOf(shown(found(body, path)))
  pieces.set(name, piece)
  return piece
}

const pieceOf = (text: string): Piece => ({ whole: shortened(text), trimmed: shortened(text.trimStart()) })

/** The last unit that counts may be the first of a pair. The mark stands for visible text after it. */
function shortened(text: string): string {
  const start = text.slice(0, MAX_BODY_UNITS + 1)
  return text.slice(start.length).trim() === '' ? start : `${start}…`
}

/** NUL and half a surrogate pair cannot be stored or sent, but an alert with them must still arrive. */
const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd')

const USUAL_PATHS = USUAL_PLACES.map((place) => place.split('.'))

const VISIBLE = /[^\s\p{Cc}\p{Cf}]/u

/** The text of a body without a template; empty if it has none in the usual places. */
export function usualText(body: unknown): string {
  const isReadable = (value: unknown): boolean =>
    typeof value === 'string' && digitsOf(value) === null && VISIBLE.test(value)
  const path = USUAL_PATHS.find((usual) => isReadable(found(body, usual)))
  return path === undefined ? '' : filled([path], body)
}

/** The value of a path: a name with dots takes precedence over nested members, and a longer name over a shorter one. */
const found = (body: unknown, path: readonly string[]): unknown =>
  byLongestName(body, path.join('.')) ?? path.reduce(memberOf, body)

/** Longer names with dots are not searched for: each lookup reads the entire name. A label of Kubernetes has at most 317 characters. */
const MAX_DOTTED_NAME = 400

function byLongestName(value: unknown, path: string): unknown {
  const longest = path.length > MAX_DOTTED_NAME ? path.lastIndexOf('.', MAX_DOTTED_NAME) : path.length
  for (let end = longest; end > 0; end = path.lastIndexOf('.', end - 1)) {
    const member = memberOf(value, path.slice(0, end))
    if (member !== undefined) return end === path.length ? member : byLongestName(member, path.slice(end + 1))
  }
  return undefined
}

const INDEX = /^(?:0|[1-9]\d*)$/

/** Only members of objects and elements of arrays, so that lengths, characters and inherited names are not found. */
function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  if (Array.isArray(value) && !INDEX.test(name)) return undefined
  return (value as Readonly<Record<string, unknown>>)[name]
}

function shown(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return digitsOf(value) ?? value
  // Each element takes at least two units, so the text ends before the others.
  return writeExactJson(Array.isArray(value) ? value.slice(0, MAX_BODY_UNITS) : value)
}

const CHARACTERS = new Intl.Segmenter()

/** Cuts between two characters as people see them: an emoji can have many units. */
function cut(text: string): string {
  if (text.length <= MAX_BODY_UNITS) return text
  return `${text.slice(0, CHARACTERS.segment(text).containing(MAX_BODY_UNITS - 1)?.index)}…`
}
