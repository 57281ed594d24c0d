import { type Command, InvalidArgumentError, Option } from 'commander'
import {
  CAMPAIGN_TYPES,
  CONSENT_SOURCES,
  COVERAGES,
  type NewNumber,
  OPT_STATUSES,
  PROVIDER_STATUSES,
  type ProviderChangeName,
  type ProviderChanges,
  SOCKET_FAULTS,
} from '../core/provider-changes.ts'
import { CONSENTS_ANSWERS, GRANTS, NUMBER_FORMS, SHARED_OWNER_ANSWERS } from '../core/provider-settings.ts'
import type { Run } from './context.ts'
import { collected, countOf } from './filters.ts'

/** Adds the commands that change the simulated provider. Their options are the members of the simulator's control interface. */
export function addProviderChanges(simulate: Command, run: Run): void {
  const change: Change = (name, argument) =>
    run({ method: 'POST', path: '/v1/operator/simulator/change', body: { name, argument }, needs: 'server' })
  addConfigure(simulate, change)
  addQueue(simulate, change)
  addNumbers(simulate, change)
  simulate
    .command('extension-status')
    .description('Set the status of an extension; any status but Enabled makes the provider refuse every call')
    .argument('<extension>', EXTENSION)
    .argument('<status>', PROVIDER_STATUSES.join(', '))
    .action((extensionId: string, status: string) => change('setExtensionStatus', { extensionId, status }))
  addJwts(simulate, change)
  addConsent(simulate, change)
  simulate
    .command('sockets')
    .description('Cause a fault on the sockets that carry events, and print how many open ones it affected')
    .argument('<fault>', SOCKET_FAULTS.join(', '))
    .option('--extension <extension>', `only of this ${EXTENSION}`)
    .option('--times <count>', 'how many future connections, tickets, subscriptions or events; 1 by default', timesOf)
    .option('--delay <ms>', 'how late a delayed event arrives, in milliseconds; 1000 by default', timesOf)
    .action((kind: string, { extension, times, delay }: { extension?: string; times?: number; delay?: number }) =>
      change('faultSockets', { kind, extensionId: extension, calls: times, ms: delay }),
    )
}

function addConsent(simulate: Command, change: Change): void {
  simulate
    .command('add-consent')
    .description(
      'Opt a contact out, or in again, as if at RingCentral or the carrier, for one number or the whole account',
    )
    .argument('<contact>', "the contact's number, E.164")
    .option('--from <number>', 'your number, E.164')
    .addOption(new Option('--status <status>', 'OptOut by default').choices(OPT_STATUSES))
    .addOption(new Option('--coverage <coverage>', 'what it is for; PhoneNumber by default').choices(COVERAGES))
    .addOption(new Option('--campaign-type <type>', 'with the coverage CampaignType').choices(CAMPAIGN_TYPES))
    .addOption(new Option('--source <source>', 'where it came from; Api by default').choices(CONSENT_SOURCES))
    .action((to: string, { status, ...same }: AddedConsent) =>
      change('addConsent', { ...same, to, optStatus: status, accountId: undefined, modifiedAt: undefined }),
    )
}

interface AddedConsent extends Omit<Argument<'addConsent'>, 'to' | 'optStatus' | 'accountId' | 'modifiedAt'> {
  status?: string
}

function addJwts(simulate: Command, change: Change): void {
  simulate
    .command('add-jwt')
    .description('Create a JWT for a user, as the developer console does, and print it')
    .requiredOption('--extension <extension>', EXTENSION)
    .option('--client-id <app>', 'the only app that may use it; any app by default')
    .option('--expires-in <seconds>', 'its lifetime; unlimited by default', timesOf)
    .action((options: { extension: string; clientId?: string; expiresIn?: number }) =>
      change('addJwt', {
        extensionId: options.extension,
        clientId: options.clientId,
        expiresInSeconds: options.expiresIn,
      }),
    )
  simulate
    .command('remove-jwt')
    .description('Delete a JWT; sessions that it opened continue')
    .argument('<jwt>', 'the JWT, as add-jwt printed it')
    .action((jwt: string) => change('removeJwt', { jwt }))
}

const timesOf = (text: string): number => Number(countOf(text))

type Change = <Name extends ProviderChangeName>(name: Name, argument: Argument<Name>) => Promise<void>
type Argument<Name extends ProviderChangeName> = Typed<Parameters<ProviderChanges[Name]>[0]>

/** An argument as a person types it: any text for a word, and undefined, which JSON omits. The simulator checks it. */
type Typed<T> = T extends string
  ? string
  : T extends readonly (infer Item)[]
    ? Typed<Item>[]
    : T extends object
      ? { [Name in keyof T]: Typed<T[Name]> | undefined }
      : T

