import type { Config } from '../../core/config.ts'
import { type Lease, isFresh } from '../../core/lease.ts'
import { encryptionKeyPath } from '../../db/data-folder.ts'
import { faultOfFile, filesOpenToOthers } from '../../db/database-file.ts'
import { extensions } from '../../db/schema/connections.ts'
import { readInactiveTenants } from '../../messages/gateway-state/extensions.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { describeBlocked } from '../blocked-addresses.ts'
import { judge } from '../conditions/judge.ts'
import { checkStandbys } from '../lease/doctor-lease.ts'
import { checkAuthorization, checkRedirectAddress, checkSubscriptions } from './connections.ts'
import { checkConsents } from './consents.ts'
import { Fault } from './fault.ts'
import { type Finding, findingOf } from './finding.ts'
import { describeKeyUsage, readKeyUsage } from './key-usage.ts'
import { checkLimits, checkNumbers } from './numbers.ts'
import { checkDestinations } from './refused-destinations.ts'
import {
  checkBackup,
  checkClock,
  checkConfiguration,
  checkCredentials,
  checkDisk,
  checkProvider,
  checkPublicUrl,
} from './surroundings.ts'
import { withConditions } from './with-conditions.ts'

/** Returns what is fine. Errors: a `Fault` that says what is not, unless it is a condition. */
type Probe = [check: string, run: () => Promise<string> | string]

/**
 * Checks everything that a gateway needs; each failure names its fix. The probes find what has not been noticed yet, or what only the doctor
 * reports. They may cause conditions, so conditions are judged afterward.
 */
export async function diagnose(gateway: Gateway): Promise<Finding[]> {
  const probed: Finding[] = []
  for (const [check, run] of probesOf(gateway)) probed.push(await findingOf(check, run))
  const judgements = await judge(gateway)
  return withConditions(probed, judgements, gateway.alerts.mutes)
}

const probesOf = (gateway: Gateway): Probe[] => [
  ['configuration', () => checkConfiguration(gateway)],
  ['server', () => checkServer(gateway)],
  ['database', () => checkDatabase(gateway)],
  ['disk', () => checkDisk(gateway.config)],
  ['encryption keys', () => checkKeys(gateway)],
  ['provider', () => checkProvider(gateway)],
  ['provider credentials', () => askProvider(gateway, checkCredentials)],
  ['clock', () => checkClock(gateway)],
  ['extensions', () => checkExtensions(gateway)],
  ['numbers', () => checkNumbers(gateway)],
  ['limits', () => checkLimits(gateway)],
  ['authorization', () => checkAuthorization(gateway)],
  ['redirect address', () => askProvider(gateway, checkRedirectAddress)],
  ['subscriptions', () => checkSubscriptions(gateway)],
  ['consents', () => checkConsents(gateway)],
  ['public address', () => checkPublicUrl(gateway)],
  ['blocked addresses', () => checkBlocked(gateway)],
  ['queue', () => ''],
  ['webhooks', () => checkDestinations(gateway)],
  ['backup', () => checkBackup(gateway)],
  ...(gateway.lease === null ? [] : leaseProbes(gateway, gateway.lease)),
  ['alerts', () => checkAlertSetting(gateway.config)],
]

const leaseProbes = (gateway: Gateway, lease: Lease): Probe[] => [
  ['lease', () => lease.testStorage()],
  ['standby', () => checkStandbys(gateway)],
]

/** A call to the provider waits until the lease is renewed, perhaps forever. */
function askProvider(gateway: Gateway, check: (gateway: Gateway) => Promise<string>): Promise<string> {
  if (isFresh(gateway.lease)) return check(gateway)
  throw new Fault('not checked: the provider is not called while the lease is not renewed', 'warn')
}

function checkServer({ lifecycle }: Gateway): string {
  if (!lifecycle.working) throw new Fault('not running: the checks below read its database', 'warn')
  return 'running'
}

async function checkDatabase({ config, database }: Gateway): Promise<string> {
  const { path, url } = config.database
  if ((await database.storage?.probeIfFailing()) === true) return 'it fails'
  const fault = path === null ? null : faultOfFile(path)
  if (fault !== null) throw new Fault(`the next start will be refused. ${fault}`)
  const verdict = await database.reader.checkFile()
  if (verdict !== 'ok') throw new Fault(`damaged (${verdict}): see docs/runbooks.md`)
  const open = path === null ? [] : filesOpenToOthers(path)
  if (open.length > 0)
    throw new Fault(`other users can read ${open.join(', ')}, which contain people's messages: chmod 600 them`, 'warn')
  return `${path ?? url}: ok`
}

/** Checks that ENCRYPTION_KEYS has the keys of the stored values, and counts values that use older keys. */
async function checkKeys(gateway: Gateway): Promise<string> {
  if ((await gateway.lostKeys.check()) !== null) return 'one is missing'
  if (gateway.config.production && gateway.config.encryptionKeys === null)
    throw new Fault(`kept in ${encryptionKeyPath(gateway.config)}: copy it to another machine`, 'warn')
  const older = describeKeyUsage(await readKeyUsage(gateway))
  return `newest key ${gateway.secrets.keyId}; ${older === '' ? 'nothing needs an older one' : `an older one is still needed: ${older}`}`
}

async function checkExtensions(gateway: Gateway): Promise<string> {
  const inactive = await readInactiveTenants(gateway.database)
  const rows = (await gateway.database.orm.select().from(extensions)).filter(({ tenantId }) => !inactive.has(tenantId))
  if (rows.length > 0) return `${rows.length} active`
  return `none connected yet: ${howToConnect(gateway)}`
}

/** If RC_JWT is set and connects nothing, the advice says so: another command would fail for the same reason. */
function howToConnect({ config, configuredJwt }: Gateway): string {
  const { production, hasPublicUrl, provider } = config
  if ('fix' in configuredJwt.state)
    return `${provider.jwtVariable} has connected none; the check "authorization" says why`
  if (!production || hasPublicUrl) return 'sgw extensions connect --tenant TENANT prints a link'
  return `${provider.jwt === null ? 'set RC_JWT, or ' : ''}run sgw extensions connect-jwt --tenant TENANT --jwt-file FILE`
}

async function checkBlocked(gateway: Gateway): Promise<string> {
  const blocked = await describeBlocked(gateway)
  if (blocked !== null) throw new Fault(blocked, 'warn')
  return 'none is blocked'
}

/** Says whether alerts reach anybody. */
const checkAlertSetting = ({ alertUrl }: Config): string =>
  alertUrl === null
    ? 'off: set ALERT_URL to tell a chat or pager what needs attention (docs/alerts.md); sgw status also shows it'
    : 'posted to ALERT_URL; sgw doctor --alert posts a test'
