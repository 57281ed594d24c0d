import type { Config } from '../core/config.ts'
import { sizeOf } from '../data-folder.ts'
import { checkAlertOffline } from './doctor-alert.ts'
import { checkProvider, checkPublicUrl } from './doctor-surroundings.ts'
import { checkDisk } from './doctor.ts'
import { Fault } from './fault.ts'
import { type Finding, finding, findingOf } from './finding.ts'

type Check = [name: string, look: () => Promise<string> | string]

/** What can be told where no server answers and the database cannot be opened. `why`: what was in the way. */
export async function diagnoseOffline(config: Config, why: string, alert: boolean): Promise<Finding[]> {
  const checks: Check[] = [
    ['database', () => refuse(config, why)],
    ['disk', () => checkDisk({ config })],
    ['provider', () => checkProvider({ config })],
    ['public address', () => checkPublicUrl({ config })],
    ...(alert ? [['alert', () => checkAlertOffline(config)] satisfies Check] : []),
  ]
  const findings = [
    finding('configuration', 'ok', config.production ? 'production' : 'development'),
    finding('server', 'warn', 'no server answers'),
  ]
  for (const [check, look] of checks) findings.push(await findingOf(check, look))
  return findings
}

/** Before the first start there is nothing to mend. */
function refuse({ database: { path } }: Config, why: string): never {
  if (path !== null && isMissing(path))
    throw new Fault(`there is none at ${path}: the first start makes it; or is DATABASE_URL not the server's?`, 'warn')
  throw new Fault(why)
}

function isMissing(path: string): boolean {
  try {
    return sizeOf(path) === 0
  } catch {
    return false
  }
}
