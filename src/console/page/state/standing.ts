import { signal } from '@preact/signals'
import type { ExtensionHealth, Overview } from '../../../client/client.ts'
import type { KnownAlert } from '../state/alert.ts'
import type { Trouble } from './view-names.ts'

/** The last day's figures, and the state of the extensions. */
export interface Standing {
  overview: Overview
  extensions: readonly ExtensionHealth[]
  /** When they were requested, in milliseconds. */
  readAt: number
}

/** The current state, from the view that read it last. The rail counts it; null until it is known. */
export const standing = signal<Standing | null>(null)

/** The alerts that fire for the shown tenant, or for the gateway itself; none with an app's key. */
export const ownAlerts = signal<readonly KnownAlert[]>([])

/** For how many other tenants an alert fires. */
export const othersInTrouble = signal(0)

/** How many contacts are waiting for an answer, as the rail counts them, from the view that read it last. */
export const toAnswer = signal<Trouble | null>(null)
