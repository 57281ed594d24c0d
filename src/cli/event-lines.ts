import { askServer, resultOf } from './ask.ts'
import type { CliContext } from './context.ts'

/** Streams the running server's events, of one tenant or all, as lines of JSON, until the server ends. Null if no server runs. */
export async function openEvents(context: CliContext, tenantId?: string): Promise<AsyncIterable<string> | null> {
  const query = tenantId === undefined ? '' : `?${new URLSearchParams({ tenantId })}`
  const response = await askServer(context, { method: 'GET', path: `/v1/operator/events${query}` })
  if (response === null) return null
  if (!response.ok || response.body === null) await resultOf(response)
  return response.body === null ? null : linesOf(response.body)
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
