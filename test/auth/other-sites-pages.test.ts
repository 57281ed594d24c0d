import { expect, test } from 'bun:test'
import { Peers } from '../../src/api/http/request-context.ts'
import { until, HOME, type World, createWorld } from '../support/world.ts'

const EVIL = 'http://evil.example'

const atHome = (env: Record<string, string> = {}): Promise<World> =>
  createWorld({ work: false, connect: false, env: { ...HOME, ...env } })

/** Browsers let any page send this without asking first. Returns the statuses. */
async function signIns({ url }: World, origin: string, count = 12): Promise<number[]> {
  const statuses: number[] = []
  for (let tries = 0; tries < count; tries++) {
    const headers = { origin, 'content-type': 'text/plain' }
    const answer = await fetch(`${url}/v1/operator/session`, { method: 'POST', headers, body: '{"login":"wrong"}' })
    statuses.push(answer.status)
  }
  return statuses
}

/** Sockets are open to pages of all sites as well. */
async function socketsOf({ url }: World, origin: string, count = 12): Promise<void> {
  for (let tries = 0; tries < count; tries++) {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { headers: { origin } })
    socket.addEventListener('open', () => socket.send('{"type":"auth","apiKey":"sgw_wrong"}'))
    await until(() => socket.readyState === WebSocket.CLOSED)
  }
}

const me = async (world: World): Promise<number> => (await world.call('GET', '/v1/me')).status

test('a page of another site in a browser here cannot block the programs of this machine', async () => {
  await using world = await atHome({ CORS_ORIGINS: '*' })
  expect((await signIns(world, EVIL)).slice(-2)).toEqual([429, 429])
  await socketsOf(world, EVIL)
  // A sandboxed frame, or a file.
  await signIns(world, 'null')
  // Another program of this machine, and its page.
  await signIns(world, 'http://localhost:1')
  expect(await me(world)).toBe(200)
  expect(await signIns(world, world.url, 1)).toEqual([401])
})

test('nor those behind a port that Docker publishes; with a public address all counts as the contract says', () => {
  const request = new Request('http://localhost/', { headers: { origin: EVIL, 'x-forwarded-for': '203.0.113.7' } })
  const peers = new Peers(['10.0.0.1/32'], ['172.16.0.0/12'])
  expect(peers.addressOf('::ffff:172.17.0.1', request)).toBe('172.17.0.1 (a page of another site)')
  expect(peers.addressOf('203.0.113.9', request)).toBe('203.0.113.9')
  expect(peers.addressOf('10.0.0.1', request)).toBe('203.0.113.7')
})

test('what a page of the gateway itself, and a program, gets wrong counts for the machine', async () => {
  for (const origin of [(world: World) => world.url, () => 'https://app.example.com']) {
    await using world = await atHome({ CORS_ORIGINS: 'https://app.example.com' })
    await signIns(world, origin(world))
    expect(await me(world)).toBe(429)
  }
})
