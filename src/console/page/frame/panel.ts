import { signal } from '@preact/signals'

/** The extension that is authorized again, as a part of a sentence: `extension 101`. Null connects another one. */
export interface Authorized {
  extension: string | null
}

/** The dialogs of the frame. Their file is loaded when the first one is opened. */
export type Panel = 'switcher' | 'more' | 'keys' | 'invite' | Authorized

/** Whether links connect extensions: RingCentral refuses those of a gateway in production without PUBLIC_URL. */
export const hasLinks = (): boolean => document.documentElement.dataset['home'] === undefined

/** The panel that is open. */
export const panel = signal<Panel | null>(null)

export const closePanel = (): void => void (panel.value = null)
