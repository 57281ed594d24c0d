import type { Config } from '../../core/config.ts'
import { sizeOf } from '../../db/data-folder.ts'
import { isWithoutItsLog, traceOfDatabase } from '../../db/lost-database.ts'
import { checkBackupSetting, checkConfiguration, checkDisk, checkProvider, checkPublicUrl } from './surroundings.ts'
import { Fault } from './fault.ts'
import { type Finding, finding, findingOf } from './finding.ts'

type DoctorCheck = [name: string, run: () => Promise<string> | string]

/** The checks that need neither a server nor a database. `why` says why the database could not be opened. */
export async function diagnoseOffline(config: Config, why: string): Promise<Finding[]> {
  const checks: DoctorCheck[] = [
    ['database', () => reportDatabase(config, why)],
    ['disk', () => checkDisk(config)],
    ['provider', () => checkProvider({ config })],
    ['public address', () => checkPublicUrl({ config })],
    ['backup', () => checkBackupSetting(config, false)],
  ]
  const findings = [
    await findingOf('configuration', () => checkConfiguration({ config })),
    finding('server', 'warn', withoutServer(config)),
  ]
  for (const [check, run] of checks) findings.push(await findingOf(check, run))
  return findings
}

/** The path may be misspelled, and a running server may have another database. */
function withoutServer({ database: { path, url } }: Config): string {
  const head = `no server answers for ${path ?? url}`
  return path !== null && isMissing(path)
    ? `${head}, and there is no database: if your server is running, this DATABASE_URL is not the server's; if it was never started, sgw start starts it and creates one`
    : `${head}: sgw start starts one`
}

/** A missing database is only a warning: before the first start it is normal. */
function reportDatabase({ database: { path } }: Config, why: string): never {
  const trace = path !== null && isMissing(path) ? traceOfDatabase(path) : null
  if (trace !== null) throw new Fault(trace)
  if (path !== null && isMissing(path))
    throw new Fault(
      `there is none at ${path}: the first start creates it; if a server has started, check that DATABASE_URL is the server's`,
      'warn',
    )
  throw new Fault(why)
}

function isMissing(path: string): boolean {
  try {
    return sizeOf(path) === 0 || isWithoutItsLog(path)
  } catch {
    return false
  }
}
