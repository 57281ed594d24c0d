import type { Sgw } from '../../../client/client.ts'
import { client, clientWith, me } from '../state/caller.ts'
import { session } from '../state/session.ts'

/** Who may read and change the settings of an app: its own key, or an operator who acts as it; null for another app's key. */
export function clientOf(appId: string): Sgw | null {
  if (session.value?.kind === 'operator') return clientWith(session.value.token, appId)
  return appId === me.value?.appId ? client.value : null
}

/** The calls that read and change how deliveries to a destination are tried again; null if this session may not. */
export const retriesOf = (kind: 'app' | 'trigger', id: string) =>
  (kind === 'app' ? clientOf(id)?.apps : client.value?.triggers) ?? null
