import { type Sgw, SgwError, type WebhookBody } from 'sgw/client'
import type { Appointment, Appointments } from './appointments.ts'

const DAY_MS = 24 * 60 * 60 * 1000

export interface RemindersOptions {
  sgw: Sgw
  appointments: Appointments
  /** Our number, E.164. */
  from: string
}

/** Reminds of appointments by SMS a day ahead, and understands the answers. */
export class Reminders {
  constructor(private readonly options: RemindersOptions) {}

  /**
   * Hands the reminder to the gateway, which keeps it until a day before the appointment. The key makes a repetition harmless.
   * If the gateway does not answer, `follow` repeats it when it is back.
   */
  async schedule({ id, phone, at }: Appointment): Promise<void> {
    const { sgw, appointments, from } = this.options
    const body = `Your appointment is on ${at.slice(0, 10)} at ${at.slice(11, 16)} UTC. Answer C to confirm, or STOP for no more texts.`
    const message = { from, to: phone, body, sendAt: new Date(Date.parse(at) - DAY_MS) }
    try {
      const { messageId } = await sgw.sms.send(message, { idempotencyKey: `reminder-${id}` })
      appointments.setMessage(id, messageId)
    } catch (error) {
      if (!(error instanceof SgwError)) throw error
      if (error.status === 400) appointments.setFailed(id)
    }
  }

  /** Call it before the first appointment. Returns the cursor after which nothing that happens will be missed. */
  async prepare(): Promise<string> {
    const { sgw, appointments } = this.options
    if (appointments.cursor !== undefined) return appointments.cursor
    // The gateway holds back what would go to a patient who has texted STOP.
    await sgw.optOuts.setPolicy('block')
    const cursor = await sgw.eventCursor()
    appointments.cursor = cursor
    return cursor
  }

  /**
   * Follows the gateway's events until `signal` aborts. It continues after the last handled event, so nothing is missed
   * while this app is down. An event may come twice, which changes nothing.
   */
  async follow(signal: AbortSignal): Promise<void> {
    const { sgw, appointments } = this.options
    const events = sgw.events({
      signal,
      after: await this.prepare(),
      onState: ({ online }) => {
        if (online) for (const appointment of appointments.withoutReminder()) void this.schedule(appointment)
      },
    })
    for await (const event of events) {
      if (event.type === 'gap') await this.#readAnswers()
      else await this.handle(event)
      if (events.cursor !== undefined) appointments.cursor = events.cursor
    }
  }

  /** Handles an event, from `follow` or from a webhook. */
  async handle(event: WebhookBody): Promise<void> {
    const { appointments } = this.options
    if (event.type === 'sms_inbound') return this.#answer(event)
    if (event.type === 'opt_out') return appointments.setStopped(event.contact, event.optedOut)
    if (event.type !== 'sms_status') return
    if (event.status === 'sent') appointments.setOutcome(event.messageId, 'reminded')
    if (event.status === 'failed')
      appointments.setOutcome(event.messageId, event.error === 'Recipient opted out' ? 'stopped' : 'failed')
  }

  /** `C` confirms the sender's next appointment. The gateway and the provider take care of STOP. */
  async #answer({ messageId, from, to, body }: Pick<Answer, 'messageId' | 'from' | 'to' | 'body'>): Promise<void> {
    const { sgw, appointments } = this.options
    if (!/^\s*c(onfirm)?[.!]?\s*$/i.test(body) || appointments.confirm(messageId, from) === null) return
    const thanks = { from: to, to: from, body: 'Thank you, your appointment is confirmed.' }
    await sgw.sms.send(thanks, { idempotencyKey: `thanks-${messageId}` })
  }

  /** After a gap in the events: the answers are still in the list of messages. */
  async #readAnswers(): Promise<void> {
    const startDate = new Date(Date.now() - 7 * DAY_MS)
    for await (const message of this.options.sgw.sms.list({ direction: 'inbound', startDate }))
      await this.#answer(message)
  }
}

type Answer = Extract<WebhookBody, { type: 'sms_inbound' }>
