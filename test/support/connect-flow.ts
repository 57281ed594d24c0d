import type { World } from './world.ts'

/** Returns the path of a new connect or invite link. */
export async function newLink(world: World, kind: 'connect' | 'invite' = 'connect', key = world.key): Promise<string> {
  return (await world.json<{ connectUrl: string }>('POST', `/v1/rc/${kind}-token`, { key })).body.connectUrl
}

export const tokenOf = (link: string): string => link.split('token=')[1] ?? ''

/** Posts the token as the form of the page does. */
export function pressConnect(world: World, token: string | null): Promise<Response> {
  const body = token === null ? '' : new URLSearchParams({ token }).toString()
  return world.call('POST', '/v1/rc/connect', {
    key: null,
    body,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
}

/** Logs in at the provider. Returns the path of the gateway to which the browser is redirected. */
export async function logIn(authorizeUrl: string): Promise<string> {
  const login = await fetch(authorizeUrl, { redirect: 'manual' })
  const callback = new URL(login.headers.get('location') ?? '')
  return `${callback.pathname}${callback.search}`
}

/** Uses a link up to the path of the callback, which is not opened. */
export async function callbackPath(world: World, link?: string): Promise<string> {
  const pressed = await pressConnect(world, tokenOf(link ?? (await newLink(world))))
  return logIn(pressed.headers.get('location') ?? '')
}

/** Opens a path of the gateway, as a browser does. */
export const open = (world: World, path: string, headers: Record<string, string> = {}): Promise<Response> =>
  world.call('GET', path, { key: null, headers })
