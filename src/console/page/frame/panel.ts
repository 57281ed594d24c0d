import { signal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import type { Alert } from '../state/alert.ts'

/** The extension to authorize again, as part of a sentence: `extension 101`. Null connects another one. */
export interface Authorized {
  extension: string | null
  /** The tenant, if the console may act for another one. */
  tenantId?: string | undefined
}

export interface Muting {
  what: ComponentChild
  alerts: readonly Alert[]
}

/** The dialogs of the frame. Their file is loaded when the first one opens. */
export type Panel = 'switcher' | 'more' | 'keys' | 'invite' | Authorized | Muting

/** Whether links connect extensions: RingCentral refuses links from a gateway in production without PUBLIC_URL. */
export const hasLinks = (): boolean => document.documentElement.dataset['home'] === undefined

export const panel = signal<Panel | null>(null)

export const closePanel = (): void => void (panel.value = null)
