import { signal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import type { Alert } from '../state/alert.ts'

/** The extension that is authorized again, as a part of a sentence: `extension 101`. Null connects another one. */
export interface Authorized {
  extension: string | null
  /** Whose it is, if the console may act for another tenant. */
  tenantId?: string | undefined
}

/** Alerts that are muted for a time. */
export interface Muting {
  /** What they tell. */
  what: ComponentChild
  alerts: readonly Alert[]
  /** Reads again what is wrong. */
  changed: () => void
}

/** The dialogs of the frame. Their file is loaded when the first one is opened. */
export type Panel = 'switcher' | 'more' | 'keys' | 'invite' | Authorized | Muting

/** Whether links connect extensions: RingCentral refuses those of a gateway in production without PUBLIC_URL. */
export const hasLinks = (): boolean => document.documentElement.dataset['home'] === undefined

/** The panel that is open. */
export const panel = signal<Panel | null>(null)

export const closePanel = (): void => void (panel.value = null)
