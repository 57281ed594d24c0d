import { panel } from '../frame/panel.ts'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import type { Alert } from '../state/alert.ts'
import { useAct } from '../parts/act.ts'
import { asOperator, operator } from '../state/caller.ts'
import { dayOf, now, rowTime, shortTime } from '../state/clock.ts'
import { readAll } from '../state/keep-reading.ts'
import type { Fact, Part } from './fact.ts'
import { FactSentence } from './fact-line.tsx'

/** Paths from Lucide, like those of `parts/icon-paths.ts`. */
const BELL =
  'M10.27 21a2 2 0 0 0 3.46 0M3.26 15.33A1 1 0 0 0 4 17h16a1 1 0 0 0 .74-1.67C19.41 13.96 18 12.5 18 8A6 6 0 0 0 6 8c0 4.5-1.41 5.96-2.74 7.33'
export const BELL_OFF = `${BELL}M2 2l20 20`

/** The bell at the end of a row, which mutes the alerts of a fact. */
export const Mute = ({ fact: { parts, alerts = [] } }: { fact: Fact }) =>
  operator.value === null || alerts.length === 0 || alerts.some(({ traits }) => traits.isAlwaysTold) ? (
    <span />
  ) : (
    <button
      type="button"
      class="icon-button"
      aria-label="Mute"
      title="Mute"
      aria-haspopup="dialog"
      onClick={() => void (panel.value = { what: <FactSentence fact={{ parts: parts.map(plain) }} />, alerts })}
    >
      <Icon name={BELL} />
    </button>
  )

/** A dialog must not contain links. */
const plain = (part: Part): Part => (typeof part === 'string' || 'number' in part ? part : part.text)

/** A muted fact, in a gray row: until when, from where, and how to unmute it. */
export function Muted({ fact: { parts, alerts = [] } }: { fact: Fact }) {
  const { act, error } = useAct()
  const unmute = ({ alert, subject }: Alert): Promise<unknown> =>
    asOperator().request('DELETE', `/v1/operator/alerts/${alert}/mute`, { query: { subject } })
  return (
    <li class="columns muted">
      <Icon name={BELL_OFF} />
      <p>
        “<FactSentence fact={{ parts }} />
        .” Muted {mutedText(alerts)}.{' '}
        <span class="bad" role="alert">
          {error.value}
        </span>
      </p>
      <Button text="Unmute" class="link" run={() => act(() => Promise.all(alerts.map(unmute))).then(() => readAll())} />
    </li>
  )
}

/** `in the console until 18:00`, for the mute that ends first. */
export function mutedText(alerts: readonly Alert[]): string {
  const [first] = alerts.toSorted((a, b) => endOf(a).localeCompare(endOf(b)))
  const by = first?.mutedBy === 'cli' ? 'with sgw alerts mute' : 'in the console'
  const end = first?.mutedUntil ?? 'over'
  const today = now.peek()
  const at = (): string => (dayOf(end) === dayOf(today) ? shortTime(end) : rowTime(end, today))
  return `${by} until ${end === 'over' ? 'it ends' : at()}`
}

const endOf = ({ mutedUntil = '' }: Alert): string => mutedUntil
