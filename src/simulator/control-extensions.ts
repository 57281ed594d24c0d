import type { ExtensionView, NewExtension } from './control-views.ts'
import type { Extension, ExtensionStatus, NumberSpec } from './directory.ts'
import type { World } from './world.ts'

/** The control knobs for accounts, extensions and numbers. */
export function extensionKnobs(world: World) {
  const { directory } = world

  function addExtension(spec: NewExtension = {}): ExtensionView {
    const { extensionId, accountId, name, extensionNumber, numbers = [] } = spec
    const extension = directory.addExtension({
      ...(extensionId === undefined ? {} : { id: readId(extensionId) }),
      ...(accountId === undefined ? {} : { accountId: readId(accountId) }),
      ...(name === undefined ? {} : { name }),
      ...(extensionNumber === undefined ? {} : { extensionNumber }),
    })
    for (const number of numbers) {
      directory.addNumber(extension, typeof number === 'string' ? { phoneNumber: number } : number)
    }
    return extensionView(extension)
  }

  function addNumber({ extensionId, ...spec }: NumberSpec & { extensionId: string }): ExtensionView {
    const extension = findExtension(world, extensionId)
    directory.addNumber(extension, spec)
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
    addExtension,
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
  status: extension.status,
  numbers: extension.numbers.map(({ phoneNumber, features }) => ({ phoneNumber, features })),
})
