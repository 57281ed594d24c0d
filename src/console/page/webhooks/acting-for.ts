import { Sgw } from '../../../client/client.ts'
import { GATEWAY } from '../state/address.ts'
import { client, me } from '../state/caller.ts'
import { session } from '../state/session.ts'

/** A client that may read and change the settings of an app: its own key, or an operator's session; null for another app's key. */
export function clientOfApp(appId: string): Sgw | null {
  if (appId === me.value?.appId) return client.value
  const { kind, token } = session.value ?? {}
  return kind === 'operator' && token !== undefined ? new Sgw({ baseUrl: GATEWAY, apiKey: token, appId }) : null
}

/** The calls that read and change how deliveries to a destination are tried again; null if this session may not. */
export function retriesOf(kind: 'app' | 'trigger', id: string) {
  const sgw = kind === 'app' ? clientOfApp(id) : client.value
  return sgw === null ? null : kind === 'app' ? sgw.apps : sgw.triggers
}
