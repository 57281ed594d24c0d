import { codeOf } from '../core/error-code.ts'
import { EXIT } from '../core/start-error.ts'
import { type CliContext, CliError } from './context.ts'

/** A text has at most 1,600 characters. More than this is a slip, such as a log file, and is not read to its end. */
const MAX_BYTES = 65_536

/** The text of a message as it was given; `-` stands for standard input, without one line break at its end. */
export async function textOf({ stdin }: CliContext, given: string): Promise<string> {
  if (given !== '-') return given
  if (stdin === null) throw new CliError(TERMINAL, EXIT.usage)
  return decoded(await bytesOf(stdin).catch(cannotRead)).replace(/\r?\n$/, '')
}

const TERMINAL =
  '- reads the text from standard input, which is a terminal here: write the text instead of it, or pipe it: echo "disk full" | sgw send --from NUMBER --to NUMBER -'

async function bytesOf(stdin: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of stdin) {
    length += chunk.length
    if (length > MAX_BYTES)
      throw new CliError('Standard input has more than 64 KB: a text has at most 1,600 characters')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** It may be a folder, as in `sgw send - < .`, or a file that is open for writing only. */
function cannotRead(error: unknown): never {
  if (error instanceof CliError) throw error
  throw new CliError(
    `Standard input cannot be read (${codeOf(error) ?? 'unknown error'}): pipe the text, or give it a file`,
  )
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new CliError('Standard input is not UTF-8: convert it, for example with iconv -f LATIN1 -t UTF-8')
  }
}
