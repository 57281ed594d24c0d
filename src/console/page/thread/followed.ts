import { useMemo } from 'preact/hooks'
import type { Sgw } from '../../../client/client.ts'
import { type Followed, useFollowing } from '../parts/following.ts'
import { client } from '../state/caller.ts'
import type { Pair } from './pair.ts'

/** The conversation of a pair while a view shows it; null without a pair. Another pair or app makes another one. */
export function useFollowed<Conversation extends Followed & { read(): Promise<void> }>(
  make: new (sgw: Sgw, number: string, contact: string) => Conversation,
  pair: Pair | null,
): Conversation | null {
  const sgw = client.value
  const { number = '', contact = '' } = pair ?? {}
  const conversation = useMemo(
    () => (sgw === null || number === '' ? null : new make(sgw, number, contact)),
    [sgw, number, contact],
  )
  const read = (): void => void conversation?.read()
  useFollowing(conversation, read, read)
  return conversation
}
