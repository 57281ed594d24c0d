import { type Signal, signal } from '@preact/signals'
import { me } from '../state/caller.ts'
import type { AttachedFiles } from './attached-files.ts'

/** The text being written to a contact, with its files. */
export interface Draft {
  text: Signal<string>
  /** Null until a file is attached for the first time. */
  attached: Signal<AttachedFiles | null>
}

/** The files of a message after their upload; undefined for a plain text. */
export type MediaIds = readonly string[] | undefined

export const newDraft = (): Draft => ({ text: signal(''), attached: signal(null) })

/** Whether the gateway takes files. */
export const takesFiles = (): boolean => (me.value?.mediaLimit ?? 0) > 0

/** Attaches files to a draft. The code for files is loaded with the first one. */
export async function attach(draft: Draft, files: Iterable<File>): Promise<void> {
  // The files of an event are gone after it.
  const all = [...files]
  const { newAttachedFiles } = await import('./attached-view.tsx')
  draft.attached.value ??= newAttachedFiles()
  draft.attached.value.add(all)
}
