import type { Clock } from '../core/clock.ts'
import type { ConsentSpec } from '../core/provider-changes.ts'

/**
 * The keywords that the platform documents (RingCentral guide, "Handling Opt-in / Opt-out requests"). They are deliberately not the gateway's
 * own: a test of both together would not find a mistake that both share.
 */
const OPT_OUT = ['STOP', 'UNSUBSCRIBE', 'QUIT', 'CANCEL', 'END']
const OPT_IN = ['START', 'SUBSCRIBE', 'RESUME', 'CONTINUE', 'UNSTOP']

/** What happens to an accepted message to a contact that has opted out. */
export const OPTED_OUT = { messageStatus: 'SendingFailed', deliveryErrorCode: 'SMS-RC-413' } as const

/** A record of a consent (RingCentral API reference, "SMS Consents"). */
export interface Consent extends ConsentSpec {
  accountId: number
  modifiedAt: number
}

/** The numbers of a message. `target` marks those of the platform that were texted, unlike the other people of a group. */
interface Between {
  from: { phoneNumber?: string }
  to: readonly { phoneNumber?: string; target?: boolean }[]
}

/** Who has opted out of what, or in again. The platform obeys keywords, whatever its client does. */
export class Consents {
  /** The latest record of each coverage, by whom and what it covers; the one that changed last is the last. */
  readonly #records = new Map<string, Consent>()
  /** Called when a record has changed. */
  changed: (accountId: number) => void = () => undefined

  constructor(private readonly clock: Clock) {}

  add(accountId: number, spec: ConsentSpec, modifiedAt = this.clock.now()): Consent {
    const consent = { ...spec, accountId, modifiedAt }
    const key = keyOf(consent)
    this.#records.delete(key)
    this.#records.set(key, consent)
    this.changed(accountId)
    return consent
  }

  /** A keyword makes a consent of the recipient for each number that it was sent to. */
  noteInbound(accountId: number, { from, to }: Between, text: string | null): void {
    // How the platform treats punctuation is not documented: only the bare word counts.
    const word = (text ?? '').trim().toUpperCase()
    const optStatus = OPT_OUT.includes(word) ? 'OptOut' : OPT_IN.includes(word) ? 'OptIn' : null
    if (optStatus === null || from.phoneNumber === undefined) return
    const common = { to: from.phoneNumber, optStatus, coverage: 'PhoneNumber', source: 'Recipient' } as const
    for (const { target, phoneNumber } of to)
      if (target === true && phoneNumber !== undefined) this.add(accountId, { ...common, from: phoneNumber })
  }

  blocks(accountId: number, { from, to }: Between): boolean {
    return this.#records.size > 0 && to.every((contact) => this.#isOut(accountId, from, contact))
  }

  /** Newest first. */
  of(accountId: number): Consent[] {
    return [...this.#records.values()].filter((one) => one.accountId === accountId).toReversed()
  }

  /** The later record counts. Which campaign a message belongs to is not simulated. */
  #isOut(accountId: number, { phoneNumber: from = '' }: Between['from'], contact: Between['from']): boolean {
    const common = { accountId, from, to: contact.phoneNumber ?? '' }
    const own = this.#records.get(keyOf({ ...common, coverage: 'PhoneNumber' }))
    const all = this.#records.get(keyOf({ ...common, coverage: 'Account' }))
    const latest = (all?.modifiedAt ?? -Infinity) > (own?.modifiedAt ?? -Infinity) ? all : own
    return latest?.optStatus === 'OptOut'
  }
}

type Key = Pick<Consent, 'accountId' | 'to' | 'coverage' | 'from' | 'campaignType'>

function keyOf({ accountId, to, coverage, from, campaignType }: Key): string {
  const covered = { PhoneNumber: from, Account: '', CampaignType: campaignType }[coverage]
  return `${accountId} ${coverage} ${covered} ${to}`
}