const EXTENSION = 'extension id (sgw extensions list)'

function addConfigure(simulate: Command, change: Change): void {
  simulate
    .command('configure')
    .description('Change how the provider behaves until the server ends, and print all settings')
    .option('--number-forms <forms>', `how records write numbers, in turn: ${NUMBER_FORMS.join(', ')}`, listOf)
    .addOption(
      new Option('--shared-owner <answer>', "a queue's messages in lists with owner=Any").choices(SHARED_OWNER_ANSWERS),
    )
    .option('--queue-events <on|off>', 'whether users get events of texts to their queues', switchOf)
    .option('--message-threads <on|off>', 'whether the account has the feature MessageThreads', switchOf)
    .option('--read-threads <on|off>', 'whether the app may read message threads', switchOf)
    .addOption(new Option('--consents <answer>', "whether the account's consents are shown").choices(CONSENTS_ANSWERS))
    .option('--grants <grants>', `what the app may log in with: ${GRANTS.join(', ')}`, listOf)
    .option('--issue-refresh-tokens <on|off>', 'whether logins get refresh tokens', switchOf)
    .option('--session-seconds <seconds>', 'how long after its login a session ends; none for never', secondsOf)
    .option('--session-idle-seconds <seconds>', 'how long a session may be idle; none for unlimited', secondsOf)
    .action(({ sessionSeconds, sessionIdleSeconds, ...same }: Configured) =>
      change('configure', {
        ...same,
        sessionSeconds: nullIfNone(sessionSeconds),
        sessionIdleSeconds: nullIfNone(sessionIdleSeconds),
      }),
    )
}

/** The given options, by the names of the settings. */
interface Configured extends Omit<Argument<'configure'>, Lifetime> {
  sessionSeconds?: number | typeof NONE
  sessionIdleSeconds?: number | typeof NONE
}
type Lifetime = 'sessionSeconds' | 'sessionIdleSeconds'

function addQueue(simulate: Command, change: Change): void {
  simulate
    .command('add-queue')
    .description('Add a call queue whose recipients text from its numbers, and print its id')
    .requiredOption('--number <number>', 'a number of the queue, E.164; may be repeated', collected)
    .requiredOption('--recipient <extension>', `${EXTENSION}; may be repeated`, collected)
    .option('--name <name>', 'its name')
    .action(({ number, recipient, name }: { number: string[]; recipient: string[]; name?: string }) =>
      change('addQueue', { numbers: number, recipients: recipient, name }),
    )
}

function addNumbers(simulate: Command, change: Change): void {
  simulate
    .command('add-number')
    .description('Add a number to an extension')
    .requiredOption('--extension <extension>', EXTENSION)
    .requiredOption('--number <number>', 'the number, E.164')
    .option('--owner <queue>', 'the id of the call queue that owns it; the extension by default')
    .option('--campaign <status>', 'status of its 10DLC campaign, such as Submitted; none for no campaign')
    .option('--label <label>', 'its label')
    .option('--primary', "it is the account's main number")
    .option('--status <status>', 'its status, such as Pending; Normal by default')
    .action(({ extension, number, owner, campaign, label, primary, status }: AddedNumber) =>
      change('addNumber', {
        extensionId: extension,
        phoneNumber: number,
        ownerId: owner,
        campaign: campaignOf(campaign),
        label,
        primary,
        status,
      }),
    )
  simulate
    .command('remove-number')
    .description('Remove a number from an extension')
    .requiredOption('--extension <extension>', EXTENSION)
    .requiredOption('--number <number>', 'the number, E.164')
    .action(({ extension, number }: { extension: string; number: string }) =>
      change('removeNumber', { extensionId: extension, phoneNumber: number }),
    )
}

interface AddedNumber {
  extension: string
  number: string
  owner?: string
  campaign?: string
  label?: string
  primary?: boolean
  status?: string
}

const listOf = (text: string): string[] => text.split(',')

function switchOf(text: string): boolean {
  if (text !== 'on' && text !== 'off') throw new InvalidArgumentError('Use on or off.')
  return text === 'on'
}

/** Commander turns null into an empty text, so `none` stays until the end. */
const NONE = 'none'

const secondsOf = (text: string): number | typeof NONE => (text === NONE ? NONE : Number(countOf(text)))

const nullIfNone = <T>(value: T | typeof NONE): T | null => (value === NONE ? null : value)

function campaignOf(status: string | undefined): NewNumber['campaign'] {
  if (status === undefined) return undefined
  return status === NONE ? null : { status, tier: 'LowVolume' }
}
