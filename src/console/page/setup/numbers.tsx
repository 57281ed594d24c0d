import { useEffect } from 'preact/hooks'
import type { ExtensionHealth } from '../../../client/client.ts'
import { FactSentence } from '../facts/fact-line.tsx'
import { hasLinks, panel } from '../frame/panel.ts'
import { Button } from '../parts/button.tsx'
import { NoNumber } from '../parts/empty.tsx'
import { InviteButton } from '../parts/authorize-button.tsx'
import { LoadFailed } from '../parts/load-failed.tsx'
import { param } from '../state/address.ts'
import { asApp, client } from '../state/caller.ts'
import { now } from '../state/clock.ts'
import { useReading } from '../state/keep-reading.ts'
import { standing } from '../state/standing.ts'
import { READ_EVERY_MS } from './calls.ts'
import { ConnectJwt } from './connect-jwt.tsx'
import { Extension } from './extension.tsx'
import { fineNumbersText, numbersStanding } from './numbers-facts.ts'

/** The tenant's extensions: what is wrong with each, since when, and what to press. */
export function Numbers() {
  const read = () => asApp().connection.health()
  const { value, error, again } = useReading({ read, everyMs: READ_EVERY_MS }, [client.value])
  const extensions = value.value
  useSharedExtensions(extensions)
  useLinked(extensions !== null)
  if (extensions === null) return <LoadFailed what="The numbers" error={error.value} again={again} />
  const { worst, byExtension } = numbersStanding(extensions, now.value)
  const order = extensions.toSorted((a, b) => rankOf(byExtension, a) - rankOf(byExtension, b))
  return (
    <>
      <header class="setup-head">
        <h1>{worst === null ? fineNumbersText(extensions) : <FactSentence fact={worst} />}.</h1>
        <div class="actions">
          <Connect first={extensions.length === 0 ? 'button primary' : 'button'} />
        </div>
      </header>
      {extensions.length === 0 && <NoNumber />}
      <ul class="things" aria-label="Extensions">
        {order.map((extension) => (
          <Extension
            key={extension.extensionId}
            extension={extension}
            facts={byExtension.get(extension.extensionId) ?? []}
          />
        ))}
      </ul>
    </>
  )
}

/** The ways to connect an extension; `first`: the style of the recommended one. */
const Connect = ({ first }: { first: string }) =>
  hasLinks() ? (
    <>
      <Button text="Connect an extension" class={first} run={() => (panel.value = { extension: null })} />
      <ConnectJwt text="Connect with a JWT" />
      <InviteButton />
    </>
  ) : (
    <>
      <ConnectJwt text="Connect with a JWT" class={first} />
      <p class="dim">A link needs PUBLIC_URL, the https:// address that browsers reach.</p>
    </>
  )

/** A link to an extension scrolls to it once it is there. */
function useLinked(isThere: boolean): void {
  const id = param('id')
  useEffect(() => {
    if (isThere && id !== '') document.querySelector<HTMLElement>(`[data-id="${CSS.escape(id)}"]`)?.focus()
  }, [isThere, id])
}

/** The rail counts what this view has read, plus what was known about everything else. */
function useSharedExtensions(extensions: readonly ExtensionHealth[] | null): void {
  useEffect(() => {
    const known = standing.peek()
    if (extensions !== null && known !== null) standing.value = { ...known, extensions }
  }, [extensions])
}

/** Extensions that cannot send come first, then those that wait, then the others. */
const RANKS = ['stopped', 'waits', undefined] as const

const rankOf = (facts: ReturnType<typeof numbersStanding>['byExtension'], { extensionId }: ExtensionHealth): number =>
  RANKS.findIndex((rank) => rank === facts.get(extensionId)?.[0]?.rank)
