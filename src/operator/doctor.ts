import { existsSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { describeLost } from '../auth/lost-keys.ts'
import { isoTime } from '../core/clock.ts'
import type { Config } from '../core/config.ts'
import { type Lease, isFresh } from '../core/lease.ts'
import { DAY_MS } from '../core/limits.ts'
import { dataFolder, encryptionKeyPath } from '../db/data-folder.ts'
import { faultOfFile, filesOpenToOthers } from '../db/database-file.ts'
import { extensions } from '../db/schema/connections.ts'
import { readInactiveTenants } from '../messages/gateway-state/extensions.ts'
import type { Gateway } from '../messages/gateway.ts'
import { type Trouble, troublesOf } from '../messages/upkeep/extension-trouble.ts'
import { checkAlertSetting } from './alerts.ts'
import { checkLimits, checkNumbers } from './doctor-numbers.ts'
import { checkAuthorization, checkRedirectAddress, checkSubscriptions } from './doctor-connections.ts'
import {
  checkBackup,
  checkClock,
  checkConfiguration,
  checkCredentials,
  checkProvider,
  checkPublicUrl,
} from './doctor-surroundings.ts'
import { Fault } from './fault.ts'
import { type Finding, findingOf } from './finding.ts'
import { describeKeyUsage, readKeyUsage } from './key-usage.ts'
import { checkStandbys } from './lease/doctor-lease.ts'
import type { ExtensionRow } from '../provider/directory.ts'
import { commandToConnect } from '../provider/refresh-policy.ts'
import { checkDestinations } from './refused-destinations.ts'

const MIN_FREE_MIB = 100

type DoctorCheck = [name: string, run: () => Promise<string> | string]

/** Checks everything that a gateway needs. Each failure names its fix. */
export async function diagnose(gateway: Gateway): Promise<Finding[]> {
  const checks: DoctorCheck[] = [
    ['configuration', () => checkConfiguration(gateway)],
    ['server', () => checkServer(gateway)],
    ['database', () => checkDatabase(gateway)],
    ['disk', () => checkDisk(gateway)],
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
    ['public address', () => checkPublicUrl(gateway)],
    ['webhooks', () => checkDestinations(gateway)],
    ['backup', () => checkBackup(gateway)],
    ...(gateway.lease === null ? [] : leaseChecks(gateway, gateway.lease)),
    ['alerts', () => checkAlertSetting(gateway.config)],
  ]
  const findings: Finding[] = []
  for (const [check, run] of checks) findings.push(await findingOf(check, run))
  return findings
}

const leaseChecks = (gateway: Gateway, lease: Lease): DoctorCheck[] => [
  ['lease', () => lease.testStorage()],
  ['standby', () => checkStandbys(gateway)],
]

/** A call of the provider waits for a lease that is renewed, perhaps for ever. */
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
  if ((await database.storage?.probeIfFailing()) === true) throw new Fault(database.storage?.problem ?? 'it fails')
  const fault = path === null ? null : faultOfFile(path)
  if (fault !== null) throw new Fault(`the next start will be refused. ${fault}`)
  const verdict = await database.reader.checkFile()
  if (verdict !== 'ok') throw new Fault(`damaged (${verdict}): see docs/damaged-database.md`)
  const open = path === null ? [] : filesOpenToOthers(path)
  if (open.length > 0)
    throw new Fault(`other users can read ${open.join(', ')}, which hold people's messages: chmod 600 them`, 'warn')
  return `${path ?? url}: ok`
}

export function checkDisk({ config }: Pick<Gateway, 'config'>): string {
  const { path } = config.database
  if (path === null) return 'not on this machine'
  const { bavail, bsize } = statfsSync(nearestFolder(dataFolder(path)))
  const freeMib = Math.floor((bavail * bsize) / 1_048_576)
  if (freeMib < MIN_FREE_MIB)
    throw new Fault(`${freeMib} MiB free: make room, or the gateway will soon accept no messages`)
  return `${freeMib} MiB free`
}

