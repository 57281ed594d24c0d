import { type Signal, effect, signal } from '@preact/signals'

/** What a person has chosen in this browser. Each choice is remembered, if the browser allows it. */
export const theme = remembered('sgw.theme', 'system', ['system', 'light', 'dark'])
export const privacy = remembered('sgw.privacy', 'off', ['off', 'on'])
export const timeZone = remembered('sgw.time', 'local', ['local', 'utc'])
/** Whether single letters are shortcuts. Speech input types letters, so shortcuts can be turned off. */
export const singleKeys = remembered('sgw.keys', 'on', ['on', 'off'])

export const togglePrivacy = (): void => void (privacy.value = privacy.value === 'on' ? 'off' : 'on')
export const toggleZone = (): void => void (timeZone.value = timeZone.value === 'utc' ? 'local' : 'utc')

function remembered<const Choice extends string>(name: string, first: Choice, choices: readonly Choice[]) {
  const stored = readStored('local', name)
  const chosen: Signal<Choice> = signal(choices.find((choice) => choice === stored) ?? first)
  effect(() => writeStored('local', name, chosen.value))
  return chosen
}

type Kind = 'local' | 'session'

/** Reads from the browser's storage; null if there is nothing, or storage is forbidden. */
export function readStored(kind: Kind, name: string): string | null {
  try {
    return globalThis[`${kind}Storage`].getItem(name)
  } catch {
    return null
  }
}

/** Reads an object from the browser's storage; an empty one if there is none, or if something else is stored. */
export function readStoredObject<Stored>(name: string): Partial<Stored> {
  try {
    return (JSON.parse(readStored('local', name) ?? '') as Partial<Stored> | null) ?? {}
  } catch {
    return {}
  }
}

/** Stores or, with null, removes. Without storage, the choice lasts as long as the page. */
export function writeStored(kind: Kind, name: string, value: string | null): void {
  try {
    if (value === null) globalThis[`${kind}Storage`].removeItem(name)
    else globalThis[`${kind}Storage`].setItem(name, value)
  } catch {
    // Storage is forbidden or full.
  }
}
