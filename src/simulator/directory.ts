import type { ExtensionView, NumberSpec } from '../core/provider-changes.ts'

export interface Extension extends Pick<ExtensionView, 'extensionNumber' | 'name' | 'type' | 'status'> {
  id: number
  accountId: number
  /** The numbers that it lists. A queue lists none: its recipients do. */
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
  /** The extension whose message store has the number's messages: the one that lists it, or a call queue. */
  ownerId: number
  label: string | null
  /** Whether it is the account's main number. */
  primary: boolean
  /** The 10DLC campaign; null for none. */
  campaign: Campaign | null
}

interface Campaign {
  status: string
  tier: string
}

export interface ExtensionSpec {
  id?: number
  accountId?: number
  name?: string
  extensionNumber?: string
  type?: Extension['type']
}

const FIRST_ACCOUNT_ID = 809_640_016
const FIRST_EXTENSION_ID = 629_890_016
const FIRST_NUMBER_ID = 299_282_016
const ID_STEP = 1000

const SMS_FEATURES = ['SmsSender', 'CallerId', 'MmsSender']
/** Toll-free numbers never send MMS (RingCentral developer guide, "SMS requirements"). */
const TOLL_FREE_FEATURES = ['SmsSender', 'CallerId']
const TOLL_FREE = /^\+18(00|33|44|55|66|77|88)/
const CONFIRMED: Campaign = { status: 'Confirmed', tier: 'LowVolume' }

/** Only numbers of an approved campaign may send (RingCentral developer guide, "SMS requirements"). */
const localFeatures = (campaign: Campaign | null): string[] =>
  campaign?.status === CONFIRMED.status ? SMS_FEATURES : ['CallerId']

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
    const { type = 'User' } = spec
    const extension: Extension = { id, accountId, extensionNumber, name, type, status: 'Enabled', numbers: [] }
    this.#extensions.set(id, extension)
    return extension
  }

  /** Lists the number for the extension. `owner` is the call queue that it belongs to, if it is not the extension's own. */
  addNumber(extension: Extension, spec: NumberSpec, owner: Extension = extension): void {
    const tollFree = TOLL_FREE.test(spec.phoneNumber)
    const campaign = spec.campaign === undefined ? (tollFree ? null : CONFIRMED) : spec.campaign
    extension.numbers.push({
      id: FIRST_NUMBER_ID + ID_STEP * this.#numbersMade++,
      phoneNumber: spec.phoneNumber,
      features: spec.features ?? [...(tollFree ? TOLL_FREE_FEATURES : localFeatures(campaign))],
      usageType: spec.usageType ?? 'DirectNumber',
      type: spec.type ?? 'VoiceFax',
      paymentType: spec.paymentType ?? (tollFree ? 'TollFree' : 'Local'),
      status: spec.status ?? 'Normal',
      ownerId: owner.id,
      label: spec.label ?? null,
      primary: spec.primary ?? false,
      campaign,
    })
  }

  extension(id: number): Extension | undefined {
    return this.#extensions.get(id)
  }

  /** In the order in which they were added. */
  extensions(): Extension[] {
    return [...this.#extensions.values()]
  }

  /** Extensions with people: those that can log in. */
  users(): Extension[] {
    return this.extensions().filter((one) => one.type === 'User')
  }

  /** The users who may read this store: its own user, or those who may send from a number of the queue. */
  readersOf(storeId: number): Extension[] {
    return this.users().filter((user) => mayRead(user, storeId))
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

export const mayRead = (user: Extension, storeId: number): boolean =>
  user.id === storeId || user.numbers.some((number) => number.ownerId === storeId && canSendSms(number))

function freeId(first: number, taken: { has(id: number): boolean }): number {
  let id = first
  while (taken.has(id)) id += ID_STEP
  return id
}
