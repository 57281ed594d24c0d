import type { Config } from '../core/config.ts'
import { differingVariables, isConfiguration } from '../operator/doctor/environment.ts'
import { type Finding, finding } from '../operator/doctor/finding.ts'
import { ask, askServer, resultOf } from './ask.ts'
import { type CliContext, CliError } from './context.ts'
import { printFindings } from './print.ts'
import { readTenantNames, withNames } from './tenant-names.ts'

/** Runs `sgw doctor`. With `alert` it also posts a test to `ALERT_URL`. Exits with 1 if a check fails. */
export async function diagnose(context: CliContext, alert: boolean): Promise<void> {
  const findings = await findAll(context, alert)
  printFindings(context, context.json ? findings : await named(context, findings))
  if (findings.some(({ ok }) => !ok)) throw new CliError('')
}

/** People know a tenant by its name. */
async function named(context: CliContext, findings: Finding[]): Promise<Finding[]> {
  if (!findings.some(({ detail }) => detail.includes('tenant_'))) return findings
  const names = await readTenantNames({ ...context, problems: [] }).catch(() => new Map<string, string>())
  return findings.map((found) => ({ ...found, detail: withNames(names, found.detail) }))
}

/** Here, a bad environment is a finding, not a reason to stop. */
async function findAll(context: CliContext, alert: boolean): Promise<Finding[]> {
  const { problems, config } = context
  const asking = { ...context, problems: [] }
  const differing = await differingFrom(asking, problems)
  if (differing === null && problems.length > 0) return [...failuresOf(problems), ...warningsOf(config.warnings)]
  const findings = await findBy(asking, alert)
  if (differing === null) return findings
  // A separate shell configures no gateway, so there is nothing to check: it only asks.
  if (!isConfiguration(config.variables)) return findings
  const told = findings.map(({ detail }) => detail).join(' ')
  const warnings = config.warnings.filter((warning) => !told.includes(warning))
  return [...failuresOf(problems), ...warningsOf(warnings), ...differenceOf(differing, problems), ...findings]
}

/** The variables in which the running server's environment differs from this one; null if no server runs, or if the server cannot say. */
async function differingFrom(context: CliContext, problems: readonly string[]): Promise<string[] | null> {
  if (problems.some((problem) => problem.startsWith('DATABASE_URL'))) return null
  const request = { method: 'GET', path: '/v1/operator/environment' } as const
  const response = await askServer(context, request).catch(() => null)
  if (response === null) return null
  // A server that is still starting, or an older one, cannot say.
  if (!response.ok) return []
  const { variables } = (await resultOf(response)) as Pick<Config, 'variables'>
  return differingVariables(variables, context.config.variables)
}

const failuresOf = (problems: readonly string[]): Finding[] =>
  problems.map((detail) => finding('configuration', 'fail', detail))

const warningsOf = (warnings: readonly string[]): Finding[] =>
  warnings.map((detail) => finding('configuration', 'warn', detail))

/** Says which of the two environments the other findings are about. */
function differenceOf(differing: readonly string[], problems: readonly string[]): Finding[] {
  if (differing.length === 0) return []
  const next = problems.length === 0 ? 'restart it to use the new values' : 'correct the above before you restart it'
  return [
    finding(
      'environment',
      'warn',
      `the checks below are about the running server, which was started with a different environment than this command (.env and shell): ${differing.join(', ')} ${differing.length === 1 ? 'differs' : 'differ'}; ${next}`,
    ),
  ]
}

async function findBy(context: CliContext, alert: boolean): Promise<Finding[]> {
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
