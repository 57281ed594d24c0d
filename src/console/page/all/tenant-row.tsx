import type { Sgw } from '../../../client/client.ts'
import { mutedText } from '../facts/mute.tsx'
import type { IconName } from '../parts/icon-paths.ts'
import { Icon } from '../parts/icon.tsx'
import { ChangeStatus } from '../setup/change-status.tsx'
import { addressOf } from '../state/address.ts'
import { count, dayOf, now, rowTime, shortTime, utcTime } from '../state/clock.ts'
import { type TableRow, badOf } from './columns.ts'
import type { Has } from './reading.ts'
import type { AllFact } from './tenant-facts.ts'

interface RowProps {
  row: TableRow
  /** Of the row in the whole table, as `aria-rowindex` counts. */
  index: number
  /** What is wrong with the tenant, the worst first. */
  facts: readonly AllFact[]
  /** All muted facts. */
  muted: readonly AllFact[]
  has: Has | undefined
  /** The highest bar of all tenants. */
  highest: number
  sgw: Sgw
  changed: () => void
}

/** One tenant: what is wrong, since when, its figures, and one button. */
export function TenantRow({ row, index, facts, muted, has, highest, sgw, changed }: RowProps) {
  const { tenant } = row
  const [worst] = facts
  const [icon, kind, word] = markOf(tenant.status, worst, has)
  return (
    <tr aria-rowindex={index}>
      <td class={kind}>
        {icon === null ? '–' : <Icon name={icon} />}
        <span class="hidden">{word}</span>
      </td>
      <th scope="row">
        <a class="tenant-name clip" dir="auto" href={lookAt(row, has)} title={tenant.name}>
          {tenant.name}
        </a>
      </th>
      <td class="of-trouble">
        <p class="tenant-what">
          <What
            row={row}
            facts={facts}
            muted={muted.filter(({ tenantId }) => tenantId === tenant.tenantId)}
            has={has}
          />
        </p>
      </td>
      <td class="of-since">{worst?.since && <Since at={worst.since} />}</td>
      <Figures row={row} facts={facts} has={has} highest={highest} />
      <td class="of-button">
        {tenant.status === 'suspended' ? (
          <ChangeStatus tenant={{ apps: 0, extensions: 0, ...has, ...tenant }} sgw={sgw} changed={changed} />
        ) : (
          <Look row={row} hasFacts={facts.length > 0} has={has} />
        )}
      </td>
    </tr>
  )
}

/** Texts, bars, and what went wrong. Of a tenant that was never used nothing is known. */
function Figures({ row: { tenant, texts }, facts, has, highest }: Pick<RowProps, 'row' | 'facts' | 'has' | 'highest'>) {
  const bad = badOf(tenant)
  const isUnused = has?.extensions === 0 && texts + tenant.waiting + bad === 0
  const isUsual = facts.every(({ rank }) => rank !== 'failures')
  const figure = (name: string, value: number, word: string, look: string) => (
    <td class={`of-${name} ${look}`}>
      {isUnused ? '–' : count(value)}
      <span class="tenant-unit"> {word}</span>
    </td>
  )
  return (
    <>
      {figure('texts', texts, texts === 1 ? 'text' : 'texts', '')}
      <td class="of-peak">
        <Bars buckets={tenant.buckets} highest={highest} />
      </td>
      {figure('failed', bad, 'failed', lookOf(bad, isUsual ? '' : 'bad'))}
      {figure('waiting', tenant.waiting, 'wait', lookOf(tenant.waiting, 'warn'))}
      {figure('lost', tenant.neverArrived, 'never arrived', lookOf(tenant.neverArrived, 'bad'))}
    </>
  )
}

/** On a phone the figures that are none are left out. */
const lookOf = (value: number, kind: string): string => (value > 0 ? kind : 'not-on-phone')

type Mark = readonly [icon: IconName | null, kind: string, word: string]

function markOf(status: TableRow['tenant']['status'], worst: AllFact | undefined, has: Has | undefined): Mark {
  if (status === 'inactive') return ['cancelled', 'dim', 'Inactive']
  if (worst !== undefined) return [worst.icon, worst.kind, worst.kind === 'bad' ? 'Needs you' : 'Needs a look']
  if (status === 'suspended') return ['waiting', 'warn', 'Suspended']
  return has?.extensions === 0 ? [null, 'dim', 'Not connected'] : ['sent', 'dim', 'Fine']
}

/** Its own overview; Setup where there is no app to see it as. */
const lookAt = ({ tenant: { tenantId } }: TableRow, has: Has | undefined): string =>
  has?.apps === 0 ? addressOf('tenants') : addressOf('overview', { tenant: tenantId })

type WhatProps = Pick<RowProps, 'row' | 'facts' | 'muted' | 'has'>

function What({ row: { tenant }, facts, muted, has }: WhatProps) {
  const { status, waiting } = tenant
  if (status === 'inactive') return <span class="dim">Deactivated.</span>
  const [worst, ...others] = facts
  const stopped = status === 'suspended' && (
    <>
      <span class="warn">Suspended</span> by the operator.
      {waiting > 0 && ` ${count(waiting)} ${waiting === 1 ? 'text waits' : 'texts wait'} until it is active.`}{' '}
    </>
  )
  if (worst === undefined && status !== 'suspended') {
    if (has?.extensions === 0) return <span class="dim">No number is connected yet.</span>
    const alerts = muted.flatMap((fact) => fact.alerts ?? [])
    return alerts.length === 0 ? null : <span class="dim">Muted {mutedText(alerts)}.</span>
  }
  return (
    <>
      {stopped}
      {worst !== undefined && <span class={worst.kind}>{worst.short}.</span>}
      {others.map(({ short }) => ` ${short}.`)}
    </>
  )
}

/** The day is enough in a narrow column. */
const Since = ({ at }: { at: string }) => (
  <time dateTime={at} title={utcTime(at)}>
    {dayOf(at) === dayOf(now.peek()) ? shortTime(at) : rowTime(at, now.peek()).replace(/ \d\d:\d\d$/, '')}
  </time>
)

const BARS_HEIGHT = 20

/** One path for all bars. Their heights grow with the square root, so that those of a quiet tenant are seen beside a noisy one. */
const Bars = ({ buckets, highest }: { buckets: readonly number[]; highest: number }) => (
  <svg class="tenant-bars" viewBox={`0 0 96 ${BARS_HEIGHT}`} aria-hidden="true">
    <path
      d={buckets
        .map((value, index) => {
          const height = value === 0 ? 1 : 2 + Math.round((BARS_HEIGHT - 2) * Math.sqrt(value / highest))
          return `M${4 * index + 2} ${BARS_HEIGHT}v-${height}`
        })
        .join('')}
    />
  </svg>
)

function Look({ row, hasFacts, has }: { row: TableRow; hasFacts: boolean; has: Has | undefined }) {
  const { tenantId, name, status } = row.tenant
  if (status === 'inactive') return null
  const [text, href] =
    has?.apps === 0
      ? ['Create app', addressOf('tenants')]
      : hasFacts
        ? ['Look', lookAt(row, has)]
        : has?.extensions === 0
          ? ['Connect', addressOf('numbers', { tenant: tenantId })]
          : ['', '']
  return text === '' ? null : (
    <a class="button" href={href} aria-label={`${text}: ${name}`}>
      {text}
    </a>
  )
}
