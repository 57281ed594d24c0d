import { type Mock, spyOn } from 'bun:test'
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { SocketSession } from '../../src/simulator/socket-session.ts'
import { SocketTickets } from '../../src/simulator/socket-tickets.ts'

// Secrets that a test can recognise, and where it finds them.

/** Base64 of a text inside a longer one: the characters that do not depend on its neighbours, for each of the three positions. */
const base64Of = (text: string): string[] =>
  [0, 1, 2].map((shift) =>
    Buffer.from(`${' '.repeat(shift)}${text}`)
      .toString('base64')
      .slice(shift === 0 ? 0 : shift + 1, -4),
  )

/** The encodings in which a text may occur in a file. */
const formsOf = (text: string): string[] => [
  text,
  encodeURIComponent(text),
  ...base64Of(text),
  Buffer.from(text).toString('hex'),
]

/** Returns the found needles, shortened, because the output of a failed test must not contain a secret. */
export function found(haystack: string, needles: Iterable<string>): string[] {
  return [...needles]
    .filter((needle) => formsOf(needle).some((form) => haystack.includes(form)))
    .map((needle) => `${needle.slice(0, 9)}… (${needle.length})`)
}

/** Reads the database, its WAL and all other files of the folder, and of those in it. Sockets are skipped. */
export function filesOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return Object.fromEntries(names.flatMap((name) => contentOf(folder, name)))
}

/** Nothing for a file that Litestream has renamed meanwhile. */
function contentOf(folder: string, name: string): [name: string, bytes: string][] {
  const path = join(folder, name)
  try {
    return statSync(path).isFile() ? [[name, readFileSync(path, 'latin1')]] : []
  } catch (error) {
    if (existsSync(path)) throw error
    return []
  }
}

/** The credential, and a part of it that no encoding of a whole one hides. */
const withPart = (secret: string): string[] => [secret, secret.slice(PART_START, PART_START + PART_LENGTH)]

const PART_START = 5
const PART_LENGTH = 20

/** The parts of a JWT that nobody else knows: all of it, its payload, its signature, and a part of that. */
export const partsOfJwt = (jwt: string): string[] => {
  const [, payload = '', signature = ''] = jwt.split('.')
  return [jwt, payload, ...withPart(signature)]
}

/** A JWE in its compact form. */
export const ENCRYPTED = /^[\w-]+(\.[\w-]*){4}$/

/** Notes the tickets and recovery tokens that simulators of this process give away, until it is disposed of. */
export function noteSocketSecrets(): Disposable & { secrets(): string[] } {
  const tickets = spyOn(SocketTickets.prototype, 'issue')
  const sessions = spyOn(SocketSession.prototype, 'open')
  return {
    secrets: () => [...returned(tickets), ...returned(sessions).map(({ token }) => token)].flatMap(withPart),
    [Symbol.dispose]() {
      tickets.mockRestore()
      sessions.mockRestore()
    },
  }
}

const returned = <Value>({ mock }: Mock<(...given: never[]) => Value>): Value[] =>
  mock.results.flatMap((result) => (result.type === 'return' ? [result.value] : []))
