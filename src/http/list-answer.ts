import type { ListPage } from '../db/lists/list.ts'

/** A page of a list as the contract's answer, its items under this name. */
export const listAnswer = (
  name: string,
  { page, limit }: { page: number; limit: number },
  { items, total }: ListPage,
): Response =>
  new Response(bodyOf(`{"${name}":[${items}],"total":${total},"page":${page},"limit":${limit}}`), {
    headers: { 'content-type': 'application/json' },
  })

/**
 * With head and body over 16 KB Bun 1.4.4 writes an answer that was waited for piece by piece: four system calls a
 * header. Those of a stream go out at once.
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
