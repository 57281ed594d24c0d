import type { Fact } from '../facts/fact.ts'
import { FactButton } from '../facts/fact-line.tsx'
import { hasLinks } from '../frame/panel.ts'
import { useAct } from '../parts/act.ts'
import { Button } from '../parts/button.tsx'
import { Refused } from '../parts/refused.tsx'
import { addressOf } from '../state/address.ts'
import { asApp } from '../state/caller.ts'
import { checksAsked } from './machine.ts'

const ROWS: Readonly<Record<string, string>> = { waiting: 'waits', undelivered: 'was not delivered' }

/** What to press about a fact: its own button, or a link to the rows that it counts. */
export function Act({ fact, isFirst = false }: { fact: Fact; isFirst?: boolean }) {
  const look = isFirst ? 'button primary' : 'button'
  if (fact.key === 'not connected') return <Connect />
  if (fact.action?.type === 'show checks')
    return <Button text="Show the checks" class={look} run={() => checksAsked.value++} />
  if (fact.action !== null) return <FactButton fact={fact} class={look} delivers={isFirst ? 'heading' : 'row'} />
  const link = fact.parts.find((part) => typeof part !== 'string' && 'view' in part)
  if (link === undefined || typeof link === 'string' || !('view' in link)) return null
  return (
    <a class={look} href={addressOf(link.view, link.params)}>
      {link.view === 'numbers' ? 'Show extension' : `Show what ${ROWS[link.params['state'] ?? ''] ?? 'failed'}`}
    </a>
  )
}

/** Leads the owner of an extension to RingCentral's consent page, and somebody else to a link for the owner. */
function Connect() {
  const { act, error } = useAct()
  const connect = async (): Promise<void> => location.assign(await asApp().connection.connectLink())
  return (
    <>
      {hasLinks() && <Button text="Connect" class="button primary" run={() => act(connect)} />}
      <FactButton fact={{ action: { type: 'invite' } }} />
      <Refused error={error.value} />
    </>
  )
}
