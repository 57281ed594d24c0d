import { MAX_BODY_UNITS } from '../../core/limits.ts'

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
  let text = ''
  for (const part of template) {
    const piece = typeof part === 'string' ? part : shown(found(body, part))
    text = text === '' ? piece.trimStart() : text + piece
    // No more is kept than the result needs, because a template can repeat a value of 100 KB hundreds of times.
    if (text.slice(MAX_BODY_UNITS).trim() !== '') break
    text = text.slice(0, MAX_BODY_UNITS)
  }
  return cut(text.trimEnd())
}

/** Where tools put the text of an alert. The first that can be read counts. */
const USUAL_PATHS = [
  'text',
  'message',
  'msg',
  'title',
  'summary',
  'commonAnnotations.summary',
  'alerts.0.annotations.summary',
].map((path) => path.split('.'))

const VISIBLE = /[^\s\p{Cc}\p{Cf}]/u

/** The text of a body without a template; empty if it has none in the usual places. */
export function usualText(body: unknown): string {
  const isReadable = (value: unknown): boolean => typeof value === 'string' && VISIBLE.test(value)
  const path = USUAL_PATHS.find((usual) => isReadable(found(body, usual)))
  return path === undefined ? '' : filled([path], body)
}

const INDEX = /^(?:0|[1-9]\d*)$/

/** Members of objects and elements of arrays only, so that no length, no character and no inherited name is found. */
function found(body: unknown, path: readonly string[]): unknown {
  let value = body
  for (const segment of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return undefined
    if (Array.isArray(value) && !INDEX.test(segment)) return undefined
    value = (value as Readonly<Record<string, unknown>>)[segment]
  }
  return value
}

function shown(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const CHARACTERS = new Intl.Segmenter()

/** Cuts between two characters as people see them: an emoji can have many units. */
function cut(text: string): string {
  if (text.length <= MAX_BODY_UNITS) return text
  return `${text.slice(0, CHARACTERS.segment(text).containing(MAX_BODY_UNITS - 1)?.index)}…`
}
