import {
  checked,
  ExtensionShape,
  type ListedNumber,
  ListedNumberShape,
  type NewExtension,
  type NewNumber,
  type NewQueue,
  NumberShape,
  QueueShape,
  type StatusChange,
  StatusShape,
} from './arguments.ts'
import type { ExtensionView } from './control-views.ts'
import type { Extension, ExtensionSpec } from './directory.ts'
import type { World } from './world.ts'

/** The control knobs for accounts, extensions and numbers. */
export function extensionKnobs(world: World) {
  const { directory } = world

  function addExtension(added: NewExtension = {}): ExtensionView {
    const { numbers = [], ...spec } = checked(ExtensionShape, added)
    const extension = create(world, spec, 'User')
    for (const number of numbers) directory.addNumber(extension, number)
    return extensionView(extension)
  }

  function addNumber(added: NewNumber): ExtensionView {
    const { extensionId, ownerId, ...spec } = checked(NumberShape, added)
    const extension = findExtension(world, extensionId)
    refuseListed(extension, spec.phoneNumber)
    directory.addNumber(extension, spec, ownerId === undefined ? extension : findExtension(world, ownerId))
    return extensionView(extension)
  }

  function removeNumber(listed: ListedNumber): ExtensionView {
    const { extensionId, phoneNumber } = checked(ListedNumberShape, listed)
    const extension = findExtension(world, extensionId)
    if (!lists(extension, phoneNumber)) throw new Error(`Extension ${extensionId} has no number ${phoneNumber}`)
    extension.numbers = extension.numbers.filter((number) => number.phoneNumber !== phoneNumber)
    return extensionView(extension)
  }

  function setExtensionStatus(change: StatusChange): ExtensionView {
    const { extensionId, status } = checked(StatusShape, change)
    const extension = findExtension(world, extensionId)
    extension.status = status
    return extensionView(extension)
  }

  return {
    addAccount: ({ accountId }: { accountId?: string } = {}) => ({
      accountId: String(directory.addAccount(accountId === undefined ? undefined : readId(accountId))),
    }),
    addExtension,
    addQueue: (added: NewQueue) => addQueue(world, added),
    addNumber,
    removeNumber,
    setExtensionStatus,
    extensions: () => directory.extensions().map(extensionView),
  }
}

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
