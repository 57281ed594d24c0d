/** A JSON answer that no cache may keep. `Response.json` would spell the content type differently from the other answers. */
export const jsonAnswer = (body: unknown, { status = 200, headers = {} }: JsonAnswerOptions = {}): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { 'cache-control': 'no-store', ...headers, 'content-type': 'application/json' },
  })

interface JsonAnswerOptions {
  status?: number
  headers?: Record<string, string>
}
