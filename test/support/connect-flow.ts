import type { World } from './world.ts'

/** The path of a new connect or invite link. */
export async function newLink(world: World, kind: 'connect' | 'invite' = 'connect', key = world.key): Promise<string> {
  return (await world.json<{ connectUrl: string }>('POST', `/v1/rc/${kind}-token`, { key })).body.connectUrl
}

export const tokenOf = (link: string): string => link.split('token=')[1] ?? ''

/** Presses the page's button: posts the token as a form does. */
export function pressConnect(world: World, token: string | null): Promise<Response> {
  const body = token === null ? '' : new URLSearchParams({ token }).toString()
  return world.call('POST', '/v1/rc/connect', {
    key: null,
    body,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
}

/** Goes to the provider's login and comes back with the path that the browser would then open here. */
export async function logIn(authorizeUrl: string): Promise<string> {
  const login = await fetch(authorizeUrl, { redirect: 'manual' })
  const callback = new URL(login.headers.get('location') ?? '')
  return `${callback.pathname}${callback.search}`
}

/** From a new link to the callback's path, not yet opened. */
export async function callbackPath(world: World, link?: string): Promise<string> {
  const pressed = await pressConnect(world, tokenOf(link ?? (await newLink(world))))
  return logIn(pressed.headers.get('location') ?? '')
}

/** Opens a path here, as a browser would. */
export const open = (world: World, path: string, headers: Record<string, string> = {}): Promise<Response> =>
  world.call('GET', path, { key: null, headers })
