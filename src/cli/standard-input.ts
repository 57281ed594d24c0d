import { codeOf } from '../core/error-code.ts'
import { parseExactJson } from '../core/exact-json.ts'
import { MAX_REQUEST_BODY_BYTES } from '../core/limits.ts'
import { GIVE_PATH, PERHAPS_SECRET, isPerhapsSecret } from '../core/settings.ts'
import { EXIT } from '../core/start-error.ts'
import { type CliContext, CliError } from './context.ts'

/** A text has at most 1,600 characters. More than this is a mistake, such as a log file, and is not read to the end. */
const MAX_TEXT_BYTES = 65_536

/** The given text of a message; `-` stands for standard input, without the line break at its end. */
export async function textOf({ stdin }: CliContext, given: string): Promise<string> {
  if (given !== '-') return given
  if (stdin === null) throw new CliError(TERMINAL, EXIT.usage)
  const bytes = await bytesOf(stdin, MAX_TEXT_BYTES, 'more than 64 KB: a text has at most 1,600 characters')
  return decoded(bytes).replace(/\r?\n$/, '')
}

/** A secret from a file, or from standard input for `-`. An argument would show in every list of processes. */
export async function secretOf({ stdin }: CliContext, file: string): Promise<string> {
  if (file === '-' && stdin === null) throw new CliError(NO_SECRET, EXIT.usage)
  const [source, name] = file === '-' && stdin !== null ? [stdin, STANDARD_INPUT] : [Bun.file(file).stream(), file]
  const secret = decoded(await bytesOf(source, MAX_SECRET_BYTES, 'more than 64 KB', name), name).trim()
  if (secret === '') throw new CliError(`${name} is empty: put the secret into it`, EXIT.usage)
  return secret
}

/** The JSON on standard input, with numbers as they were written. */
export async function jsonOf({ stdin }: CliContext): Promise<unknown> {
  if (stdin === null) throw new CliError(NO_JSON, EXIT.usage)
  const text = decoded(await bytesOf(stdin, MAX_REQUEST_BODY_BYTES, 'more than 100 KB of JSON'))
  try {
    return parseExactJson(text)
  } catch {
    throw new CliError('Standard input is not JSON: sgw send … - sends a plain text')
  }
}

const MAX_SECRET_BYTES = 65_536
const NO_SECRET = '- reads the secret from standard input, which is a terminal here: give it a file, or pipe it'

const NO_JSON =
  'The JSON comes from standard input, which is a terminal here: pipe it: curl -s https://example.com/status | sgw notify --from NUMBER --to NUMBER'

const TERMINAL =
  '- reads the text from standard input, which is a terminal here: write the text instead of it, or pipe it: echo "disk full" | sgw send --from NUMBER --to NUMBER -'

const STANDARD_INPUT = 'Standard input'

async function bytesOf(
  source: AsyncIterable<Uint8Array>,
  maxBytes: number,
  tooMany: string,
  name = STANDARD_INPUT,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for await (const chunk of source) {
      length += chunk.length
      if (length > maxBytes) throw new CliError(`${name} has ${tooMany}`)
      chunks.push(chunk)
    }
  } catch (error) {
    cannotRead(error, name)
  }
  return Buffer.concat(chunks)
}

/** Standard input may be a folder, as in `sgw send - < .`, or a file opened only for writing. */
function cannotRead(error: unknown, name: string): never {
  if (error instanceof CliError) throw error
  if (name !== STANDARD_INPUT)
    throw new CliError(
      isPerhapsSecret(name)
        ? `The given value ${PERHAPS_SECRET}: ${GIVE_PATH}, or - and pipe it`
        : `${name} cannot be read: check the path and its permissions`,
      EXIT.usage,
    )
  throw new CliError(
    `Standard input cannot be read (${codeOf(error) ?? 'unknown error'}): pipe the text, or give it a file`,
  )
}

function decoded(bytes: Uint8Array, name = STANDARD_INPUT): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new CliError(`${name} is not UTF-8: convert it, for example with iconv -f LATIN1 -t UTF-8`)
  }
}
