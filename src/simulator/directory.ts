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

/**
 * Accounts, their extensions, and the phone numbers that each extension sees.
 * Ids are counted from fixed starts, so a restarted simulator with the same seed has the same extensions.
 */
export class Directory {
  readonly #accounts = new Set<number>()
  readonly #extensions = new Map<number, Extension>()
  #numbersMade = 0

  addAccount(id = freeId(FIRST_ACCOUNT_ID, this.#accounts)): number {
    this.#accounts.add(id)
    return id
  }

  addExtension(spec: ExtensionSpec): Extension {
    const id = spec.id ?? freeId(FIRST_EXTENSION_ID, this.#extensions)
    if (this.#extensions.has(id)) throw new Error(`Extension ${id} exists already`)
    const accountId = this.addAccount(spec.accountId ?? this.#accounts.values().next().value)
    const extensionNumber = spec.extensionNumber ?? String(101 + this.#extensions.size)
    const name = spec.name ?? `Extension ${extensionNumber}`
    const extension: Extension = { id, accountId, extensionNumber, name, status: 'Enabled', numbers: [] }
    this.#extensions.set(id, extension)
    return extension
  }

  addNumber(extension: Extension, spec: NumberSpec): void {
    extension.numbers.push({
      id: FIRST_NUMBER_ID + ID_STEP * this.#numbersMade++,
      phoneNumber: spec.phoneNumber,
      features: spec.features ?? [...SMS_FEATURES],
      usageType: spec.usageType ?? 'DirectNumber',
      type: spec.type ?? 'VoiceFax',
      paymentType: spec.paymentType ?? 'Local',
      status: spec.status ?? 'Normal',
    })
  }

  extension(id: number): Extension | undefined {
    return this.#extensions.get(id)
  }

  /** In the order in which they were added. */
  extensions(): Extension[] {
    return [...this.#extensions.values()]
  }

  /** Extensions that list the number, in any role. */
  holdersOf(phoneNumber: string): Extension[] {
    return this.extensions().filter((one) => one.numbers.some((number) => number.phoneNumber === phoneNumber))
  }

  /** The one extension that may send SMS from the number. */
  smsOwnerOf(phoneNumber: string): Extension | undefined {
    return this.extensions().find((one) =>
      one.numbers.some((number) => number.phoneNumber === phoneNumber && canSendSms(number)),
    )
  }
}

function freeId(first: number, taken: { has(id: number): boolean }): number {
  let id = first
  while (taken.has(id)) id += ID_STEP
  return id
}