/** The first start creates the folder, so before that its disk is that of the nearest one there is. */
function nearestFolder(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestFolder(dirname(path))
}

/** Checks that ENCRYPTION_KEYS has the keys of the stored values, and counts what uses older keys. */
async function checkKeys(gateway: Gateway): Promise<string> {
  const lost = await gateway.lostKeys.check()
  if (lost !== null) throw new Fault(describeLost(lost))
  if (gateway.config.production && gateway.config.encryptionKeys === null)
    throw new Fault(`kept in ${encryptionKeyPath(gateway.config)}: copy it to another machine`, 'warn')
  const older = describeKeyUsage(await readKeyUsage(gateway))
  return `newest key ${gateway.secrets.keyId}; ${older === '' ? 'nothing needs an older one' : `an older one is still needed: ${older}`}`
}

/**
 * A failed refresh and a pause end by themselves and are only worth a warning, with the cause of the last one. A revoked extension
 * needs a person, so it is a failure, unless its tenant has left.
 */
async function checkExtensions(gateway: Gateway): Promise<string> {
  const inactive = await readInactiveTenants(gateway.database)
  const rows = (await gateway.database.orm.select().from(extensions)).filter(({ tenantId }) => !inactive.has(tenantId))
  const unread = rows.filter(({ numbersReadAt }) => numbersReadAt === null)
  for (const tenantId of new Set(unread.map((row) => row.tenantId))) await gateway.directory.tenant(tenantId)
  const broken = rows.flatMap((row) =>
    troublesOf(gateway, row, null)
      .filter(isOwn)
      .map((trouble) => ({ row, trouble })),
  )
  if (broken.length > 0) {
    const list = broken.map(({ row, trouble }) => describeTrouble(row, trouble))
    throw new Fault(list.join(' '), broken.some(({ row }) => row.status === 'revoked') ? 'fail' : 'warn')
  }
  const ending = rows.filter((row) => (row.jwtExpiresAt ?? Infinity) - gateway.clock.now() < JWT_WARNING_MS)
  if (ending.length > 0) throw new Fault(ending.map(describeEnd).join(' '), 'warn')
  return rows.length === 0 ? `none connected yet: ${howToConnect(gateway.config)}` : `${rows.length} active`
}

/** An RC_JWT that is set and connects nothing has a line of its own under `authorization`. */
function howToConnect({ production, hasPublicUrl, provider }: Config): string {
  if (!production || hasPublicUrl) return 'sgw extensions connect --tenant TENANT prints a link'
  return `${provider.jwt === null ? 'set RC_JWT, or ' : ''}run sgw extensions connect-jwt --tenant TENANT --jwt-file FILE`
}

/** A person needs some days to make another JWT. */
const JWT_WARNING_MS = 14 * DAY_MS

const describeEnd = ({ extensionId, tenantId, jwt, jwtExpiresAt }: ExtensionRow): string =>
  `The JWT of ${extensionId} ends on ${isoTime(jwtExpiresAt ?? 0)}: make another one in the developer console, and connect it before (${commandToConnect({ tenantId, jwt })}).`

/** Refusals and subscriptions have checks of their own. */
const OWN: ReadonlySet<Trouble['kind']> = new Set(['revoked', 'refresh', 'unknown_numbers', 'paused'])
const isOwn = ({ kind }: Trouble): boolean => OWN.has(kind)

const describeTrouble = ({ extensionId, status, jwt }: ExtensionRow, { kind, reason, fix }: Trouble): string => {
  if (kind === 'revoked' && jwt !== null) return `${extensionId} is ${status}. ${reason}. ${fix}`
  return kind === 'revoked' || kind === 'refresh'
    ? `${extensionId} is ${status}: ${fix}`
    : `${extensionId} is ${status}, but does not work. ${reason}. ${fix}`
}
