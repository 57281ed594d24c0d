import type { ExtensionView, NewExtension, NewNumber, NewQueue } from './control-views.ts'
import type { Extension, ExtensionStatus, ExtensionType, NumberSpec } from './directory.ts'
import type { World } from './world.ts'

/** The control knobs for accounts, extensions and numbers. */
export function extensionKnobs(world: World) {
  const { directory } = world

  function addExtension(spec: NewExtension & { type?: ExtensionType } = {}): ExtensionView {
    const { extensionId, accountId, name, extensionNumber, type, numbers = [] } = spec
    const extension = directory.addExtension({
      ...(extensionId === undefined ? {} : { id: readId(extensionId) }),
      ...(accountId === undefined ? {} : { accountId: readId(accountId) }),
      ...(name === undefined ? {} : { name }),
      ...(extensionNumber === undefined ? {} : { extensionNumber }),
      ...(type === undefined ? {} : { type }),
    })
    for (const number of numbers) directory.addNumber(extension, numberSpec(number))
    return extensionView(extension)
  }

  function addQueue({ recipients, numbers = [], ...spec }: NewQueue): ExtensionView {
    const readers = recipients.map((id) => findExtension(world, id))
    const { extensionId } = addExtension({ ...spec, type: 'Department' })
    const queue = findExtension(world, extensionId)
    for (const number of numbers) for (const reader of readers) directory.addNumber(reader, numberSpec(number), queue)
    return extensionView(queue)
  }

  function addNumber({ extensionId, ownerId, ...spec }: NewNumber): ExtensionView {
    const extension = findExtension(world, extensionId)
    directory.addNumber(extension, spec, ownerId === undefined ? extension : findExtension(world, ownerId))
    return extensionView(extension)
  }

  function removeNumber({ extensionId, phoneNumber }: { extensionId: string; phoneNumber: string }): ExtensionView {
    const extension = findExtension(world, extensionId)
    extension.numbers = extension.numbers.filter((number) => number.phoneNumber !== phoneNumber)
    return extensionView(extension)
  }

  function setExtensionStatus({
    extensionId,
    status,
  }: {
    extensionId: string
    status: ExtensionStatus
  }): ExtensionView {
    const extension = findExtension(world, extensionId)
    extension.status = status
    return extensionView(extension)
  }

  return {
    addAccount: ({ accountId }: { accountId?: string } = {}) => ({
      accountId: String(directory.addAccount(accountId === undefined ? undefined : readId(accountId))),
    }),
    addExtension: (spec?: NewExtension) => addExtension(spec),
    addQueue,
    addNumber,
    removeNumber,
    setExtensionStatus,
    extensions: () => directory.extensions().map(extensionView),
  }
}

export function findExtension(world: World, extensionId: string): Extension {
  const extension = world.directory.extension(Number(extensionId))
  if (extension === undefined) throw new Error(`Unknown extension ${extensionId}`)
  return extension
}

const numberSpec = (number: string | NumberSpec): NumberSpec =>
  typeof number === 'string' ? { phoneNumber: number } : number

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
