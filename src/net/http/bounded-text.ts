/** Returns null, without reading the rest, if the body is longer than `maxBytes`. */
export async function boundedText(chunks: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<string | null> {
  if (chunks === null) return ''
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) return null
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** The provider's own answers to calls without credentials have a few hundred bytes. */
const MAX_SHORT_BYTES = 64 * 1024

/** The body of an answer from an unknown sender; null if it ends early or is longer than the provider's own would be. */
export const shortText = ({ body }: Response): Promise<string | null> =>
  boundedText(body, MAX_SHORT_BYTES).catch(() => null)
