import type { Command } from 'commander'
import { printable } from '../core/printable.ts'
import type { ConnectedByJwt } from '../operator/schemas.ts'
import type { StatusReport } from '../operator/status.ts'
import { ask } from './ask.ts'
import { confirm } from './confirm.ts'
import { type CliContext, CliError, type Run } from './context.ts'
import { HEALTH, type Health } from './extension-health.ts'
import { type Owner, addOwner, requireOwner } from './filters.ts'
import { withHint } from './hints.ts'
import { print, sayNext } from './print.ts'
import { unconnectedJwtOf } from './status.ts'
import { secretOf } from './standard-input.ts'
import { table } from './table.ts'
import { readTenantNames } from './tenant-names.ts'
import { type ActingApp, actingApp, actingApps, askOwner } from './tenant-scope.ts'
import { hanging } from './wrap.ts'

/** Adds the commands for the provider's extensions. */
export function addExtensions(program: Command, contextOf: () => CliContext, run: Run): void {
  const extensions = program
    .command('extensions')
    .alias('extension')
    .description('Connect extensions, whose numbers send and receive')
  extensions
    .command('list')
    .description('List the connected extensions of all tenants, their numbers, and what is wrong with them')
    .option('--tenant <tenant>', 'only this tenant')
    .action(({ tenant }: { tenant?: string }) => list(contextOf(), tenant))
  const addLink = (kind: 'connect' | 'invite', description: string): Command =>
    addOwner(extensions.command(kind).description(description)).action(async (owner: Owner, command: Command) => {
      requireOwner(command, owner)
      const context = contextOf()
      const appId = await actingApp(context, owner)
      await run({ method: 'POST', path: '/v1/rc/links', body: { kind }, appId })
      sayNext(context, 'Once it is connected, sgw extensions list shows it')
    })
  addLink('connect', 'Print a link to connect an extension yourself; it works once, for five minutes')
  extensions
    .command('connect-jwt')
    .description('Connect an extension by its JWT, without a browser or public address, or replace its JWT')
    .requiredOption('--tenant <tenant>', 'the tenant (sgw tenant list)')
    .requiredOption('--jwt-file <file>', 'the file with the JWT; - for standard input')
    .action(async ({ tenant, jwtFile }: { tenant: string; jwtFile: string }) => {
      const jwt = await secretOf(contextOf(), jwtFile)
      await run(
        { method: 'POST', path: '/v1/operator/extensions', body: { tenantId: tenant, jwt }, needs: 'server' },
        { view: ({ fixes, ...answer }: ConnectedByJwt) => (fixes.length === 0 ? answer : { ...answer, fixes }) },
      )
    })
  addLink('invite', "Print a link to send to an extension's owner; it works once, for INVITE_TOKEN_TTL (7 days)")
  extensions
    .command('disconnect')
    .description('Disconnect an extension: delete its tokens, and fail the messages waiting for its numbers')
    .argument('<extension>', 'extension id (sgw extensions list)')
    .requiredOption('--tenant <tenant>', 'its tenant, even a suspended one (sgw tenant list)')
    .option('--yes', 'do not ask')
    .action((extensionId: string, options: DisconnectOptions) => disconnect(contextOf(), extensionId, options))
}

const canLink = ({ config: { production, hasPublicUrl } }: CliContext): boolean => !production || hasPublicUrl

interface DisconnectOptions {
  tenant: string
  yes?: boolean
}

async function disconnect(
  context: CliContext,
  extensionId: string,
  { tenant, yes = false }: DisconnectOptions,
): Promise<void> {
  const { answer, app } = await askOwner(context, { method: 'GET', path: HEALTH }, tenant)
  const found = (answer as { extensions: Health[] }).extensions.find(
    (extension) => extension.extensionId === extensionId,
  )
  // Checked before the question, so that nobody confirms something impossible.
  if (found === undefined) throw new CliError(withHint('extensionNotFound'))
  const question = `${extensionId} (${found.phoneNumbers.join(', ') || 'no numbers'}) will no longer send or receive for ${tenant}. Continue?`
  await confirm(context, yes, question)
  const path = `/v1/rc/extensions/${encodeURIComponent(extensionId)}`
  print(context, await ask(context, { method: 'DELETE', path, appId: app.appId, needs: 'server' }))
}

