import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ExtensionHealth } from '../../../client/client.ts'
import { FactSentence } from '../facts/fact-line.tsx'
import { worstFirst } from '../facts/fact.ts'
import { troubles } from '../frame/views.ts'
import { NoNumber } from '../parts/empty.tsx'
import { InviteButton } from '../parts/invite-button.tsx'
import { LoadFailed } from '../parts/load-failed.tsx'
import { client } from '../state/caller.ts'
import { now } from '../state/clock.ts'
import { AuthorizeDialog } from './authorize-dialog.tsx'
import { Extension } from './extension.tsx'
import { fineNumbersText, numbersStanding } from './numbers-facts.ts'
import { useRead } from './read.ts'

/** The tenant's extensions: what is wrong with each, since when, and what to press. */
export function Numbers() {
  const { value, error, again } = useRead(async () => (await client.value?.connection.health()) ?? null, [client.value])
  /** The extension that is authorized again; 'new' is another one. */
  const authorized = useSignal<ExtensionHealth | 'new' | null>(null)
  const extensions = value.value
  useTroubles(extensions)
  if (extensions === null)
    return error.value === '' ? null : <LoadFailed what="The numbers" error={error.value} again={again} />
  const { worst, byExtension } = numbersStanding(extensions, now.value)
  const order = extensions.toSorted((a, b) => rankOf(byExtension, a) - rankOf(byExtension, b))
  return (
    <>
      <header class="setup-head">
        <h1>{worst === null ? fineNumbersText(extensions) : <FactSentence fact={worst} />}.</h1>
        <div class="setup-buttons">
          <button
            type="button"
            class={extensions.length === 0 ? 'button primary' : 'button'}
            onClick={() => void (authorized.value = 'new')}
          >
            Connect an extension
          </button>
          <InviteButton />
        </div>
      </header>
      {extensions.length === 0 && <NoNumber />}
      <ul class="things" aria-label="Extensions">
        {order.map((extension) => (
          <Extension
            key={extension.extensionId}
            extension={extension}
            facts={byExtension.get(extension.extensionId) ?? []}
            authorize={() => void (authorized.value = extension)}
            changed={again}
          />
        ))}
      </ul>
      {authorized.value !== null && (
        <AuthorizeDialog
          extension={authorized.value === 'new' ? null : authorized.value}
          close={() => void (authorized.value = null)}
        />
      )}
    </>
  )
}

/** The rail counts what this view found, and leaves the other views' counts. */
function useTroubles(extensions: readonly ExtensionHealth[] | null): void {
  useEffect(() => {
    if (extensions === null) return
    const { numbers: _, ...others } = troubles.peek()
    const { numbers } = worstFirst(numbersStanding(extensions, now.peek()).facts).counts
    troubles.value = numbers === undefined ? others : { ...others, numbers }
  }, [extensions])
}

/** What cannot send stands first, then what waits, then what is well. */
const RANKS = ['stopped', 'waits', undefined] as const

const rankOf = (facts: ReturnType<typeof numbersStanding>['byExtension'], { extensionId }: ExtensionHealth): number =>
  RANKS.findIndex((rank) => rank === facts.get(extensionId)?.[0]?.rank)
