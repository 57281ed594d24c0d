/**
 * Accounts, their extensions, and the phone numbers that each extension sees.
 * Ids are counted from fixed starts, so a restarted simulator with the same seed has the same extensions.
 */
export interface Directory {
  addAccount(id?: number): number
  addExtension(spec: ExtensionSpec): Extension
  addNumber(extension: Extension, spec: NumberSpec): PhoneNumber
  extension(id: number): Extension | undefined
  /** In the order in which they were added. */
  extensions(): Extension[]
  /** Extensions that list the number, in any role. */
  holdersOf(phoneNumber: string): Extension[]
  /** The one extension that may send SMS from the number. */
  smsOwnerOf(phoneNumber: string): Extension | undefined
}

export type ExtensionStatus = 'Enabled' | 'Disabled' | 'Deleted'

export interface Extension {
  id: number
  accountId: number
  extensionNumber: string
  name: string
  status: ExtensionStatus
  numbers: PhoneNumber[]
}

export interface PhoneNumber {
  id: number
  phoneNumber: string
  features: string[]
  usageType: string
  type: string
  paymentType: string
  status: string
}

export interface ExtensionSpec {
  id?: number
  accountId?: number
  name?: string
  extensionNumber?: string
}

export interface NumberSpec {
  phoneNumber: string
  /** Default: a number for SMS. Pass `[]` for none. */
  features?: string[]
  usageType?: string
  type?: string
  paymentType?: string
  status?: string
}

const FIRST_ACCOUNT_ID = 809_640_016
const FIRST_EXTENSION_ID = 629_890_016
const FIRST_NUMBER_ID = 299_282_016
const ID_STEP = 1000

const SMS_FEATURES = ['SmsSender', 'CallerId', 'MmsSender']

export const canSendSms = (number: PhoneNumber): boolean => number.features.includes('SmsSender')

export function createDirectory(): Directory {
  const accounts = new Set<number>()
  const extensions = new Map<number, Extension>()
  let numbersMade = 0

  function freeId(first: number, taken: { has(id: number): boolean }): number {
    let id = first
    while (taken.has(id)) id += ID_STEP
    return id
  }

  function addAccount(id = freeId(FIRST_ACCOUNT_ID, accounts)): number {
    accounts.add(id)
    return id
  }

  function addExtension(spec: ExtensionSpec): Extension {
    const id = spec.id ?? freeId(FIRST_EXTENSION_ID, extensions)
    if (extensions.has(id)) throw new Error(`Extension ${id} exists already`)
    const accountId = addAccount(spec.accountId ?? accounts.values().next().value)
    const extensionNumber = spec.extensionNumber ?? String(101 + extensions.size)
    const name = spec.name ?? `Extension ${extensionNumber}`
    const extension: Extension = { id, accountId, extensionNumber, name, status: 'Enabled', numbers: [] }
    extensions.set(id, extension)
    return extension
  }

  function addNumber(extension: Extension, spec: NumberSpec): PhoneNumber {
    const number: PhoneNumber = {
      id: FIRST_NUMBER_ID + ID_STEP * numbersMade++,
      phoneNumber: spec.phoneNumber,
      features: spec.features ?? [...SMS_FEATURES],
      usageType: spec.usageType ?? 'DirectNumber',
      type: spec.type ?? 'VoiceFax',
      paymentType: spec.paymentType ?? 'Local',
      status: spec.status ?? 'Normal',
    }
    extension.numbers.push(number)
    return number
  }

  const holdersOf = (phoneNumber: string): Extension[] =>
    [...extensions.values()].filter((one) => one.numbers.some((number) => number.phoneNumber === phoneNumber))

  const smsOwnerOf = (phoneNumber: string): Extension | undefined =>
    holdersOf(phoneNumber).find((one) =>
      one.numbers.some((number) => number.phoneNumber === phoneNumber && canSendSms(number)),
    )

  return {
    addAccount,
    addExtension,
    addNumber,
    extension: (id) => extensions.get(id),
    extensions: () => [...extensions.values()],
    holdersOf,
    smsOwnerOf,
  }
}
