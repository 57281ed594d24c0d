import type { Finding } from '../operator/doctor/finding.ts'
import { ask } from './ask.ts'
import { type CliContext, CliError } from './context.ts'
import { printFindings } from './print.ts'

/** Runs `sgw doctor`. With `alert` it also posts a test to `ALERT_URL`. Exits with 1 if a check fails. */
export async function diagnose(context: CliContext, alert: boolean): Promise<void> {
  const findings = await findAll(context, alert)
  printFindings(context, findings)
  if (findings.some(({ ok }) => !ok)) throw new CliError('')
}

async function findAll(context: CliContext, alert: boolean): Promise<Finding[]> {
  try {
    const findings = (await ask(context, { method: 'GET', path: '/v1/operator/doctor' })) as Finding[]
    if (!alert) return findings
    return [...findings, (await ask(context, { method: 'POST', path: '/v1/operator/alerts/test' })) as Finding]
  } catch (error) {
    return diagnoseWithoutDatabase(context, error, alert)
  }
}

async function diagnoseWithoutDatabase({ config }: CliContext, error: unknown, alert: boolean): Promise<Finding[]> {
  const [{ diagnoseOffline }, { checkAlertOffline }] = await Promise.all([
    import('../operator/doctor/diagnose-offline.ts'),
    import('../operator/doctor/post-test-alert.ts'),
  ])
  const findings = await diagnoseOffline(config, error instanceof Error ? error.message : 'unknown error')
  return alert ? [...findings, await checkAlertOffline(config)] : findings
}
