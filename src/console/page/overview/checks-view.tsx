import { useEffect, useRef } from 'preact/hooks'
import { Icon } from '../parts/icon.tsx'
import { LoadFailed } from '../parts/load-failed.tsx'
import type { Alert } from '../state/alert.ts'
import { asOperator } from '../state/caller.ts'
import { useLoading } from '../state/loading.ts'
import type { Finding } from './machine.ts'

interface ChecksProps {
  alerts: readonly Alert[]
  /** Changes with each click that asks to see them. */
  asked: number
}

/** The checks of `sgw doctor`, in a file of their own, because they are rarely asked for. */
export default function Checks({ alerts, asked }: ChecksProps) {
  const { value, error, again } = useLoading(() => asOperator().request<Finding[]>('GET', '/v1/operator/doctor'), [])
  const section = useRef<HTMLDivElement>(null)
  // They may have been requested from the top of the page, and take seconds to arrive.
  useEffect(() => section.current?.scrollIntoView({ block: 'nearest' }), [value.value, error.value, asked])
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
