import { type Command, InvalidArgumentError } from 'commander'
import { isoTime, systemClock } from '../core/clock.ts'
import { parseDuration } from '../core/duration.ts'
import { MAX_MUTE_MS } from '../core/limits.ts'
import { printable } from '../core/printable.ts'
import { OVER } from '../operator/alerts/mutes.ts'
import type { Alert, Alerts } from '../operator/schemas.ts'
import { ask } from './ask.ts'
import type { CliContext, Run } from './context.ts'
import { print, symbolOf } from './print.ts'
import { shortTime } from './reasons.ts'
import { type TenantNames, readTenantNames, withNames } from './tenant-names.ts'
import { hanging } from './wrap.ts'

/** Adds the commands about alerts. */
export function addAlerts(program: Command, contextOf: () => CliContext, run: Run): void {
  const alerts = program
    .command('alerts')
    .alias('alert')
    .description('Show what needs attention now, and mute known problems (docs/alerts.md)')
    .action(() => showAlerts(contextOf()))
  const about = (verb: string, description: string): Command =>
    alerts
      .command(verb)
      .description(description)
      .argument('<alert>', 'name of the alert, as sgw alerts shows it')
      .argument('<subject>', 'what it is about, as sgw alerts shows it beside the name')
  about('mute', 'Stop posting about a firing alert, until it ends or for a given time')
    .option('--for <duration>', 'such as 8h, at most 30d; without it, until the alert ends', untilOf)
    .action((alert: string, subject: string, options: { for?: string }) =>
      run({ method: 'PUT', path: pathOf(alert), body: { subject, until: options.for ?? OVER }, needs: 'server' }),
    )
  about('unmute', 'End the mute of an alert').action((alert: string, subject: string) =>
    run({ method: 'DELETE', path: `${pathOf(alert)}?subject=${encodeURIComponent(subject)}`, needs: 'server' }),
  )
}

const pathOf = (alert: string): string => `/v1/operator/alerts/${encodeURIComponent(alert)}/mute`

/** The end of a duration that begins now. */
function untilOf(text: string): string {
  const ms = parseDuration(text)
  if (ms === null || ms <= 0 || ms > MAX_MUTE_MS)
    throw new InvalidArgumentError('Give a duration such as 8h, at most 30d.')
  return isoTime(systemClock.now() + ms)
}

async function showAlerts(context: CliContext): Promise<void> {
  const answer = (await ask(context, { method: 'GET', path: '/v1/operator/alerts', needs: 'server' })) as Alerts
  if (context.json) return print(context, answer)
  if (answer.alerts.length === 0) return context.stdout('none\n')
  const names = await readTenantNames(context)
  for (const alert of answer.alerts)
    context.stdout(alertLines(context, names, alert, `${alert.alert} ${alert.subject}  `))
}

/** A line about an alert with `name` before its time, and below it what is wrong and what to do. */
export const alertLines = (context: CliContext, names: TenantNames, alert: Alert, name = ''): string => {
  const symbol = symbolOf(context, alert.mutedUntil === undefined ? 'fail' : 'warn')
  const head = `${symbol} ${printable(name)}since ${shortTime(alert.since)}${muteOf(alert)}\n`
  return `${head}${hanging(context, '    ', printable(withNames(names, alert.text)))}`
}

function muteOf({ mutedUntil, mutedBy }: Alert): string {
  if (mutedUntil === undefined) return ''
  const until = mutedUntil === OVER ? 'it is over' : shortTime(mutedUntil)
  return `, muted until ${until} (${mutedBy})`
}
