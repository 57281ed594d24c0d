/** A request that is expensive to answer, within the limits. */
export interface Input {
  /** The endpoint and what is special about the request. */
  name: string
  bytes: Buffer
}

/** Bun refuses a request whose head is longer than 16 KB. */
export const HEAD_BYTES = 15_000
/** The limit of a body. */
export const BODY_BYTES = 102_400

interface Parts {
  method: string
  /** With its query. */
  path: string
  headers?: Readonly<Record<string, string>>
  body?: string | Buffer
}

let made = 0

/** Each comes from a client of its own, so that no client is blocked after ten failures. */
const client = (): string => `10.${(made >> 16) & 255}.${(made >> 8) & 255}.${made++ & 255}`

export function inputOf(name: string, { method, path, headers = {}, body }: Parts): Input {
  const content = Buffer.from(body ?? '')
  const fields = { Host: 'gateway', 'X-Forwarded-For': client(), ...headers }
  const lines = [`${method} ${path} HTTP/1.1`, ...Object.entries(fields).map((field) => field.join(': '))]
  if (body !== undefined) lines.push(`Content-Length: ${content.length}`)
  return {
    name: `${method} ${path.slice(0, 60).split('?')[0]}: ${name}`,
    bytes: Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), content]),
  }
}

/** As many repetitions of a text as fit into `bytes`. */
export const filledWith = (text: string, bytes: number): string =>
  text.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(text))))

/** As many parts as fit into `bytes`, each made from its number. */
export function listed(part: (n: number) => string, bytes: number, separator = ','): string {
  const parts: string[] = []
  for (let n = 0, length = 0; ; n++) {
    const next = part(n)
    length += Buffer.byteLength(next) + separator.length
    if (length > bytes) return parts.join(separator)
    parts.push(next)
  }
}
