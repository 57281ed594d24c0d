import type { Fact } from '../facts/fact.ts'
import { FactButton } from '../facts/fact-line.tsx'
import { Button } from '../parts/button.tsx'
import { addressOf } from '../state/address.ts'
import { checksAsked } from './machine.ts'

const ROWS: Readonly<Record<string, string>> = { waiting: 'waits', undelivered: 'was not delivered' }

/** What to press about a fact: its own button, or a link to the rows that it counts. */
export function Act({ fact, isFirst = false }: { fact: Fact; isFirst?: boolean }) {
  const look = isFirst ? 'button primary' : 'button'
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
