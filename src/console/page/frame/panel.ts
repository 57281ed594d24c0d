import { signal } from '@preact/signals'

/** The dialogs of the frame. Their file is loaded when the first one is opened. */
export type Panel = 'switcher' | 'more' | 'keys' | 'invite'

/** The panel that is open. */
export const panel = signal<Panel | null>(null)

export const closePanel = (): void => void (panel.value = null)