async function list(context: CliContext, tenant: string | undefined): Promise<void> {
  const found: ListedExtension[] = []
  const apps = await actingApps(context, tenant)
  for (const app of apps) found.push(...(await extensionsOf(context, app)))
  if (context.json) return print(context, { extensions: found })
  const { unconnectedJwt } = (await ask(context, { method: 'GET', path: '/v1/operator/status' })) as StatusReport
  if (unconnectedJwt !== null) context.stdout(unconnectedJwtOf(context, await readTenantNames(context), unconnectedJwt))
  // The same command would be refused again.
  if (found.length === 0 && unconnectedJwt !== null) return context.stdout('none\n')
  if (found.length === 0)
    return context.stdout(
      canLink(context)
        ? 'none: sgw extensions connect --tenant TENANT prints a link that connects one\n'
        : 'none: sgw extensions connect-jwt --tenant TENANT --jwt-file FILE connects one\n',
    )
  const ofSeveral = apps.length > 1
  const rows = found.map((extension) => rowOf(extension, ofSeveral))
  context.stdout(table(context, rows))
  for (const extension of found) sayTroubles(context, extension, ofSeveral)
}

/** What is wrong with the extension, and which of its numbers cannot send if that does not say so. */
function sayTroubles(
  context: CliContext,
  { extensionId, tenantName, reason, fix, cannotSend = [] }: ListedExtension,
  ofSeveral: boolean,
): void {
  const which = ofSeveral ? `${extensionId} of ${tenantName}` : extensionId
  const say = (mark: string, text: string): void =>
    context.stdout(hanging(context, mark, printable(`${which}: ${text}`)))
  if (reason !== null) say('! ', `${reason}${fix === null ? '' : `. ${fix}`}`)
  for (const one of cannotSend.filter(({ phoneNumber }) => reason?.includes(phoneNumber) !== true))
    say('- ', `${one.phoneNumber} cannot send: ${one.reason}`)
}

interface ListedExtension extends Health {
  tenantId: string
  tenantName: string
}

/** For a person: its health. For a program: what the list's endpoint returns, with its name and number. */
async function extensionsOf(
  context: CliContext,
  { appId, tenantId, tenantName }: ActingApp,
): Promise<ListedExtension[]> {
  const get = async <T>(path: string): Promise<T[]> =>
    ((await ask(context, { method: 'GET', path, appId })) as { extensions: T[] }).extensions
  const health = (await get<Health>(HEALTH)).map((extension) => ({ ...extension, tenantId, tenantName }))
  if (!context.json) return health
  const about = new Map(health.map((extension) => [extension.extensionId, extension]))
  return (await get<Health>('/v1/rc/extensions')).map((extension) => {
    const { name = null, connectedBy = 'link' } = about.get(extension.extensionId) ?? {}
    return { ...extension, tenantId, tenantName, name, connectedBy }
  })
}

/** If there are several tenants, shows their names beside their ids. */
const rowOf = (extension: ListedExtension, ofSeveral: boolean): Record<string, string> => ({
  extensionId: extension.extensionId,
  tenantId: extension.tenantId,
  ...(ofSeveral ? { tenant: extension.tenantName } : {}),
  status: extension.status,
  by: wayOf(extension),
  numbers: extension.phoneNumbers.map((number) => markedNumber(extension, number)).join(' '),
  name: extension.name ?? '-',
})

/** `+15555550100`, or `+15555550150:threads` and `:elsewhere` where texts to it go to Shared Inbox. */
function markedNumber({ numbers = [] }: Health, number: string): string {
  const { inbound = 'here' } = numbers.find(({ phoneNumber }) => phoneNumber === number) ?? {}
  return inbound === 'here' ? number : `${number}:${inbound}`
}

/** `link`, `jwt until 2026-12-11`, or `jwt, no end`. A revoked extension has neither. */
function wayOf({ connectedBy, jwtExpiresAt, status }: Health): string {
  if (connectedBy === undefined) return '-'
  if (typeof jwtExpiresAt === 'string') return `${connectedBy} until ${jwtExpiresAt.slice(0, 10)}`
  return jwtExpiresAt === null && status !== 'revoked' ? `${connectedBy}, no end` : connectedBy
}
