import type { Page } from '../../db/list-page.ts'

/** The contract's answer for a page of a list; `name` is the member with the items. */
export const listAnswer = (
  name: string,
  { page, limit }: { page: number; limit: number },
  { items, total }: Page<unknown>,
): Response =>
  new Response(bodyOf(JSON.stringify({ [name]: items, total, page, limit })), {
    headers: { 'content-type': 'application/json' },
  })

/**
 * If head and body exceed 16 KB, Bun 1.4.4 writes the head of an asynchronous answer in pieces, with four system calls per header.
 * The head of a stream is written at once, so large answers are streams.
 */
const LARGE = 10_000

function bodyOf(text: string): string | ReadableStream<Uint8Array> {
  if (text.length < LARGE) return text
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text))
      controller.close()
    },
  })
}
