import type {
  ConsentSpec,
  ExtensionView,
  NewConsent,
  NewExtension,
  NewQueue,
  ProviderChanges,
} from '../core/provider-changes.ts'
import {
  AccountShape,
  checked,
  ConsentShape,
  ExtensionShape,
  ListedNumberShape,
  NumberShape,
  QueueShape,
  StatusShape,
} from './arguments.ts'
import type { Extension, ExtensionSpec } from './directory.ts'
import type { World } from './world.ts'

/** The control knobs for accounts, extensions and numbers. */
export interface ExtensionKnobs extends Pick<
  ProviderChanges,
  'addQueue' | 'addNumber' | 'removeNumber' | 'setExtensionStatus' | 'addConsent'
> {
  /** Default id: the next free one. */
  addAccount(account?: { accountId?: string }): { accountId: string }
  addExtension(extension?: NewExtension): ExtensionView
  extensions(): ExtensionView[]
}

export const extensionKnobs = (world: World): ExtensionKnobs => ({
  addAccount(account = {}) {
    const { accountId } = checked(AccountShape, account)
    return { accountId: String(world.directory.addAccount(accountId === undefined ? undefined : readId(accountId))) }
  },
  addExtension(added = {}) {
    const { numbers = [], ...spec } = checked(ExtensionShape, added)
    const extension = create(world, spec, 'User')
    for (const number of numbers) world.directory.addNumber(extension, number)
    return extensionView(extension)
  },
  addQueue: (added) => addQueue(world, added),
  addNumber(added) {
    const { extensionId, ownerId, ...spec } = checked(NumberShape, added)
    const extension = findExtension(world, extensionId)
    refuseListed(extension, spec.phoneNumber)
    world.directory.addNumber(extension, spec, ownerId === undefined ? extension : findExtension(world, ownerId))
    return extensionView(extension)
  },
  removeNumber(listed) {
    const { extensionId, phoneNumber } = checked(ListedNumberShape, listed)
    const extension = findExtension(world, extensionId)
    if (!lists(extension, phoneNumber)) throw new Error(`Extension ${extensionId} has no number ${phoneNumber}`)
    extension.numbers = extension.numbers.filter((number) => number.phoneNumber !== phoneNumber)
    return extensionView(extension)
  },
  setExtensionStatus(change) {
    const { extensionId, status } = checked(StatusShape, change)
    const extension = findExtension(world, extensionId)
    extension.status = status
    return extensionView(extension)
  },
  addConsent: (added) => addConsent(world, added),
  extensions: () => world.directory.extensions().map(extensionView),
})

function create({ directory }: World, spec: Omit<NewExtension, 'numbers'>, type: Extension['type']): Extension {
  const { extensionId, accountId, ...more } = spec
  const ids: Pick<ExtensionSpec, 'id' | 'accountId'> = {
    ...(extensionId === undefined ? {} : { id: readId(extensionId) }),
    ...(accountId === undefined ? {} : { accountId: readId(accountId) }),
  }
  return directory.addExtension({ ...more, ...ids, type })
}

function addQueue(world: World, added: NewQueue): ExtensionView {
  const { recipients, numbers = [], ...spec } = checked(QueueShape, added)
  const readers = new Set(recipients.map((id) => findExtension(world, id)))
  for (const { phoneNumber } of numbers) for (const reader of readers) refuseListed(reader, phoneNumber)
  const queue = create(world, spec, 'Department')
  for (const number of numbers) for (const reader of readers) world.directory.addNumber(reader, number, queue)
  return extensionView(queue)
}

function addConsent(world: World, added: NewConsent): ConsentSpec & { modifiedAt: number } {
  const { accountId, modifiedAt, coverage = 'PhoneNumber', ...more } = checked(ConsentShape, added)
  if (coverage !== 'CampaignType' && more.from === undefined)
    throw new Error(`Cannot use from: it is missing, and a consent for ${coverage} needs a number of yours`)
  const owner = more.from === undefined ? undefined : world.directory.smsOwnerOf(more.from)
  const account = accountId === undefined ? owner?.accountId : readId(accountId)
  const spec: ConsentSpec = { optStatus: 'OptOut', source: 'Api', ...more, coverage }
  const first = world.directory.extensions()[0]?.accountId ?? 0
  const { accountId: _, ...consent } = world.consents.add(account ?? first, spec, modifiedAt)
  return consent
}

export function findExtension(world: World, extensionId: string): Extension {
  const extension = world.directory.extension(Number(extensionId))
  if (extension === undefined) throw new Error(`Unknown extension ${extensionId}`)
  return extension
}

const lists = ({ numbers }: Extension, wanted: string): boolean =>
  numbers.some(({ phoneNumber }) => phoneNumber === wanted)

function refuseListed(extension: Extension, phoneNumber: string): void {
  if (lists(extension, phoneNumber))
    throw new Error(`Extension ${extension.id} has ${phoneNumber} already: remove it first`)
}

function readId(text: string): number {
  const id = Number(text)
  if (!Number.isSafeInteger(id) || id <= 0) throw new Error(`Cannot use the id ${text}: it must be a positive integer`)
  return id
}

const extensionView = (extension: Extension): ExtensionView => ({
  extensionId: String(extension.id),
  accountId: String(extension.accountId),
  extensionNumber: extension.extensionNumber,
  name: extension.name,
  type: extension.type,
  status: extension.status,
  numbers: extension.numbers.map(({ phoneNumber, features }) => ({ phoneNumber, features })),
})
