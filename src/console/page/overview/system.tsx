import { useEffect, useRef } from 'preact/hooks'
import type { Alert } from '../state/alert.ts'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { LoadFailed } from '../parts/load-failed.tsx'
import { asOperator, me, operator } from '../state/caller.ts'
import { duration } from '../state/clock.ts'
import { isFirstLoadOver } from '../state/live.ts'
import { useLoading } from '../state/loading.ts'
import { type Finding, type Status, checksAsked } from './machine.ts'

/** One line for the gateway itself. It unfolds to the checks of `sgw doctor`, which take a moment and call RingCentral. */
export function System({ alerts }: { alerts: readonly Alert[] }) {
  const isFine = alerts.every(({ tenantId, mutedUntil }) => tenantId !== undefined || mutedUntil !== undefined)
  const isOpen = checksAsked.value > 0
  useEffect(() => () => void (checksAsked.value = 0), [])
  return (
    <footer class="stack system">
      <div class="line system-line">
        {operator.value !== null && (
          <>
            <b>{isFine ? 'This machine is fine.' : 'This machine needs attention.'}</b>
            {isFirstLoadOver.value && <StatusLine />}
          </>
        )}
        <span>sgw {me.value?.version ?? '–'}</span>
        {operator.value !== null && (
          <button
            type="button"
            class="link"
            aria-expanded={isOpen}
            onClick={() => void (checksAsked.value = isOpen ? 0 : 1)}
          >
            {isOpen ? 'Hide checks' : 'Show checks'}
          </button>
        )}
      </div>
      {isOpen && <Checks alerts={alerts} />}
    </footer>
  )
}

function StatusLine() {
  const { value, error, again } = useLoading(() => asOperator().request<Status>('GET', '/v1/operator/status'), [])
  if (error.value !== '')
    return (
      <span class="bad">
        {error.value} <Button text="Try again" class="link" run={again} />
      </span>
    )
  if (value.value === null) return null
  const { backup, storage } = value.value
  return (
    <>
      <span>{backupText(backup)}</span>
      <span class={storage === null ? '' : 'bad'}>{storage ?? 'database ok'}</span>
    </>
  )
}

function backupText({ litestream, lagMs }: Status['backup']): string {
  if (!litestream) return 'no backup'
  return lagMs === null ? 'backup –' : `backup ${duration(lagMs)} behind`
}

function Checks({ alerts }: { alerts: readonly Alert[] }) {
  const { value, error, again } = useLoading(() => asOperator().request<Finding[]>('GET', '/v1/operator/doctor'), [])
  const section = useRef<HTMLDivElement>(null)
  // They may have been requested from the top of the page, and take seconds to arrive.
  useEffect(() => section.current?.scrollIntoView({ block: 'nearest' }), [value.value, error.value, checksAsked.value])
  return (
    <div ref={section}>
      {error.value !== '' ? (
        <LoadFailed what="The checks" error={error.value} again={again} />
      ) : value.value === null ? (
        <p class="dim">Checking …</p>
      ) : (
        <Findings findings={value.value.map((finding) => withNames(finding, alerts))} />
      )}
    </div>
  )
}

const Findings = ({ findings }: { findings: readonly Finding[] }) => (
  <>
    <p role="status">{verdictOf(findings)}</p>
    <ul class="checks">
      {(['fail', 'warn', 'ok'] as const).map((level) => {
        const [kind, icon, word] = LOOKS[level]
        return findings
          .filter((finding) => finding.level === level)
          .map(({ check, detail }) => (
            <li key={check} class="columns">
              <span class={kind}>
                <Icon name={icon} />
                <span class="hidden">{word}</span>
              </span>
              <b>{check}</b>
              <span class="dim">{detail}</span>
            </li>
          ))
      })}
    </ul>
  </>
)

/** People know an extension by its number, and a tenant by its name. Commands keep the ids. */
const withNames = (finding: Finding, alerts: readonly Alert[]): Finding => ({
  ...finding,
  detail: alerts.reduce((said, { tenantId = '', tenantName, detail: { extensionId, extensionNumber } }) => {
    const numbered = extensionNumber ? said.replaceAll(`xtension ${extensionId}`, `xtension ${extensionNumber}`) : said
    return tenantId && tenantName ? numbered.replaceAll(`of ${tenantId}`, `of ${tenantName}`) : numbered
  }, finding.detail),
})

const LOOKS = {
  fail: ['bad', 'failed', 'fails'],
  warn: ['warn', 'queued', 'needs attention'],
  ok: ['', 'sent', 'passes'],
} as const

function verdictOf(findings: readonly Finding[]): string {
  const bad = findings.filter(({ level }) => level !== 'ok').length
  if (bad === 0) return `All ${findings.length} checks pass.`
  return `${bad} of ${findings.length} checks ${bad === 1 ? 'needs' : 'need'} attention.`
}
