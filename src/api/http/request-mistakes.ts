import { isUtf8 } from 'node:buffer'
import type { z } from 'zod'
import { ApiError, errorText } from '../../core/errors.ts'
import { MAX_MEDIA_BYTES } from '../../core/limits.ts'
import { mediaTypeOf } from '../../core/media-types.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { excessOf } from './body.ts'
import type { RequestContext } from './request-context.ts'

/** A body as sent, as parsed (undefined if that failed), and its expected form. */
interface RefusedBody {
  bytes: Uint8Array
  body: unknown
  schema: z.ZodType | undefined
}

/** Outside production the log says what is wrong with a body that is refused: that it is not JSON, or which field has the wrong type. */
export function noteBodyMistake(
  { config, log }: Gateway,
  { endpointPath: path, received: { request } }: RequestContext,
  { bytes, body, schema }: RefusedBody,
  error: unknown,
): void {
  if (config.production || !(error instanceof ApiError)) return
  if (error.message === errorText('badJson')) return log.warn({ path }, bodyMistake(bytes, body, request.headers))
  for (const { field, mistake } of typeMistakes(schema, body)) log.warn({ path, field }, mistake)
}

/** The same for a file that gets `Unsupported media type` or `Payload too large`. */
export function noteFileMistake(
  { config, log }: Gateway,
  { endpointPath: path, received: { request } }: RequestContext,
  error: unknown,
): void {
  if (config.production || !(error instanceof ApiError)) return
  const { headers } = request
  const mistake =
    error.message === errorText('unsupportedMedia')
      ? fileMistake(headers.get('content-type') ?? '')
      : error.message === errorText('tooLarge')
        ? sizeMistake(Number(headers.get('content-length')))
        : null
  if (mistake !== null) log.warn({ path }, `the file is refused: ${mistake} (docs/send.md)`)
}

/** The same for a request that gets `Missing or invalid API key`. Its path may be any text, so the line has only its id. */
export function noteKeyMistake({ config, log }: Gateway, { requestId }: RequestContext, header: string | null): void {
  if (config.production) return
  log.warn(
    { requestId },
    `no key in the header Authorization: ${keyMistake(header)}; send "Authorization: Bearer sgw_…"`,
  )
}

// The texts are fixed: no part of a body or a header gets into the log, except the names of known fields.

function bodyMistake(bytes: Uint8Array, body: unknown, headers: Headers): string {
  const mistake = encodingMistake(bytes, headers) ?? (body === undefined ? textMistake(bytes) : null)
  return mistake === null
    ? 'the body is JSON, but not an object: begin it with {'
    : `the body is not JSON: ${mistake} (docs/send.md)`
}

const SEND_BYTES = 'send the bytes of the file themselves, and set its Content-Type'

/** By the beginning of a Content-Type. */
const FILE_MISTAKES: readonly [beginning: string, mistake: string][] = [
  ['multipart/', `the body is a form; ${SEND_BYTES}`],
  [
    'application/x-www-form-urlencoded',
    'its Content-Type is that of a form, which curl sends unless you set another; set it, and send with --data-binary',
  ],
  ['application/json', `its Content-Type says that it is JSON; ${SEND_BYTES}`],
  ['application/octet-stream', 'its Content-Type says nothing about it; set its own, such as image/jpeg'],
]

function fileMistake(header: string): string {
  const type = mediaTypeOf(header)
  if (type !== null)
    return `its Content-Type is ${type}, but its bytes are those of something else; set the Content-Type that it has, and send it unchanged`
  const named = header.trim().toLowerCase()
  if (named === '') return 'it has no Content-Type; set its own, such as image/jpeg'
  const [, mistake] = FILE_MISTAKES.find(([beginning]) => named.startsWith(beginning)) ?? []
  return mistake ?? 'files of its Content-Type cannot be sent; a JPEG is image/jpeg, a contact text/vcard'
}

const bytesText = (bytes: number): string => `${bytes.toLocaleString('en')} bytes`

/** The length is known only of a body that announces it. */
function sizeMistake(length: number): string {
  const size = length > MAX_MEDIA_BYTES ? bytesText(length) : `more than ${bytesText(MAX_MEDIA_BYTES)}`
  return `it has ${size}, and a file may have ${bytesText(MAX_MEDIA_BYTES)}; make it smaller`
}

function encodingMistake(bytes: Uint8Array, headers: Headers): string | null {
  const [first, second] = bytes
  const encoding = headers.get('content-encoding') ?? 'identity'
  if (encoding.toLowerCase() !== 'identity' || (first === 0x1f && second === 0x8b))
    return 'it is compressed; send it without Content-Encoding'
  const isMarked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
  if (isMarked || first === 0 || second === 0) return 'it is UTF-16; send UTF-8'
  return isUtf8(bytes) ? null : 'it is not UTF-8, but perhaps Latin-1; send UTF-8'
}

function textMistake(bytes: Uint8Array): string {
  const excess = excessOf(bytes)
  if (excess === 'depth') return 'it is nested too deeply'
  if (excess === 'members') return 'it has more than 4,000 members'
  const text = new TextDecoder().decode(bytes).trim()
  if (/^[\w%.+-]+=|^--[^\s]+\s/.test(text)) return 'it is a form; send JSON'
  if (/^'|^\{\s*['\w]/.test(text))
    return 'its double quotes are missing, or single ones in their place; the shell may have removed them'
  if (hasRawControl(text)) return 'a string in it has a raw line break or tab; write \\n or \\t'
  return 'check it with a JSON parser'
}

/** Whether a string contains a control character. Each match is a whole string, so the time grows only with the length. */
function hasRawControl(text: string): boolean {
  const strings = text.matchAll(/"(?:[^"\\\p{Cc}]|\\\P{Cc})*\\?(?:"|(\p{Cc})|$)/gu)
  return strings.some(([, control]) => control !== undefined)
}

const KINDS: Readonly<Record<string, string>> = {
  undefined: 'missing',
  null: 'null',
  string: 'a string',
  number: 'a number',
  int: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
}

/** Fields of the schema whose values have another type, or are missing. */
function typeMistakes(schema: z.ZodType | undefined, body: unknown): { field: string; mistake: string }[] {
  const issues = schema?.safeParse(body, { reportInput: true }).error?.issues ?? []
  return issues.flatMap((issue) => {
    if (issue.code !== 'invalid_type') return []
    const field = issue.path.join('.') || 'the body'
    return [
      { field, mistake: `${field} is ${KINDS[kindOf(issue.input)]}: send ${KINDS[issue.expected] ?? issue.expected}` },
    ]
  })
}

const kindOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)

function keyMistake(header: string | null): string {
  if (header === null) return 'there is none'
  if (/^basic\b/i.test(header)) return 'it is HTTP Basic'
  if (header.startsWith('sgw_')) return 'the word Bearer is missing'
  if (/^bearer\s+whsec_/i.test(header)) return 'it is the secret of a webhook, which signs deliveries and is not a key'
  return /^bearer\s*$/i.test(header)
    ? 'there is no key after Bearer (is a variable empty?)'
    : 'it does not begin with "Bearer sgw_"'
}
