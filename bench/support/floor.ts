/** A bare Bun server that parses the same body and stores nothing: the limit that no durable design can pass. */
const FLOOR = `const server = Bun.serve({ port: 0, hostname: '127.0.0.1', async fetch(request) {
  const { to } = await request.json()
  return Response.json({ messageId: 'msg_000000000000', status: to ? 'queued' : '' }, { status: 202 })
} })
console.log(server.port)`

export interface Floor extends Disposable {
  port: number
}

/** The floor, in a process of its own. */
export async function startFloor(source: string = FLOOR): Promise<Floor> {
  const child = Bun.spawn(['bun', '-e', source], { stdout: 'pipe' })
  return { port: Number(await firstLine(child.stdout)), [Symbol.dispose]: () => child.kill('SIGKILL') }
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  for await (const chunk of stream) return new TextDecoder().decode(chunk).trim()
  throw new Error('The floor did not start')
}
