/** An answer of JSON. `Response.json` would spell the content type in another way than the other answers. */
export const jsonAnswer = (body: unknown, { status = 200, headers = {} }: JsonAnswerOptions = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { ...headers, 'content-type': 'application/json' } })

interface JsonAnswerOptions {
  status?: number
  headers?: Record<string, string>
}
