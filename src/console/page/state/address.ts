import { type ReadonlySignal, signal } from '@preact/signals'
import { VIEWS, type View } from './view-names.ts'

/** Where the gateway is: the page is in its folder `console/`, perhaps below a prefix that a proxy removes from the path. */
export const GATEWAY = new URL('..', location.href).href.replace(/\/$/, '')

export interface Address {
  view: View | null
  params: Readonly<Record<string, string>>
}

const current = signal(parse())

export const address: ReadonlySignal<Address> = current

export const param = (name: string): string => current.value.params[name] ?? ''

const follow = (): void => void (current.value = parse())

export const followAddress = (): void => addEventListener('hashchange', follow)

/** Goes to another view or opens something. Back returns here. */
export function open(view: View, params: Record<string, string> = {}): void {
  location.hash = addressOf(view, params)
  follow()
}

/** Shows another address in place of this one, which Back does not lead to. */
function replace(to: string): void {
  history.replaceState(null, '', to)
  follow()
}

/** Changes parameters of this view, such as filters. Back does not undo this. Empty values are removed. */
export function refine(changes: Record<string, string>): void {
  const { view, params } = current.value
  if (view !== null) replace(addressOf(view, { ...params, ...changes }))
}

/** The parameters that mean the same in every tenant. Everything else in an address belongs to one tenant. */
export const ofEveryTenant = new Set<string>()

/** The parameters of a view that mean the same in every tenant. */
export const keepInEveryTenant = (names: readonly string[]): void => names.forEach((name) => ofEveryTenant.add(name))

/** Shows a view in place of an address that names none. */
export function startWith(view: View, params: Record<string, string>): void {
  if (current.value.view === null) replace(addressOf(view, params))
}

export function addressOf(view: View, params: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams(Object.entries(params).filter(([, value]) => value !== '')).toString()
  return `#/${view}${query === '' ? '' : `?${query}`}`
}

/**
 * Removes a login from the address (`#login=sgwlogin_…`), so that it is neither bookmarked nor shared, and returns it. The requested view
 * stays.
 */
export function takeLogin(): string | null {
  const [, login = null, rest = ''] = /^#login=([\w-]+)&?(.*)$/.exec(location.hash) ?? []
  if (login !== null) replace(rest === '' ? location.pathname : `#${rest}`)
  return login
}

function parse(): Address {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?')
  return {
    // The former name of this view beside the simulator, which old links use.
    view: VIEWS.find((view) => view === (path === 'phone' ? 'conversations' : path)) ?? null,
    params: Object.fromEntries(new URLSearchParams(query)),
  }
}
