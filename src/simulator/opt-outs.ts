/**
 * The keywords that the platform documents (RingCentral guide, "Handling Opt-in / Opt-out requests"). On purpose they are not the
 * gateway's own: a test of both together would not find a mistake that both share.
 */
const OPT_OUT = ['STOP', 'UNSUBSCRIBE', 'QUIT', 'CANCEL', 'END']
const OPT_IN = ['START', 'SUBSCRIBE', 'RESUME', 'CONTINUE', 'UNSTOP']

/** What becomes of an accepted message to a contact that has opted out. */
export const OPTED_OUT = { messageStatus: 'SendingFailed', deliveryErrorCode: 'SMS-RC-413' } as const

/** The numbers of a message. `target` marks those of the platform that were texted, unlike the other people of a group. */
interface Between {
  from: { phoneNumber?: string }
  to: readonly { phoneNumber?: string; target?: boolean }[]
}

/** The contacts that have texted STOP. The platform obeys keywords by itself, whatever its client does. */
export class OptOuts {
  /** Pairs of a number and the contact that has texted it. */
  readonly #pairs = new Set<string>()

  noteInbound({ from, to }: Between, text: string | null): void {
    // How the platform treats punctuation is not documented: only the bare word counts.
    const word = (text ?? '').trim().toUpperCase()
    const pairs = to.filter(({ target }) => target === true).map((number) => pairOf(number, from))
    if (OPT_OUT.includes(word)) for (const pair of pairs) this.#pairs.add(pair)
    if (OPT_IN.includes(word)) for (const pair of pairs) this.#pairs.delete(pair)
  }

  blocks({ from, to }: Between): boolean {
    return to.every((contact) => this.#pairs.has(pairOf(from, contact)))
  }
}

const pairOf = (number: Between['from'], contact: Between['from']): string =>
  `${number.phoneNumber} ${contact.phoneNumber}`
