import { z } from 'zod'
import { socketPath } from '../data-folder.ts'
import { isNoServer } from './ask.ts'
import { type CliContext, CliError } from './context.ts'

const Refusal = z.object({ error: z.string() })

/** Streams the running server's events as lines of JSON, until the server ends. Null if none runs. */
export async function openEvents(context: CliContext): Promise<AsyncIterable<string> | null> {
  const { path } = context.config.database
  if (path === null) return null
  const response = await fetch('http://sgw/events', { unix: socketPath(path) }).catch((error: unknown) => {
    if (isNoServer(error)) return null
    throw error
  })
  if (response === null) return null
  if (!response.ok || response.body === null)
    throw new CliError(Refusal.catch({ error: 'The server sends no events' }).parse(await response.json()).error)
  return linesOf(response.body)
}

/** Splits a stream into lines. A broken connection ends them like a closed one. */
async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for await (const chunk of stream) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      yield* lines.filter((line) => line !== '')
    }
  } catch {
    // The server is gone, so no more lines follow.
  }
}
