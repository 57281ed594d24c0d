import { signal } from '@preact/signals'
import type { ExtensionHealth, Overview } from '../../../client/client.ts'
import type { Alert } from '../state/alert.ts'
import type { Trouble } from './view-names.ts'

/** The last day's figures, and how the extensions are. */
export interface Standing {
  overview: Overview
  extensions: readonly ExtensionHealth[]
  /** When they were asked for, in milliseconds. */
  readAt: number
}

/** How things stand, from the view that read it last. The rail counts it; null until it is known. */
export const standing = signal<Standing | null>(null)

/** What fires for the tenant that is shown, or for the gateway itself; none with an app's key. */
export const ownAlerts = signal<readonly Alert[]>([])

/** For how many other tenants something fires. */
export const othersInTrouble = signal(0)

/** Who waits for an answer, as the rail counts it, from the view that read it last. */
export const toAnswer = signal<Trouble | null>(null)
