import { expect } from 'bun:test'
import { type World, createWorld, until } from '../support/world.ts'

/** A part of tokens of links and logins. It must be in no log. */
export const CANARY = 'canary0123456789canary0123456789'

const TOKEN_PATHS = [
  `/v1/rc/connect?token=${CANARY}`,
  `/v1/rc/callback?code=${CANARY}&state=${CANARY}`,
  `/v1/rc/callback/?code=${CANARY}&state=${CANARY}&format=json`,
]

/** Creates a gateway behind a proxy. */
export const worldBehindProxy = (): Promise<World> =>
  createWorld({ env: { NODE_ENV: 'production', TRUSTED_PROXIES: '127.0.0.1' }, work: false })

export const get = (url: string, init: BunFetchRequestInit = {}): Promise<Response> =>
  fetch(url, { redirect: 'manual', keepalive: false, tls: { rejectUnauthorized: false }, ...init })

/** Waits until the proxy forwards requests. */
export const serving = (url: string): Promise<unknown> =>
  until(async () => (await get(`${url}/health`).catch(() => null))?.ok, 10_000)

/**
 * Expects the gateway's answer with a request id for bodies of any excessive size, and that a body of 100 KB is
 * forwarded.
 */
export async function expectBodyLimit(url: string, world: World): Promise<void> {
  for (const bytes of [102_400, 102_401, 150_000, 204_800, 1_000_000, 20_000_000])
    for (const chunked of [false, true]) {
      const text = 'x'.repeat(bytes)
      const answer = await get(`${url}/v1/sms/send`, {
        method: 'POST',
        headers: { authorization: `Bearer ${world.key}`, 'x-request-id': `size-${bytes}` },
        body: chunked ? new Blob([text]).stream() : text,
      })
      const [status, error] = bytes === 102_400 ? [400, 'Invalid JSON'] : [413, 'Payload too large']
      expect({ bytes, chunked, status: answer.status }).toEqual({ bytes, chunked, status })
      expect(await answer.text()).toBe(JSON.stringify({ error }))
      expect(answer.headers.get('content-type')).toBe('application/json')
      expect(answer.headers.get('x-request-id')).toBe(`size-${bytes}`)
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
