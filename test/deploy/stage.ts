import { expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { PROJECT } from '../support/program.ts'
import { listenTo } from '../support/socket.ts'
import type { ManualClock } from '../support/manual-clock.ts'
import { pngOf } from '../support/media.ts'
import { type World, createWorld, until } from '../support/world.ts'

/** A part of tokens of links and logins. It must be in no log. */
export const CANARY = 'canary0123456789canary0123456789'

const TOKEN_PATHS = [
  `/v1/rc/connect?token=${CANARY}`,
  `/v1/rc/callback?code=${CANARY}&state=${CANARY}`,
  `/v1/rc/callback/?code=${CANARY}&state=${CANARY}&format=json`,
]

/** Creates a gateway behind a proxy. */
export const worldBehindProxy = (clock?: ManualClock): Promise<World> =>
  createWorld({
    env: { NODE_ENV: 'production', TRUSTED_PROXIES: '127.0.0.1' },
    work: false,
    ...(clock === undefined ? {} : { clock }),
  })

export const get = (url: string, init: BunFetchRequestInit = {}): Promise<Response> =>
  fetch(url, { redirect: 'manual', keepalive: false, tls: { rejectUnauthorized: false }, ...init })

/** Waits until the proxy forwards requests. */
export const serving = (url: string): Promise<unknown> =>
  until(async () => (await get(`${url}/health`).catch(() => null))?.ok, 10_000)

/**
 * Expects the gateway's answer with a request id for bodies of any excessive size, and that a body of 100 KB is
 * forwarded.
 */
export async function expectBodyLimit(url: string, world: World, lengths = ['told', 'untold']): Promise<void> {
  for (const bytes of [102_400, 102_401, 150_000, 204_800, 1_000_000, 20_000_000])
    for (const length of lengths) {
      const text = Buffer.alloc(bytes, 'x')
      const answer = await get(`${url}/v1/sms/send`, {
        method: 'POST',
        headers: { authorization: `Bearer ${world.key}`, 'x-request-id': `size-${bytes}` },
        body: length === 'told' ? text : withoutLength(text),
      })
      const [status, error] = bytes === 102_400 ? [400, 'Invalid JSON'] : [413, 'Payload too large']
      expect({ bytes, length, status: answer.status }).toEqual({ bytes, length, status })
      expect(await answer.text()).toBe(JSON.stringify({ error }))
      expect(answer.headers.get('content-type')).toBe('application/json')
      expect(answer.headers.get('x-request-id')).toBe(`size-${bytes}`)
    }
}

/** Expects that the largest picture arrives, and that one byte more gets the gateway's answer. Longer paths have the limit of the rest. */
export async function expectPictures(url: string, world: World, lengths = ['told', 'untold']): Promise<void> {
  const post = (path: string, body: BunFetchRequestInit['body']): Promise<Response> =>
    get(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.key}`, 'content-type': 'image/png', 'x-request-id': 'picture' },
      body,
    })
  const refused = async (answer: Response): Promise<void> => {
    expect([answer.status, await answer.text()]).toEqual([413, '{"error":"Payload too large"}'])
    expect(answer.headers.get('x-request-id')).toBe('picture')
  }
  const path = '/v1/sms/media'
  for (const [seed, as] of [...lengths, 'told'].entries()) {
    const bodyOf = (bytes: number) => (as === 'told' ? pngOf(bytes, seed) : withoutLength(pngOf(bytes, seed)))
    const at = seed === 0 ? `${path}/` : path
    const answer = await post(`${at}?fileName=a.png`, bodyOf(1_500_000))
    expect([at, as, answer.status, await answer.json()]).toEqual([
      at,
      as,
      201,
      expect.objectContaining({ size: 1_500_000, fileName: 'a.png' }),
    ])
    await refused(await post(at, bodyOf(1_500_001)))
  }
  for (const other of [`${path}/x`, `${path}x`]) await refused(await post(other, pngOf(102_401)))
}

/** Expects the gateway's 408 for a picture that trickles: the proxy passes on what it has, and waits longer. */
export async function expectSlowPicture(url: string, world: World, clock: ManualClock): Promise<void> {
  const { hostname, port, pathname } = new URL(`${url}/v1/sms/media`)
  const socket = connect({ host: hostname, port: Number(port), servername: 'localhost', rejectUnauthorized: false })
  const lines = [`Host: ${hostname}:${port}`, `Authorization: Bearer ${world.key}`, 'Content-Type: image/png']
  let text = ''
  socket.on('data', (bytes) => void (text += bytes.toString('latin1')))
  socket.on('error', () => undefined)
  socket.write(`POST ${pathname} HTTP/1.1\r\n${lines.join('\r\n')}\r\nContent-Length: 1000000\r\n\r\n`)
  socket.write(pngOf(20_000))
  try {
    await until(() => {
      socket.write('x')
      clock.advance(1000)
      return text.includes('}')
    })
    expect(text).toStartWith('HTTP/1.1 408 ')
    expect(text).toContain('{"error":"Request timeout"}')
  } finally {
    socket.destroy()
  }
}

/** Opens links and the callback of a login, as a browser would. Returns the statuses. */
export async function visitTokens(url: string): Promise<number[]> {
  const statuses: number[] = []
  for (const path of TOKEN_PATHS) {
    const answer = await get(`${url}${path}`, { headers: { referer: `${url}${path}` } })
    await answer.text()
    statuses.push(answer.status)
  }
  return statuses
}

/** A proxy in front of a gateway in production. */
interface Stage {
  world: World
  url: string
  /** Where it speaks plain HTTP. */
  plainUrl: string
  log(): string
}

/** Expects that no log of the proxy has a token, even if the gateway does not answer: then it answers `statusWithout` itself. */
export async function expectNoTokenLogged({ world, url, plainUrl, log }: Stage, statusWithout: number): Promise<void> {
  expect(await visitTokens(url)).toEqual([400, 400, 400])
  expect(await visitTokens(plainUrl)).toEqual([301, 301, 301])
  await world.running.stop()
  expect(await visitTokens(url)).toEqual([statusWithout, statusWithout, statusWithout])
  const logged = await until(() => (log().split('/v1/rc/connect').length > 3 ? log() : null))
  expect(logged).not.toContain(CANARY)
}

/** The prefix of the manual's examples. */
export const PREFIX = '/sms-gateway'

/** The lines that the manual gives for a proxy below a prefix, block by block. */
export function prefixLines(language: string): string[] {
  const manual = readFileSync(join(PROJECT, 'docs/install.md'), 'utf8')
  const [, section = ''] = manual.split('### Under a path prefix')
  return [...section.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'gm'))].map(([, lines = '']) => lines)
}

/** Expects of the way to the gateway what a console and a program need: a socket, a compressed list, and the console's files. */
export async function expectWholeWay(url: string, world: World): Promise<void> {
  const authorization = `Bearer ${world.key}`
  await using socket = await listenTo(url, { apiKey: world.key })
  for (let count = 0; count < 30; count++)
    await world.send({ body: `Text ${count}` }, { headers: { 'x-forwarded-proto': 'https' } })
  await socket.received(1 + 30)
  const path = '/v1/sms/messages?limit=100'
  const list = await get(`${url}${path}`, { headers: { authorization, 'accept-encoding': 'br' }, decompress: false })
  const bytes = await list.bytes()
  expect({ status: list.status, encoding: list.headers.get('content-encoding') }).toEqual({
    status: 200,
    encoding: 'br',
  })
  const text = await (await get(`${url}${path}`, { headers: { authorization } })).text()
  expect((JSON.parse(text) as { messages: unknown[] }).messages).toHaveLength(30)
  expect(bytes.length).toBeLessThan(text.length / 4)
  await expectConsole(url)
}

/** Expects that the console is found from the address alone, and its files by what the page names. */
async function expectConsole(url: string): Promise<void> {
  const start = await get(`${url}/`, { headers: { accept: 'text/html' } })
  const page = new URL(start.headers.get('location') ?? '', `${url}/`)
  expect(page.href).toBe(`${url}/console/`)
  const text = await (await get(page.href)).text()
  const names = [...text.matchAll(/src="([^"]+)"/g)].map(([, name = '']) => name)
  expect(names).toContain('main.js')
  for (const name of names) expect((await get(new URL(name, page).href)).status).toBe(200)
}

/** A body whose length no header tells. A blob's stream has one. */
const withoutLength = (body: Uint8Array): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      controller.enqueue(body)
      controller.close()
    },
  })
