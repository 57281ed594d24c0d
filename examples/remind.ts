import type { Sgw } from 'sgw/client'

export interface Appointment {
  id: string
  phone: string
  at: Date
}

const DAY_MS = 24 * 3_600_000

/** Schedules the reminder a day ahead; returns its message. Call it as often as you like, for the next 30 days' appointments. */
export async function remind(sgw: Sgw, from: string, { id, phone, at }: Appointment): Promise<string> {
  const time = at.toLocaleString('en-GB', { dateStyle: 'full', timeStyle: 'short', timeZone: 'Europe/Berlin' })
  const body = `Your appointment is on ${time}. Answer C to confirm, or N if you cannot come.`
  const message = { from, to: phone, body, userId: id, sendAt: new Date(at.getTime() - DAY_MS) }
  const { messageId } = await sgw.sms.send(message, { idempotencyKey: `reminder-${id}-${at.getTime()}` })
  return messageId
}

/** The appointment was moved or cancelled. False if the reminder has gone out already. */
export async function forget(sgw: Sgw, messageId: string): Promise<boolean> {
  return sgw.sms.cancel(messageId).then(
    () => true,
    () => false,
  )
}
