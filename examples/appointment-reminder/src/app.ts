import { Elysia, t } from 'elysia'
import { SgwError, type WebhookBody, verifyWebhook } from 'sgw/client'
import type { Appointments } from './appointments.ts'
import type { Reminders } from './reminders.ts'

export interface AppOptions {
  appointments: Appointments
  reminders: Reminders
  /** The `webhookSecret` of our app at the gateway. */
  webhookSecret: string
}

const NewAppointment = t.Object({
  phone: t.String({ pattern: '^\\+[1-9]\\d{8,14}$' }),
  at: t.String({ format: 'date-time' }),
})

/** `POST /appointments`, `GET /appointments/ID`, and `POST /webhook` for the gateway. */
export const createApp = ({ appointments, reminders, webhookSecret }: AppOptions) =>
  new Elysia()
    .post(
      '/appointments',
      async ({ body, status }) => {
        const appointment = appointments.add(body.phone, new Date(body.at))
        await reminders.schedule(appointment)
        return status(201, appointments.get(appointment.id))
      },
      { body: NewAppointment },
    )
    .get('/appointments/:id', ({ params, status }) => appointments.get(params.id) ?? status(404, 'Not found'))
    .post(
      '/webhook',
      async ({ request, status }) => {
        const event = await signedEvent(request, webhookSecret)
        if (event === null) return status(401, 'Wrong signature')
        await reminders.handle(event)
        return 'ok'
      },
      // The signature covers the bytes as they came.
      { parse: 'none' },
    )

/** The event of a webhook; null if the gateway has not signed it. */
async function signedEvent(request: Request, secret: string): Promise<WebhookBody | null> {
  try {
    return await verifyWebhook({ body: await request.text(), headers: request.headers, secret })
  } catch (error) {
    if (error instanceof SgwError) return null
    throw error
  }
}
